#include "support/made_directory.hpp"

#include <system_error>
#include <utility>

namespace corun::inline support {

namespace fs = std::filesystem;

MadeDirectory::MadeDirectory(const std::string& path) {
  fs::path at = fs::absolute(path).lexically_normal();
  if (!at.has_filename()) at = at.parent_path();  // "made/" is "made"
  const fs::path whole = at;
  for (; !fs::exists(at); at = at.parent_path()) made_.push_back(at);
  fs::create_directories(whole);
}

MadeDirectory::MadeDirectory(MadeDirectory&& other) noexcept
    : made_(std::exchange(other.made_, {})) {}

MadeDirectory::~MadeDirectory() {
  std::error_code error;
  for (const fs::path& path : made_) fs::remove(path, error);  // none that has anything in it
}

}  // namespace corun::inline support
