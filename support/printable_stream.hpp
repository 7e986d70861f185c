#pragma once

#include <ostream>
#include <streambuf>
#include <string>
#include <string_view>

/// All that the program prints holds text of others: names of jobs and files, values of flags, messages
/// of external policies. A terminal would obey control characters in it.
namespace corun::inline support {

/// While it lives, all text that is written to `stream` is printed by printable_lines().
class PrintableStream : private std::streambuf {
 public:
  explicit PrintableStream(std::ostream& stream);
  ~PrintableStream() override;
  PrintableStream(const PrintableStream&) = delete;
  PrintableStream& operator=(const PrintableStream&) = delete;

 private:
  int_type overflow(int_type c) override;
  std::streamsize xsputn(const char* text, std::streamsize bytes) override;
  int sync() override;
  bool print(std::string_view text);

  std::ostream& stream_;
  std::streambuf* target_;
  std::string begun_;  ///< a character of several bytes of which some are still to come
};

}  // namespace corun::inline support
