#pragma once

#include <iosfwd>
#include <string>

#include "traces/trace_builder.hpp"

/// The job CSV of the simulator that was published with Alibaba's PAI trace of 2020: Weng, Xiao, Yu, Wang,
/// Wang, He, Li, Zhang, Lin, Ding, "MLaaS in the Wild", NSDI 2022.
///
/// | column        | read as                                                                      |
/// |---------------|------------------------------------------------------------------------------|
/// | `job_id`      | the job's name                                                               |
/// | `submit_time` | [s]                                                                          |
/// | `duration`    | run time alone [s]; less than 1 counts as 1, as in that simulator            |
/// | `num_gpu`     | GPUs of one instance; 0.5 is half of one                                     |
/// | `num_inst`    | instances; 1 without the column                                              |
/// | `num_cpu`     | CPU cores of one instance; optional                                          |
/// | `gpu_type`    | GPU model on which it runs; empty, MISC and CPU stand for any; optional      |
///
/// A job asks for num_gpu x num_inst GPUs: below 1 a share of one GPU, else whole GPUs, rounded up. Other
/// columns are ignored. Left out and counted: jobs without GPUs, run time or submit time, or with a
/// repeated name.
namespace corun::inline traces {

/// InputError, with line and column, for anything else that the table excludes.
Trace read_pai_simulator(const std::string& path, const LogRules& rules = {});
Trace read_pai_simulator(std::istream& in, const std::string& name, const LogRules& rules = {});
bool looks_like_pai_simulator(const TraceHead& head);

}  // namespace corun::inline traces
