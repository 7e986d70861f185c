#pragma once

#include <iosfwd>
#include <optional>
#include <string>

#include "traces/trace_builder.hpp"
#include "traces/workload_names.hpp"

/// Job traces in the form of Lucid's simulator (Hu et al., ASPLOS 2023), which is that of Helios with
/// the job's training beside it: one CSV row per job, times in whole seconds.
///
///   job_id         required; the job's name, each once
///   vc             virtual cluster
///   gpu_num        required; gang size; jobs without GPUs are passed over and counted
///   submit_time    required; [s]
///   duration       required; [s] alone on the GPUs of the trace; 0 is passed over and counted
///   model, dataset, batchsize, amp
///                  together the workload, "MODEL|DATASET|BATCH|AMP" as in Lucid's pairs
///   gpu_util       profile: GPU utilisation [%]
///   gmem_util      profile: share of time memory was accessed [%]
///   gmem           true memory demand [MiB]
///
/// Other columns are passed over.
namespace corun {

/// InputError for anything the table above rules out, and for a file without jobs. With `labels` (the
/// path of a CSV with `job`, a workload, and `label`, 0 to 2: Lucid's measure of how hard a job is on
/// its co-runners) profiles carry them; a workload that it lacks has none.
Trace read_lucid_jobs(const std::string& path, const std::optional<std::string>& labels,
                      WorkloadKeys& keys);
/// The same from a stream, called `name` in messages, without labels.
Trace read_lucid_jobs(std::istream& in, const std::string& name, WorkloadKeys& keys);
bool looks_like_lucid_jobs(const TraceHead& head);

}  // namespace corun
