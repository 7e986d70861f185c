#pragma once

#include <iosfwd>
#include <string>
#include <vector>

#include "traces/trace_builder.hpp"

/// Alibaba's GPU trace of 2023, `openb_pod_list_*.csv` and `openb_node_list_*.csv`: Weng, Yang, Yu,
/// Wang, Tang, Yang, Zhang, "Beware of Fragmentation: Scheduling GPU-Sharing Workloads with
/// Fragmentation Gradient Descent", USENIX ATC 2023.
///
/// Pods:
///
/// | column           | read as                                                                   |
/// |------------------|---------------------------------------------------------------------------|
/// | `name`           | the job's name                                                            |
/// | `num_gpu`        | gang size; 0 for pods on CPUs only                                        |
/// | `gpu_milli`      | share of each GPU that the pod asks for [1/1000]; below 1000 only with one GPU |
/// | `gpu_spec`       | GPU models on which it may run, joined by `|`; empty: any; optional       |
/// | `cpu_milli`, `memory_mib` | asked of the node                                                |
/// | `creation_time`  | submit time [s]                                                           |
/// | `scheduled_time` | start [s]; empty for pods that never started; optional                    |
/// | `deletion_time`  | end [s], also of pods in phase Running                                    |
/// | `pod_phase`      | its state; optional                                                       |
///
/// The run time is from `scheduled_time`, or from `creation_time` without this column, to `deletion_time`. Left
/// out and counted: pods without GPUs, run time or submit time, with a repeated name, that were pending, never
/// scheduled, or have no end.
///
/// Nodes: `sn` (the node's name), `cpu_milli`, `memory_mib`, `gpu` (number of GPUs), `model`. Nodes without
/// GPUs are left out and counted.
namespace corun::inline traces {

/// InputError, with line and column, for anything else that the table excludes.
Trace read_openb_pods(const std::string& path, const LogRules& rules = {});
Trace read_openb_pods(std::istream& in, const std::string& name, const LogRules& rules = {});
bool looks_like_openb_pods(const TraceHead& head);

struct ListedNode {
  std::string name;
  std::string gpu_model;
  int gpus = 1;
  std::int64_t cpu_milli = 0;
  std::int64_t memory_mib = 0;
  std::size_t line = 0;
};

struct NodeList {
  std::vector<ListedNode> nodes;
  std::vector<std::string> skipped;  ///< "3 nodes without GPUs"
  std::string name;                  ///< the file's name in messages
};

/// InputError as above, and for a list without a node that has GPUs.
NodeList read_openb_nodes(const std::string& path);
NodeList read_openb_nodes(std::istream& in, const std::string& name);

}  // namespace corun::inline traces
