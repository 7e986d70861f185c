#pragma once

#include <iosfwd>
#include <optional>
#include <string>

#include "traces/trace_builder.hpp"
#include "traces/workload_names.hpp"

/// Job traces in the form of Lucid's simulator (Hu et al., ASPLOS 2023): the form of Helios with the job's
/// training in more columns. One CSV row per job, times in whole seconds.
///
///   job_id         required; the job's name, each once
///   vc             virtual cluster
///   gpu_num        required; gang size; jobs without GPUs are left out and counted
///   submit_time    required; [s], or dates, taken as UTC without a zone
///   duration       required; [s] alone on the GPUs of the trace; jobs of 0 s are left out and counted
///   state          how the job ended; those that did not end are left out and counted
///   model, dataset, batchsize, amp
///                  together the workload, "MODEL|DATASET|BATCH|AMP" as in Lucid's pairs
///   gpu_util       profile: GPU utilisation [%]
///   gmem_util      profile: share of time memory was accessed [%]
///   gmem           true memory demand [MiB]
///
/// Other columns are ignored.
namespace corun::inline traces {

/// InputError for anything that the table above excludes, and for a file without jobs. `labels` is the path
/// of a CSV with `job`, a workload, and `label`, 0 to 2 (Lucid's measure of a job's effect on its
/// co-runners): profiles get these labels; a workload that the file lacks has none.
Trace read_lucid_jobs(const std::string& path, const std::optional<std::string>& labels,
                      WorkloadKeys& keys, const LogRules& rules = {});
/// The same from a stream, without labels; `name` stands for the file in messages.
Trace read_lucid_jobs(std::istream& in, const std::string& name, WorkloadKeys& keys,
                      const LogRules& rules = {});
bool looks_like_lucid_jobs(const TraceHead& head);

}  // namespace corun::inline traces
