#pragma once

#include <iosfwd>
#include <string>

#include "traces/trace_builder.hpp"

/// The `cluster_job_log` of Microsoft's Philly cluster: Jeon, Venkataraman, Phanishayee, Qian,
/// Xiao, Yang, "Analysis of Large-Scale Multi-Tenant GPU Clusters for DNN Training Workloads",
/// USENIX ATC 2019. One JSON array of jobs, or the jobs one after the other (JSON
/// lines, one object), read as a stream:
///
///   {"jobid": NAME, "status": "Pass", "Killed" or "Failed", "vc": VIRTUAL CLUSTER, "submitted_time": "2017-10-07 01:11:39",
///    "attempts": [{"start_time": TIME, "end_time": TIME, "detail": [{"ip": ..., "gpus": [...]}]}]}
///
/// A job's run time is the sum of its attempts from start to end. Attempts that lack one of the two, which
/// the log's authors ascribe to logging errors, do not count. Its gang size is the number of GPUs in
/// `detail` of the last attempt that counts, and TraceJob::run_nodes the number of machines there that have some. The first submit time becomes time 0. Other keys are ignored;
/// null and "None" stand for a time that is not known.
///
/// Left out and counted: jobs without attempts, without submit time, whose last attempt has no end (still
/// running when the log was taken), with an attempt that ends before it starts, without GPUs, without run
/// time, or with a repeated name.
namespace corun::inline traces {

/// InputError, with line and column, for anything else, and for text that is not JSON.
Trace read_philly(const std::string& path, const LogRules& rules = {});
Trace read_philly(std::istream& in, const std::string& name, const LogRules& rules = {});
bool looks_like_philly(const TraceHead& head);

}  // namespace corun::inline traces
