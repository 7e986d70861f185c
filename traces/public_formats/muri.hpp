#pragma once

#include <iosfwd>
#include <string>

#include "traces/trace_builder.hpp"
#include "traces/workload_names.hpp"

/// The job traces of Muri's simulator: Zhao, Liu, Peng, Zhang, Jin, Liu, Li, "Multi-resource
/// interleaving for deep learning training", SIGCOMM 2022. A CSV whose times are milliseconds.
///
/// | column           | read as                                                                   |
/// |------------------|--------------------------------------------------------------------------|
/// | `job_id`         | the job's name                                                            |
/// | `num_gpu`        | gang size                                                                 |
/// | `submit_time`    | [ms]                                                                      |
/// | `duration`       | run time alone [ms]                                                       |
/// | `iterations`     | training steps; optional                                                  |
/// | `model_name`, `batch_size` | with them the workload's name, "vgg16/bs=16"; optional          |
/// | `priority`       | larger goes first; optional                                               |
///
/// Other columns are ignored. Left out and counted: jobs without GPUs, run time or submit time, or with a
/// repeated name. Tiresias' files have the same columns but batch_size, and seconds: a profile of log_profiles.csv
/// reads them.
namespace corun::inline traces {

/// InputError, with line and column, for anything else that the table excludes.
Trace read_muri(const std::string& path, WorkloadKeys& keys, const LogRules& rules = {});
Trace read_muri(std::istream& in, const std::string& name, WorkloadKeys& keys,
                const LogRules& rules = {});
bool looks_like_muri(const TraceHead& head);

}  // namespace corun::inline traces
