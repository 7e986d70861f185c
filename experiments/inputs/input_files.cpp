#include "experiments/inputs/input_files.hpp"

#include <algorithm>
#include <filesystem>
#include <system_error>
#include <utility>

#include "sim/base/text.hpp"
#include "sim/error.hpp"

namespace corun {

namespace fs = std::filesystem;

InputFiles::InputFiles(std::string config_directory, std::string data_directory,
                       std::shared_ptr<InputCache> cache)
    : config_directory_(std::move(config_directory)),
      data_directory_(std::move(data_directory)),
      cache_(std::move(cache)) {}

std::string InputFiles::find(const std::string& path, const std::string& place) {
  const fs::path given(path);
  std::vector<fs::path> candidates;
  if (given.is_absolute()) {
    candidates.push_back(given);
  } else {
    candidates.push_back(fs::path(config_directory_) / given);
    if (!data_directory_.empty()) candidates.push_back(fs::path(data_directory_) / given);
  }
  for (const fs::path& candidate : candidates) {
    std::error_code error;
    if (!fs::is_regular_file(candidate, error)) continue;
    const std::string entry = "sha256:" + cache_->sha256(candidate.string()) + " " + path;
    if (std::ranges::find(entries_, entry) == entries_.end()) {
      paths_.push_back(candidate.string());
      entries_.push_back(entry);
    }
    return candidate.string();
  }
  std::string looked;
  for (const fs::path& candidate : candidates) {
    looked += (looked.empty() ? "" : " and ") + candidate.lexically_normal().string();
  }
  throw InputError(place, "no file '" + printable(path) + "' (looked at " + printable(looked, 300) +
                              "); check the path or give --data DIR");
}

void InputFiles::add(const std::string& file) {
  paths_.push_back(file);
  entries_.push_back("sha256:" + cache_->sha256(file) + " " + fs::path(file).filename().string());
}

}  // namespace corun
