#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "experiments/config/config.hpp"
#include "experiments/experiment/belief_builder.hpp"
#include "experiments/experiment/cluster_builder.hpp"
#include "experiments/experiment/policy_instances.hpp"
#include "experiments/experiment/policy_runner.hpp"
#include "experiments/experiment/replication.hpp"
#include "experiments/experiment/workload_source.hpp"
#include "experiments/experiment/world_builder.hpp"
#include "experiments/inputs/input_cache.hpp"
#include "sim/cluster_view.hpp"

/// A configuration made runnable: from its parts (a workload source, builders of cluster, world and
/// belief, policies, a runner) each replication gets its jobs, its world and, for each policy, a belief
/// of its own. Replications are independent and may run on any thread; replication r has seed
/// `config.seed + r`, so it can be repeated alone.
namespace corun {

class Experiment {
 public:
  /// `data_directory` may be empty. With a `queue` the jobs are its, whatever config.workload names.
  /// `device`: where large batches of pairs are scored; null: the processor. `shared`: where several
  /// experiments read the same files; null: this one reads its own. Throws InputError (place, found,
  /// expected).
  Experiment(Config config, std::string data_directory, std::optional<Trace> queue = {},
             std::shared_ptr<Device> device = nullptr,
             const std::shared_ptr<InputCache>& shared = nullptr);
  Experiment(const Experiment&) = delete;  // its parts refer to one another
  Experiment& operator=(const Experiment&) = delete;

  const Config& config() const { return *config_; }
  /// As configured; of the default comparison those that can place every job.
  const std::vector<PolicyInstance>& policies() const { return policies_; }
  const ClusterSpec& cluster() const { return cluster_.spec; }
  /// What the user should know: extrapolated world, imputed or missing profiles, a thin fit.
  const std::vector<std::string>& warnings() const { return warnings_; }
  /// The warning of overload_of(), empty where there is none.
  const std::string& overload() const { return overload_; }
  /// The files that were read, as found.
  const std::vector<std::string>& input_files() const { return files_.paths(); }
  /// "sha256:... FILE" for every file that was read.
  const std::vector<std::string>& inputs() const { return files_.entries(); }
  /// What beliefs by clusters start from.
  const KnowledgeBase& initial_knowledge() const { return beliefs_.initial_knowledge(); }
  /// Jobs that do not take their cluster from their profile, by belief.overrides.
  const std::vector<ClusterOverride>& overrides() const { return beliefs_.overrides(); }
  std::uint64_t seed_of(std::size_t number) const { return corun::seed_of(*config_, number); }

  /// Runs all policies on the same workload, true costs and noise. Thread-safe. Throws InputError at a
  /// policy's place when it breaks a rule of the control loop, at the workload's or the belief's where this
  /// replication's jobs or share of known pairs cannot be had; and Interrupted.
  Replication run(std::size_t number, const RunObservation& observation = {}) const;

  /// Makes all that run(0) needs and runs nothing: throws the InputError with which it would begin.
  void check_runs() const;

  /// One policy alone, watched.
  PolicyRun run_policy(const Trace& trace, std::size_t number, const PolicyInstance& policy,
                       const RunObservation& observation) const;

  /// As WorkloadSource::trace().
  std::shared_ptr<const Trace> make_trace(std::size_t number) const;
  std::unique_ptr<World> make_world(const Trace& trace) const { return worlds_.world(trace); }
  /// A policy as a run would build it: PolicyRunner::make_policy().
  std::unique_ptr<Policy> make_policy(const Trace& trace, std::size_t number,
                                      const PolicyInstance& policy, const World& world,
                                      const std::atomic<bool>* stop = nullptr) const;

  /// What policies may see of a job of this trace, and of all of them, by JobId.
  JobView view_of(const Trace& trace, std::size_t number, JobId job) const;
  std::vector<JobView> views_of(const Trace& trace, std::size_t number) const;

 private:
  void check(const Trace& trace);
  SharedRun shared_run(const Trace& trace, std::size_t number, bool believes) const;

  // A part is made of those above it; each takes them in its constructor.
  std::shared_ptr<const Config> config_;  ///< with_standard_gpu_type()
  InputFiles files_;
  Cluster cluster_;
  WorkloadSource source_;
  WorldBuilder worlds_;
  BeliefBuilder beliefs_;
  std::vector<PolicyInstance> policies_;
  PolicyRunner runner_;
  std::vector<std::string> warnings_;
  std::string overload_;
};

}  // namespace corun
