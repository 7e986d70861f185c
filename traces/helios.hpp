#pragma once

#include <iosfwd>
#include <string>

#include "traces/trace_builder.hpp"

/// The `cluster_log.csv` of SenseTime's Helios clusters, Venus among them: Hu, Sun, Yan, Wen,
/// Zhang, "Characterization and Prediction of Deep Learning Workloads in Large-Scale GPU
/// Datacenters", SC 2021.
///
/// | column        | read as                                                                      |
/// |---------------|------------------------------------------------------------------------------|
/// | `job_id`      | the job's name                                                               |
/// | `vc`          | virtual cluster                                                              |
/// | `gpu_num`     | gang size; 0 for jobs on CPUs only                                           |
/// | `cpu_num`     | CPU cores over all nodes; optional                                           |
/// | `node_num`    | nodes that the cores are spread over; optional                               |
/// | `submit_time` | "2020-06-09 18:41:01"; the first one becomes time 0                          |
/// | `duration`    | run time alone [s]                                                           |
///
/// Other columns are passed over: when a job started there, and how it ended, is what other
/// policies did. Counted and left out: jobs without GPUs, without run time, or of a name that came
/// before.
namespace corun {

/// InputError, with line and column, for anything else that the table rules out.
Trace read_helios(const std::string& path);
Trace read_helios(std::istream& in, const std::string& name);
bool looks_like_helios(const TraceHead& head);

}  // namespace corun
