#pragma once

#include <string>
#include <vector>

#include "runner/config/config.hpp"
#include "sim/error.hpp"

/// A job trace in the place of a configuration, and what was given beside it.
namespace corun::inline runner {

/// An option that stands for a key, as an override in the form of --set.
struct KeyOverride {
  std::string flag;  ///< "--gpus"
  std::string text;  ///< "cluster.nodes=4"
};

/// Whether CONFIG of `corun replay` is a job trace: a file of a known format; or of an unknown one whose name
/// ends in .csv, .csv.gz or .csv.zst, or with --columns in anything but .yaml.
bool is_job_trace(const std::string& path, bool with_columns = false);

/// The overrides for the trace: workload.source (csv with --columns, else the format found) and workload.path.
std::vector<KeyOverride> trace_overrides(const std::string& path, bool with_columns = false);

/// An error with the flag that the user gave in the place of an override that the user did not write.
InputError with_flag(const InputError& error, const std::vector<KeyOverride>& overrides);

}  // namespace corun::inline runner
