#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace corun::inline support {

/// A directory for a program's outputs. What was made for it, parents included, is removed at the end of its life if nothing
/// was written there, so that a refused or interrupted run leaves none.
class MadeDirectory {
 public:
  MadeDirectory() = default;
  /// Makes the directory and its parents. std::filesystem::filesystem_error if that is not possible.
  explicit MadeDirectory(const std::string& path);
  MadeDirectory(const MadeDirectory&) = delete;
  MadeDirectory& operator=(const MadeDirectory&) = delete;
  MadeDirectory(MadeDirectory&& other) noexcept;
  MadeDirectory& operator=(MadeDirectory&&) = delete;
  ~MadeDirectory();

 private:
  std::vector<std::filesystem::path> made_;  ///< the deepest first
};

}  // namespace corun::inline support
