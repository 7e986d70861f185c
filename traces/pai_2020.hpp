#pragma once

#include <iosfwd>
#include <string>
#include <vector>

#include "traces/trace_builder.hpp"

/// Alibaba's PAI trace of 2020 (cluster-trace-gpu-v2020): Weng, Xiao, Yu, Wang, Wang, He, Li,
/// Zhang, Lin, Ding, "MLaaS in the Wild: Workload Analysis and Scheduling in Large-Scale
/// Heterogeneous GPU Clusters", NSDI 2022. Tables without header line, whose columns stand in files
/// beside them:
///
///   pai_job_table.csv, pai_job_table.header             job_name, start_time (of submission)
///   pai_task_table.csv, pai_task_table.header           job_name, inst_num, start_time, end_time,
///                                                       plan_cpu, plan_mem, plan_gpu, gpu_type
///   pai_instance_table.csv, pai_instance_table.header   job_name, start_time, end_time
///                                                       (may be absent)
///
/// The path is that of the job table or of the task table; each table may end in .gz or .zst.
///
/// A job runs from the first start to the last end of its instances, or of its tasks where the
/// table of instances is absent or has none of its. It asks for the sum over its tasks of inst_num
/// x plan_gpu (percent, 100 is one GPU): below one GPU a share of one, else whole GPUs, rounded up.
/// It may run on the gpu_type of its tasks; MISC and the empty text stand for any. cpu_milli and
/// memory_mib are those of its largest instance (plan_cpu in percent of a core, plan_mem in GB).
///
/// Counted and left out: jobs without submit time, without tasks, without an end, without GPUs,
/// without run time, or of a name that came before; rows of jobs that the job table lacks.
namespace corun {

/// A table that has been opened.
struct PaiTable {
  std::istream* in = nullptr;
  std::string name;                 ///< as messages call it
  std::vector<std::string> header;  ///< its columns, the required ones among them
};

/// InputError, with line and column, for anything else that this rules out.
Trace read_pai_2020(const std::string& path);
/// The same from open tables; `instances` may be null.
Trace read_pai_2020(const PaiTable& jobs, const PaiTable& tasks, const PaiTable* instances);
bool looks_like_pai_2020(const TraceHead& head);

}  // namespace corun
