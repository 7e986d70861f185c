#pragma once

#include <iosfwd>
#include <optional>
#include <string>

#include "traces/trace_builder.hpp"
#include "traces/workload_names.hpp"

/// The jobs of the simulators of Pollux (Qiao et al., OSDI 2021) and Sia (Jayaram Subramanya et al., SOSP 2023): what they
/// train, and the GPUs and the batch size to which a user tuned them. Run times are not in the file: they follow from the
/// measurements of their programs (elastic_programs.hpp).
///
/// | column | or | read as |
/// |---|---|---|
/// | `name` | `job` | the job's name |
/// | `time` | `arrival_s` | submit time [s] |
/// | `application` | `model` | the workload: a program |
/// | `num_replicas` | `tuned_gpus` | gang size |
/// | `batch_size` | `tuned_batch_size` | samples of a step on all its GPUs |
/// | | `set`, `workload` | optional: the list to which the row belongs; `part` says which, "SET/WORKLOAD" |
///
/// Other columns are ignored.
namespace corun::inline traces {

/// Jobs without work. InputError, with line and column, for anything else that the table excludes, for a repeated name,
/// and for a part that the file does not have.
Trace read_pollux_jobs(const std::string& path, const std::optional<std::string>& part,
                       WorkloadKeys& keys, const LogRules& rules = {});
Trace read_pollux_jobs(std::istream& in, const std::string& name,
                       const std::optional<std::string>& part, WorkloadKeys& keys,
                       const LogRules& rules = {});

}  // namespace corun::inline traces
