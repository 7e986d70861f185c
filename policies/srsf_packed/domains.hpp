#pragma once

#include <vector>

#include "sim/cluster_view.hpp"

/// The GPUs that may hold a job: those of one node, or of all nodes for a gang larger than any.
namespace corun::inline policies::srsf {

/// Whether no node may hold the gang.
bool is_wide(const ClusterView& view, const JobView& job);

/// Whether a node that has so much left has what the job asks for.
inline bool can_meet(const ResourceRequest& have, const ResourceRequest& asked) {
  return (asked.cpu_milli == 0 || asked.cpu_milli <= have.cpu_milli) &&
         (asked.memory_mib == 0 || asked.memory_mib <= have.memory_mib);
}

/// Whether the GPUs of a node may hold the job, or a part of a `wide` one.
inline bool may_hold(const NodeSpec& node, const JobView& job, bool wide) {
  if (!may_run_on(job, node.gpu)) return false;
  return wide ||
         (node.gpus >= job.gpus && can_meet({node.cpu_milli, node.memory_mib}, job.request));
}

/// Calls f for each node that may hold the gang, with its GPUs in `gpus`; once, with those of all nodes, if none
/// can. Nodes of types on which the job may not run, or that have less CPU or memory than it asks for, do not count.
template <typename F>
void each_domain(const ClusterView& view, const JobView& job, std::vector<GpuId>& gpus, F&& f) {
  const std::vector<NodeSpec>& nodes = view.cluster().nodes;
  const bool wide = is_wide(view, job);
  gpus.clear();
  std::uint32_t next = 0;
  for (const NodeSpec& node : nodes) {
    const std::uint32_t first = next;
    next += static_cast<std::uint32_t>(node.gpus);
    if (!may_hold(node, job, wide)) continue;
    if (!wide) gpus.clear();
    for (std::uint32_t g = first; g < next; ++g) gpus.push_back(GpuId{g});
    if (!wide) f();
  }
  if (wide) f();
}

}  // namespace corun::inline policies::srsf
