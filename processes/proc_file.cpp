#include "processes/proc_file.hpp"

#include <algorithm>
#include <charconv>

#include <fcntl.h>
#include <unistd.h>

namespace corun::inline processes {

ProcFile::ProcFile(const char* path) : file_(open(path, O_RDONLY | O_CLOEXEC)) {}

ProcFile::~ProcFile() {
  if (file_ >= 0) close(file_);
}

std::string_view ProcFile::read() {
  if (text_.empty()) text_.resize(4096);
  std::size_t length = 0;
  for (;;) {
    const ssize_t got =
        pread(file_, text_.data() + length, text_.size() - length, static_cast<off_t>(length));
    if (got <= 0) return {text_.data(), length};
    length += static_cast<std::size_t>(got);
    if (length == text_.size()) text_.resize(2 * text_.size());
  }
}

std::string_view next_word(std::string_view& text) {
  text.remove_prefix(std::min(text.find_first_not_of(" \t\n"), text.size()));
  const std::string_view word = text.substr(0, text.find_first_of(" \t\n"));
  text.remove_prefix(word.size());
  return word;
}

std::string_view next_line(std::string_view& text) {
  const std::string_view line = text.substr(0, text.find('\n'));
  text.remove_prefix(std::min(line.size() + 1, text.size()));
  return line;
}

double next_number(std::string_view& text) {
  const std::string_view word = next_word(text);
  double value = 0;
  std::from_chars(word.data(), word.data() + word.size(), value);
  return value;
}

}  // namespace corun::inline processes
