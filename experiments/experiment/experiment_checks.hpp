#pragma once

#include <optional>
#include <string>
#include <vector>

#include "experiments/config/config.hpp"
#include "experiments/experiment/belief_builder.hpp"
#include "experiments/experiment/cluster_builder.hpp"
#include "experiments/experiment/policy_instances.hpp"
#include "traces/trace.hpp"

/// What is wrong, or worth saying, of jobs, cluster, belief and policies together. Nothing here is
/// thrown or changed: findings are values.
namespace corun {

/// Why an experiment cannot be run.
struct Refusal {
  std::string place;    ///< in the configuration or in a file
  std::string message;  ///< what was found, what was expected, what to do
};

/// What the jobs of a trace are refused for, the first of all findings: no job, a gang larger than its
/// cluster, a cluster label that the knowledge base has not, a job to be probed that wants several GPUs,
/// a virtual cluster without nodes, an override of a job that is not there.
std::optional<Refusal> refusal_of_jobs(const Config& config, const Cluster& cluster,
                                       const BeliefBuilder& beliefs, const Trace& trace);

/// Profiles and memory demands that are not known or not the jobs' own, one sentence each.
std::vector<std::string> warnings_of_jobs(const Config& config, const BeliefBuilder& beliefs,
                                          const Trace& trace);

/// What to say where the trace offers more work over time than the cluster can do without sharing; empty
/// where it does not, and for a batch, which has no offered load.
std::string overload_of(const Config& config, const Cluster& cluster, const Trace& trace);

/// A policy that places pods (one node for all GPUs of a job) over jobs that no node can hold.
struct UnplaceablePods {
  std::size_t policy = 0;  ///< position in the list
  std::string what;  ///< "job 'x' asks for 5 GPUs, a node has 4, and fgd places a pod on one node"
  std::string cure;  ///< "raise cluster.gpus_per_node"
};
std::vector<UnplaceablePods> unplaceable_pods(const Config& config, const Cluster& cluster,
                                              const std::vector<PolicyInstance>& policies,
                                              const Trace& trace);

}  // namespace corun
