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
/// Other columns are passed over. Counted and left out: jobs without GPUs, without run time, or of
/// a name that came before.
namespace corun {

/// InputError, with line and column, for anything else that the table rules out.
Trace read_muri(const std::string& path, WorkloadKeys& keys);
Trace read_muri(std::istream& in, const std::string& name, WorkloadKeys& keys);
bool looks_like_muri(const TraceHead& head);

}  // namespace corun
