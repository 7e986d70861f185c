#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "runner/inputs/input_cache.hpp"

/// The input files of one experiment: their paths and checksums.
namespace corun::inline runner {

class InputFiles {
 public:
  /// Relative paths are looked up in `config_directory` first (empty: the working directory), then
  /// in `data_directory` (empty: none). `cache` must not be null.
  InputFiles(std::string config_directory, std::string data_directory,
             std::shared_ptr<InputCache> cache);

  /// The path at which the file exists; the file becomes an input of the experiment. InputError at
  /// `place`, with the paths tried, if there is none.
  std::string find(const std::string& path, const std::string& place);

  /// The path at which the file exists, without making it an input; nothing if there is none.
  std::optional<std::string> locate(const std::string& path) const;

  /// Adds a file that a reader opened by itself, under its file name.
  void add(const std::string& file);

  InputCache& cache() const { return *cache_; }

  /// Paths as found, in order of the calls; a repeated find() adds nothing.
  const std::vector<std::string>& paths() const { return paths_; }
  /// "sha256:... PATH" of each: PATH as given to find(), or the file name for add().
  const std::vector<std::string>& entries() const { return entries_; }

 private:
  std::vector<std::string> candidates(const std::string& path) const;

  std::string config_directory_;
  std::string data_directory_;
  std::shared_ptr<InputCache> cache_;
  std::vector<std::string> paths_;
  std::vector<std::string> entries_;
};

}  // namespace corun::inline runner
