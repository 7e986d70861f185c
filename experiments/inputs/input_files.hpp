#pragma once

#include <memory>
#include <string>
#include <vector>

#include "experiments/inputs/input_cache.hpp"

/// The files of one experiment: where they lie, and what their bytes were when they were read.
namespace corun {

class InputFiles {
 public:
  /// Relative paths are looked up in `config_directory` first (empty: the working directory), then in
  /// `data_directory` (empty: there is none). Checksums and traces come from the cache, which is not
  /// null.
  InputFiles(std::string config_directory, std::string data_directory,
             std::shared_ptr<InputCache> cache);

  /// The path under which the file is there; from then on it is an input of the experiment. InputError
  /// at `place` that names where was looked.
  std::string find(const std::string& path, const std::string& place);

  /// A file that a reader opened by itself, named by its last part.
  void add(const std::string& file);

  InputCache& cache() const { return *cache_; }

  /// Paths as found, in the order of asking. A path that find() is asked for again is not added again.
  const std::vector<std::string>& paths() const { return paths_; }
  /// "sha256:... PATH" of each of them: PATH as find() was given it, of add() the file's name.
  const std::vector<std::string>& entries() const { return entries_; }

 private:
  std::string config_directory_;
  std::string data_directory_;
  std::shared_ptr<InputCache> cache_;
  std::vector<std::string> paths_;
  std::vector<std::string> entries_;
};

}  // namespace corun
