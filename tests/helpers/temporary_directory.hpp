#pragma once

#include <string>

/// Files of a test.
namespace corun::test {

/// A directory of the test's own, removed with its contents.
class TemporaryDirectory {
 public:
  TemporaryDirectory();
  ~TemporaryDirectory();
  TemporaryDirectory(const TemporaryDirectory&) = delete;
  TemporaryDirectory& operator=(const TemporaryDirectory&) = delete;
  std::string path(const std::string& name = "") const {
    return name.empty() ? path_ : path_ + "/" + name;
  }
  /// Writes a file and returns its path.
  std::string write(const std::string& name, const std::string& bytes) const;

 private:
  std::string path_;
};

/// All bytes of a file; the test fails if it cannot be read.
std::string read_file(const std::string& path);

}  // namespace corun::test
