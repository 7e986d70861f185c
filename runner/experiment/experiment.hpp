#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "results/replication.hpp"
#include "runner/builders/belief_builder.hpp"
#include "runner/builders/cluster_builder.hpp"
#include "runner/builders/workload_source.hpp"
#include "runner/builders/world_builder.hpp"
#include "runner/config/config.hpp"
#include "runner/config/note.hpp"
#include "runner/experiment/draws.hpp"
#include "runner/experiment/policy_instances.hpp"
#include "runner/experiment/policy_runner.hpp"
#include "runner/experiment/resolved_config.hpp"
#include "runner/inputs/input_cache.hpp"
#include "sim/cluster_view.hpp"

/// A runnable configuration. Its parts (workload source, builders of cluster, world and belief,
/// policies, runner) give each replication its jobs, its world and one belief per policy.
/// Replications are independent and may run on any thread. Replication r has seed `config.seed +
/// r`, so it can be repeated alone.
namespace corun::inline runner {

class Experiment {
 public:
  /// `data_directory` may be empty. The jobs of `queue`, if given, replace config.workload.
  /// `device` scores large batches of pairs; null: the processor. `shared` caches files and fits for several
  /// experiments; it must not be null. Throws InputError (place, found, expected).
  Experiment(Config config, std::string data_directory, std::optional<Trace> queue = {},
             std::shared_ptr<Device> device = nullptr,
             const std::shared_ptr<InputCache>& shared = std::make_shared<InputCache>());
  Experiment(const Experiment&) = delete;  // the parts refer to one another
  Experiment& operator=(const Experiment&) = delete;

  /// The resolved configuration (resolve()).
  const Config& config() const { return config_; }
  /// Notes on values that nobody gave; not part of the results, for who gives the values gets none.
  const Notes& resolutions() const { return resolved_.notes; }
  /// The configured policies; of the default comparison only those that can place every job.
  const std::vector<PolicyInstance>& policies() const { return policies_; }
  const ClusterSpec& cluster() const { return cluster_.spec; }
  /// Their nodes follow one another in cluster(); empty: one queue for all.
  const std::vector<VirtualCluster>& virtual_clusters() const { return cluster_.virtual_clusters; }
  /// BeliefBuilder::clusters().
  std::vector<int> clusters_of(const Trace& trace) const { return beliefs_.clusters(trace); }
  /// All other notes; part of the results.
  const Notes& notes() const { return notes_; }
  /// Those of `workload.services`; their replicas are the last jobs of a trace.
  const ServiceBuilder& services() const { return source_.services(); }
  /// As WorkloadSource::left_out().
  std::span<const LeftOut> left_out() const { return source_.left_out(); }
  /// reference_gpus() of the cluster with the jobs of the first replication.
  double reference_gpus() const { return reference_gpus_; }
  /// Paths of the files that were read.
  const std::vector<std::string>& input_files() const { return files_.paths(); }
  /// "sha256:... FILE" for every file that was read.
  const std::vector<std::string>& inputs() const { return files_.entries(); }
  /// BeliefBuilder::initial_knowledge().
  const KnowledgeBase& initial_knowledge() const { return beliefs_.initial_knowledge(); }
  /// BeliefBuilder::overrides().
  const std::vector<ClusterOverride>& overrides() const { return beliefs_.overrides(); }
  std::uint64_t seed_of(std::size_t number) const { return corun::seed_of(config_, number); }

  /// Runs all policies on the same workload, true costs and noise. Thread-safe. Throws InputError
  /// at a policy's place if it breaks a rule of the control loop, at the workload's or belief's
  /// place if the jobs of this replication cannot be generated or the model cannot be fitted to its
  /// known pairs. Throws Interrupted if stopped.
  Replication run(std::size_t number, const RunObservation& observation = {}) const {
    return run(Draws(number), observation);
  }
  /// The same with draws of several replications; its number is that of the jobs.
  Replication run(const Draws& draws, const RunObservation& observation) const;
  /// The kinds of draws that the configuration has; any of them may change nothing.
  const std::vector<Drawn>& drawn() const { return drawn_; }

  /// Prepares run(0) without running it: throws the InputErrors that run(0) would throw at its
  /// start.
  void check_runs() const;

  /// Runs one policy of a replication, whose jobs come in the order of arrivals(). See PolicyRun::failure.
  PolicyRun run_policy(const Trace& trace, std::size_t number, const PolicyInstance& policy,
                       const RunObservation& observation) const;

  /// As WorkloadSource::trace() and arrivals().
  std::shared_ptr<const Trace> make_trace(std::size_t number) const;
  std::vector<JobId> arrivals(const Trace& trace, std::size_t number) const;
  std::unique_ptr<World> make_world(const Trace& trace) const { return worlds_.world(trace); }
  /// As PolicyRunner::make_policy().
  std::unique_ptr<Policy> make_policy(const Trace& trace, std::size_t number,
                                      const PolicyInstance& policy, const World& world,
                                      const std::atomic<bool>* stop = nullptr) const;

  /// The view that policies have of one job of a trace, and of all jobs by JobId.
  JobView view_of(const Trace& trace, std::size_t number, JobId job) const;
  std::vector<JobView> views_of(const Trace& trace, std::size_t number) const;

 private:
  /// Null if the jobs' workloads have no names here.
  const WorkloadKeys* workload_keys() const {
    return source_.shares_keys() ? &source_.tables()->keys() : nullptr;
  }
  void check(const Trace& trace);
  void check_model_files(const Trace& trace);
  SharedRun shared_run(const Trace& trace, const Draws& draws, bool believes) const;
  std::vector<Drawn> drawn_by(const Trace& trace, const JobTypeTable* on_types) const;

  // Each part is constructed from parts above it.
  Resolved resolved_;
  const Config& config_;
  InputFiles files_;
  Cluster cluster_;
  WorkloadSource source_;
  WorldBuilder worlds_;
  BeliefBuilder beliefs_;
  std::vector<PolicyInstance> policies_;
  PolicyRunner runner_;
  Notes notes_;
  std::vector<Drawn> drawn_;
  double reference_gpus_ = 0;
};

}  // namespace corun::inline runner
