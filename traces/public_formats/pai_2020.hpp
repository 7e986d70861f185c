#pragma once

#include <iosfwd>
#include <string>
#include <vector>

#include "traces/trace_builder.hpp"

/// Alibaba's PAI trace of 2020 (cluster-trace-gpu-v2020): Weng, Xiao, Yu, Wang, Wang, He, Li, Zhang, Lin,
/// Ding, "MLaaS in the Wild: Workload Analysis and Scheduling in Large-Scale Heterogeneous GPU Clusters",
/// NSDI 2022. Tables without header line; files beside them list their columns:
///
///   pai_job_table.csv, pai_job_table.header             job_name, start_time (of submission), status
///   pai_task_table.csv, pai_task_table.header           job_name, inst_num, start_time, end_time,
///                                                       plan_cpu, plan_mem, plan_gpu, gpu_type
///   pai_instance_table.csv, pai_instance_table.header   job_name, start_time, end_time
///                                                       (may be absent)
///
/// The path is that of the job table or of the task table; each table may end in .gz or .zst.
///
/// A job runs from the first start to the last end of its instances, or of its tasks if the table of
/// instances is absent or has none of the job. It asks for the sum over its tasks of inst_num x plan_gpu
/// (percent, 100 is one GPU): below one GPU a share of one, else whole GPUs, rounded up. It may run on the
/// gpu_type of its tasks; MISC and the empty text stand for any. cpu_milli and memory_mib are those of its
/// largest instance (plan_cpu in percent of a core, plan_mem in GB).
///
/// Left out and counted: jobs without submit time, without tasks, without an end, without GPUs, without run
/// time, or with a repeated name; rows of jobs that the job table lacks.
namespace corun::inline traces {

/// An opened table.
struct PaiTable {
  std::istream* in = nullptr;
  std::string name;                 ///< in messages
  std::vector<std::string> header;  ///< its columns, including the required ones
};

/// InputError, with line and column, for anything else that this excludes.
Trace read_pai_2020(const std::string& path, const LogRules& rules = {});
/// The same from open tables; `instances` may be null.
Trace read_pai_2020(const PaiTable& jobs, const PaiTable& tasks, const PaiTable* instances,
                    const LogRules& rules = {});
bool looks_like_pai_2020(const TraceHead& head);

}  // namespace corun::inline traces
