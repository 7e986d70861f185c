#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "results/replication.hpp"
#include "runner/builders/belief_builder.hpp"
#include "runner/builders/cluster_builder.hpp"
#include "runner/builders/service_builder.hpp"
#include "runner/builders/world_builder.hpp"
#include "runner/config/config.hpp"
#include "runner/config/start_costs.hpp"
#include "runner/experiment/engine_options.hpp"
#include "runner/experiment/job_views.hpp"
#include "runner/experiment/policy_instances.hpp"
#include "sim/engine/detail_recorder.hpp"
#include "sim/policy.hpp"
#include "sim/world.hpp"

/// Runs one policy over one trace, with a world and a belief of its own.
namespace corun::inline runner {

/// Data shared by the policies of one replication.
struct SharedRun {
  const Trace& trace;
  RunSeeds seeds;
  BeliefBuilder::Prior prior;  ///< of this replication; null if no policy needs a belief
};

class PolicyRunner {
 public:
  /// The arguments must outlive this. `trace_place`: place of the engine's errors, which have none.
  /// `keys`: of the trace's workloads; null: they have no names.
  PolicyRunner(const Config& config, const Cluster& cluster, const WorldBuilder& worlds,
               const BeliefBuilder& beliefs, const ServiceBuilder& services,
               const WorkloadKeys* keys, std::string trace_place);

  /// A policy with its belief, as run() builds it. The world must outlive the policy; only a policy
  /// that was granted truth refers to it. `stop` as in PolicyContext. InputError as
  /// parameters_of().
  std::unique_ptr<Policy> make_policy(const SharedRun& shared, const PolicyInstance& policy,
                                      const World& world, const std::atomic<bool>* stop,
                                      const JobTuning* tuning = nullptr) const;

  /// The whole run of the jobs in this order of arrival; virtual clusters run one after another. A policy that
  /// breaks a rule of the control loop ends it: PolicyRun::failure. Throws Interrupted if stopped.
  PolicyRun run(const SharedRun& shared, std::span<const JobId> arrivals,
                const PolicyInstance& policy, const RunObservation& observation) const;

  /// Prepares run() without running it: throws the InputErrors that run() would throw at its start.
  void check(const SharedRun& shared, const PolicyInstance& policy) const;

 private:
  struct Watched {
    const RunObservation& observation;
    LevelSlices& slices;  ///< of the whole run; filled if observation.details says so
  };
  PolicyRun run_parts(const SharedRun& shared, std::span<const JobId> arrivals,
                      const PolicyInstance& policy, const Watched& watched) const;
  PolicyRun run_cluster(const ClusterSpec& cluster, const SharedRun& shared,
                        std::span<const JobId> arrivals, const PolicyInstance& policy,
                        const Watched& watched, RunSink* sink) const;
  /// What a policy sees of the jobs: measured profiles if it lets them run alone first.
  JobEstimates estimates(const SharedRun& shared, const PolicyInstance& policy) const;
  SubmitWindow measured_window(const Workload& workload) const;
  void refuse_colocating(const PolicyInstance& policy) const;
  std::vector<Duration> start_costs(const Trace& trace) const;

  const Config& config_;
  const Cluster& cluster_;
  const WorldBuilder& worlds_;
  const BeliefBuilder& beliefs_;
  const ServiceBuilder& services_;
  const WorkloadKeys* keys_;
  std::vector<StartCost> costs_by_workload_;
  std::string trace_place_;
};

}  // namespace corun::inline runner
