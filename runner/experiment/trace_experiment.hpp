#pragma once

#include <string>
#include <vector>

#include "runner/config/config_overrides.hpp"

/// A job trace in the place of a configuration.
namespace corun::inline runner {

/// Whether CONFIG of `corun replay` is a job trace: a file of a known format; or of an unknown one whose name
/// ends in .csv, .csv.gz or .csv.zst, or with --columns in anything but .yaml.
bool is_job_trace(const std::string& path, bool with_columns = false);

/// The overrides for the trace, typed at `place`: workload.source (csv with --columns, else the format found) and
/// workload.path. InputError for a file of two formats.
std::vector<Override> trace_overrides(const std::string& path, bool with_columns = false,
                                      const std::string& place = "TRACE");

}  // namespace corun::inline runner
