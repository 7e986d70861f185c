#pragma once

#include <string>
#include <string_view>

/// Files of /proc that are read again and again.
namespace corun::live {

/// Opened once; the kernel writes its text anew for every read.
class ProcFile {
 public:
  /// Where there is no such file, it reads as empty.
  explicit ProcFile(const char* path);
  ~ProcFile();
  ProcFile(const ProcFile&) = delete;
  ProcFile& operator=(const ProcFile&) = delete;

  /// The text of now, until the next read().
  std::string_view read();

 private:
  int file_;
  std::string text_;
};

/// Takes the first word off `text`, as blanks and ends of lines part them; empty at the end.
std::string_view next_word(std::string_view& text);
/// Takes the first line off `text`, without its end.
std::string_view next_line(std::string_view& text);
/// Takes a number off `text`; 0 where there is none.
double next_number(std::string_view& text);

}  // namespace corun::live
