#pragma once

#include <atomic>
#include <cstdint>
#include <memory>

#include "experiments/config/config.hpp"
#include "experiments/experiment/belief_builder.hpp"
#include "experiments/experiment/cluster_builder.hpp"
#include "experiments/experiment/policy_instances.hpp"
#include "experiments/experiment/replication.hpp"
#include "experiments/experiment/world_builder.hpp"
#include "sim/policy.hpp"
#include "sim/world.hpp"

/// Runs one policy over one trace, with a world and a belief of its own.
namespace corun {

/// What the policies of one replication have in common.
struct SharedRun {
  const Trace& trace;
  std::uint64_t seed = 0;
  BeliefBuilder::Prior prior;  ///< of this replication, where a policy of it asks for a belief
};

class PolicyRunner {
 public:
  /// The arguments must outlive this. `trace_place`: where an error of the engine, which knows no
  /// places, is told.
  PolicyRunner(const Config& config, const Cluster& cluster, const WorldBuilder& worlds,
               const BeliefBuilder& beliefs, std::string trace_place);

  /// A policy as a run builds it, with its belief. The world must outlive the policy: only a policy
  /// that was granted truth keeps hold of it. `stop` as in PolicyContext. InputError where a parameter
  /// names what is not there.
  std::unique_ptr<Policy> make_policy(const SharedRun& shared, const PolicyInstance& policy,
                                      const World& world, const std::atomic<bool>* stop) const;

  /// The whole run, virtual cluster by virtual cluster where there are some. InputError at a policy's
  /// place when it breaks a rule of the control loop; Interrupted.
  PolicyRun run(const SharedRun& shared, const PolicyInstance& policy,
                const RunObservation& observation) const;

  /// Makes all that run() needs and runs nothing: throws the InputError with which run() would begin.
  void check(const SharedRun& shared, const PolicyInstance& policy) const;

 private:
  PolicyRun run_parts(const SharedRun& shared, const PolicyInstance& policy,
                      const RunObservation& observation) const;
  PolicyRun run_cluster(const ClusterSpec& cluster, const SharedRun& shared,
                        const PolicyInstance& policy, const RunObservation& observation,
                        RunSink* sink) const;
  SubmitWindow measured_window(const Workload& workload) const;
  void refuse_colocating(const PolicyInstance& policy) const;

  const Config& config_;
  const Cluster& cluster_;
  const WorldBuilder& worlds_;
  const BeliefBuilder& beliefs_;
  std::string trace_place_;
};

}  // namespace corun
