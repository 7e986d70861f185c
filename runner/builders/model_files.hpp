#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "knowledge/model_file.hpp"
#include "runner/builders/cluster_builder.hpp"
#include "runner/config/config.hpp"
#include "runner/inputs/input_cache.hpp"
#include "runner/inputs/input_files.hpp"
#include "traces/trace.hpp"
#include "traces/workload_names.hpp"

/// Model files (knowledge/model_file.hpp) in `belief.initial` and `world.path`, or `prefitted`, the model that comes
/// with corun (knowledge/prefitted_model.hpp). Such a file sets the model (runner/experiment/resolved_config.hpp).
namespace corun::inline runner {

/// Name in the catalogue of the model in the file that the value of a key names; nothing if it names no model file, or
/// one that is not there. InputError as read_model_file().
std::optional<std::string> model_in(const std::string& name, const InputFiles& files);

/// The model file that `name`, the value of `key`, names; it becomes an input. Null if `name` is no
/// model file. The model finds the papers' workloads and those of `keys` by their names. InputError
/// as read_model_file().
std::shared_ptr<const ModelFile> find_model_file(const Config& config, const std::string& key,
                                                 const std::string& name, InputFiles& files,
                                                 WorkloadKeys& keys);

/// InputError at `key` if the model in `file` knows nothing of the jobs of a trace: no feature of them, and none by its
/// name. Else sentences on features that the jobs lack, and on what the model that comes with corun knows of such jobs
/// on the types of the cluster. `name`: the file's, for the messages.
std::vector<std::string> check_features_of_jobs(const Config& config, const std::string& key,
                                                const std::string& name, const ModelFile& file,
                                                const Trace& trace, const Cluster& cluster);

}  // namespace corun::inline runner
