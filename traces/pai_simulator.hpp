#pragma once

#include <iosfwd>
#include <string>

#include "traces/trace_builder.hpp"

/// The job CSV of the simulator that came with Alibaba's PAI trace of 2020: Weng, Xiao, Yu, Wang,
/// Wang, He, Li, Zhang, Lin, Ding, "MLaaS in the Wild", NSDI 2022.
///
/// | column        | read as                                                                      |
/// |---------------|------------------------------------------------------------------------------|
/// | `job_id`      | the job's name                                                               |
/// | `submit_time` | [s]                                                                          |
/// | `duration`    | run time alone [s]; what is below 1 counts as 1, as it does there            |
/// | `num_gpu`     | GPUs of one instance, 0.5 is half of one                                     |
/// | `num_inst`    | instances; 1 if empty or absent                                              |
/// | `num_cpu`     | CPU cores of one instance; optional                                          |
/// | `gpu_type`    | GPU model that it runs on; empty, MISC and CPU stand for any; optional       |
///
/// A job asks for num_gpu x num_inst GPUs: below 1 a share of one GPU, else whole GPUs, rounded up.
/// Other columns are passed over. Counted and left out: jobs without GPUs, or of a name that came
/// before.
namespace corun {

/// InputError, with line and column, for anything else that the table rules out.
Trace read_pai_simulator(const std::string& path);
Trace read_pai_simulator(std::istream& in, const std::string& name);
bool looks_like_pai_simulator(const TraceHead& head);

}  // namespace corun
