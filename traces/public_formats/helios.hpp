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
/// | `node_num`    | nodes of these cores; optional                                               |
/// | `submit_time` | "2020-06-09 18:41:01", taken as UTC without a zone; the first one becomes time 0 |
/// | `state`       | how it ended; jobs that did not end are left out; optional                   |
/// | `duration`    | run time alone [s]                                                           |
///
/// Other columns are ignored: the start and end of a job are results of other policies. Left out and
/// counted: jobs without GPUs, run time or submit time, with a repeated name, and those that have not ended.
namespace corun::inline traces {

/// InputError, with line and column, for anything else that the table excludes.
Trace read_helios(const std::string& path, const LogRules& rules = {});
Trace read_helios(std::istream& in, const std::string& name, const LogRules& rules = {});
bool looks_like_helios(const TraceHead& head);

}  // namespace corun::inline traces
