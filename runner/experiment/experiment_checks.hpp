#pragma once

#include <optional>
#include <string>
#include <vector>

#include "models/solo/job_type_table.hpp"
#include "runner/builders/belief_builder.hpp"
#include "runner/builders/cluster_builder.hpp"
#include "runner/config/config.hpp"
#include "runner/config/note.hpp"
#include "runner/experiment/policy_instances.hpp"
#include "traces/trace.hpp"

/// Checks of jobs, cluster, belief and policies together. They throw and change nothing: findings
/// are returned.
namespace corun::inline runner {

/// The reason why an experiment cannot run.
struct Refusal {
  std::string place;    ///< in the configuration or in a file
  std::string message;  ///< found, expected, what to do
};

/// The first reason to refuse a trace, if any: no job, a gang larger than its cluster, a cluster
/// label unknown to the knowledge base, a gang with probing, a virtual cluster without nodes, an
/// override of an unknown job.
std::optional<Refusal> refusal_of_jobs(const Config& config, const Cluster& cluster,
                                       const BeliefBuilder& beliefs, const Trace& trace);

/// The refusal of a policy that packs by labels while jobs have none, if any; at the policy's place.
std::optional<Refusal> refusal_of_labels(const Config& config,
                                         const std::vector<PolicyInstance>& policies,
                                         const Trace& trace);

/// Notes on missing, imputed or overridden profiles, unknown memory demands, policies that place gangs by
/// different rules, and free preemption, one each. That about missing profiles says which policies it makes
/// decide as fcfs, and what to do.
Notes notes_on_jobs(const Config& config, const Cluster& cluster, const BeliefBuilder& beliefs,
                    const std::vector<PolicyInstance>& policies, const Trace& trace);

/// The note on policies that ignore that jobs run faster on some GPU types of the cluster; empty if there are
/// none, or one type.
std::string blind_to_speeds(const Cluster& cluster, const std::vector<PolicyInstance>& policies);

/// A warning if the trace offers more work per time than the cluster can do without sharing; else
/// empty. A batch has no offered load, so it gives no warning. `reference_gpus`: reference_gpus() of the
/// cluster.
std::string overload_of(const Cluster& cluster, const Trace& trace, double reference_gpus);

/// Where the run times alone of the jobs were measured, and how those on the other GPU types of the cluster follow, in
/// one sentence; with `on_types` null a warning that GPU types differ in memory alone, if the cluster has several, or
/// another than those in `measured_on` (empty: nothing was measured); else empty. `reference`:
/// TypesOfJobs::reference().
std::string run_times_of(const Config& config, const Cluster& cluster,
                         const std::vector<std::string>& measured_on, const std::string& reference,
                         const Trace& trace, const JobTypeTable* on_types);

/// A warning that clock ticks lengthen J_c, if there are ticks; else empty.
std::string ticks_of(const Config& config);

/// A policy that places pods (all GPUs of a job on one node), and a job that no node can hold.
struct UnplaceablePods {
  std::size_t policy = 0;  ///< index into `policies`
  std::string what;  ///< "job 'x' asks for 5 GPUs, a node has 4, and fgd places a pod on one node"
  std::string cure;  ///< "raise cluster.gpus_per_node"
};
std::vector<UnplaceablePods> unplaceable_pods(const Config& config, const Cluster& cluster,
                                              const std::vector<PolicyInstance>& policies,
                                              const Trace& trace);

}  // namespace corun::inline runner
