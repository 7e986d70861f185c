#pragma once

#include <string_view>

#include "processes/page_memory.hpp"

/// Files of /proc that are read repeatedly. It may be used after a fork (page_memory.hpp).
namespace corun::inline processes {

/// Opened once; the kernel writes its text anew for every read.
class ProcFile {
 public:
  /// A missing file reads as empty.
  explicit ProcFile(const char* path);
  ~ProcFile();
  ProcFile(const ProcFile&) = delete;
  ProcFile& operator=(const ProcFile&) = delete;

  /// The present text, valid until the next read().
  std::string_view read();

 private:
  int file_;
  PageVector<char> text_;
};

/// Takes the first word (up to a blank, tab or end of line) off `text`; empty at the end.
std::string_view next_word(std::string_view& text);
/// Takes the first line off `text`; the result lacks its end.
std::string_view next_line(std::string_view& text);
/// Takes the first word off `text`, as a number; 0 if it is none.
double next_number(std::string_view& text);

}  // namespace corun::inline processes
