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
/// Other columns are ignored. Left out and counted: jobs without GPUs, without run time, or with a repeated
/// name.
namespace corun::inline traces {

/// InputError, with line and column, for anything else that the table excludes.
Trace read_muri(const std::string& path, WorkloadKeys& keys);
Trace read_muri(std::istream& in, const std::string& name, WorkloadKeys& keys);
bool looks_like_muri(const TraceHead& head);

}  // namespace corun::inline traces
