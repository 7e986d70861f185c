#include "runner/inputs/input_files.hpp"

#include <algorithm>
#include <filesystem>
#include <system_error>
#include <utility>

#include "sim/base/text.hpp"
#include "sim/error.hpp"

namespace corun::inline runner {

namespace fs = std::filesystem;

InputFiles::InputFiles(std::string config_directory, std::string data_directory,
                       std::shared_ptr<InputCache> cache)
    : config_directory_(std::move(config_directory)),
      data_directory_(std::move(data_directory)),
      cache_(std::move(cache)) {}

std::vector<std::string> InputFiles::candidates(const std::string& path) const {
  const fs::path given(path);
  if (given.is_absolute()) return {path};
  std::vector<std::string> candidates{(fs::path(config_directory_) / given).string()};
  if (!data_directory_.empty()) {
    candidates.push_back((fs::path(data_directory_) / given).string());
  }
  return candidates;
}

std::optional<std::string> InputFiles::locate(const std::string& path) const {
  for (const std::string& candidate : candidates(path)) {
    std::error_code error;
    if (fs::is_regular_file(candidate, error)) return candidate;
  }
  return std::nullopt;
}

std::string InputFiles::find(const std::string& path, const std::string& place) {
  if (const std::optional<std::string> found = locate(path)) {
    const std::string entry = "sha256:" + cache_->sha256(*found) + " " + path;
    if (std::ranges::find(entries_, entry) == entries_.end()) {
      paths_.push_back(*found);
      entries_.push_back(entry);
    }
    return *found;
  }
  std::string looked;
  for (const std::string& candidate : candidates(path)) {
    looked += (looked.empty() ? "" : " and ") + fs::path(candidate).lexically_normal().string();
  }
  throw InputError(place, "no file '" + printable(path) + "' (looked at " + printable(looked, 300) +
                              "); check the path or give --data DIR");
}

void InputFiles::add(const std::string& file) {
  paths_.push_back(file);
  entries_.push_back("sha256:" + cache_->sha256(file) + " " + fs::path(file).filename().string());
}

}  // namespace corun::inline runner
