#pragma once

#include <memory>
#include <string>
#include <vector>

#include "runner/config/config.hpp"
#include "runner/inputs/input_cache.hpp"

/// The values of keys that depend on other keys or on files.
namespace corun::inline runner {

struct ResolvedConfig {
  Config config;
  std::vector<std::string> notes;  ///< on values that nobody gave; not part of the results
};

/// Fills in what policies need (estimates.duration, profiling.mode), the models of model files, and the catalogue's name
/// of a GPU type; a key that was given keeps its value. What depends on the jobs and on files of the cluster, Experiment
/// fills in: the policies of the default comparison, and the nodes of virtual clusters. InputError as
/// with_models_of_files(). `cache` must not be null.
ResolvedConfig resolve(Config config, const std::string& data_directory,
                       const std::shared_ptr<InputCache>& cache);

}  // namespace corun::inline runner
