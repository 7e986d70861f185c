#pragma once

#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "experiments/config/config.hpp"
#include "experiments/experiment/decision_times.hpp"
#include "experiments/inputs/input_cache.hpp"
#include "experiments/inputs/virtual_clusters.hpp"
#include "experiments/knowledge/cluster_overrides.hpp"
#include "models/interference/interference_world.hpp"
#include "models/knowledge/cluster_mean_belief.hpp"
#include "models/listed_pairs_world.hpp"
#include "models/model_belief.hpp"
#include "policies/catalog.hpp"
#include "sim/control_loop.hpp"
#include "sim/metrics.hpp"
#include "sim/round_backend.hpp"
#include "sim/run_record.hpp"
#include "sim/simulated_backend.hpp"
#include "traces/catalog.hpp"
#include "traces/pair_table.hpp"

/// A configuration made runnable: it joins traces to models and builds, for each replication, the
/// workload, the world, and for each policy its own belief. Replications are independent and may run
/// on any thread; replication r has seed `config.seed + r`, so it can be repeated alone.
namespace corun {

/// A policy as configured.
struct PolicyInstance {
  const PolicyEntry* entry = nullptr;
  std::string label;  ///< how the output calls it; all different
  const PolicyConfig* config = nullptr;
  std::string place;           ///< in the configuration, for errors
  bool granted_truth = false;  ///< the oracle, or belief: {model: truth}
};

/// One policy's run within a replication.
struct PolicyRun {
  RunRecord record;
  MetricValues metrics;
  double decide_s = 0;  ///< wall-clock spent in decisions; never part of the results
  double longest_decision_s = 0;
  DecisionTimes pass_times;  ///< the same, by scheduling pass
  PlanLosses losses;         ///< of plans that are not the best by construction
};

/// Thrown out of a run whose `stop` was set.
struct Interrupted {};

/// What watching a run costs extra: asked for only where it is wanted.
struct RunObservation {
  const std::atomic<bool>* stop = nullptr;  ///< looked at in every decision, and while one waits
  EventLog* log = nullptr;
  /// False: only the metrics and the usage of a run are kept, not what became of each job and episode.
  bool keep_records = true;
  /// False: nobody reads the clock, and the run says nothing of how long its decisions took.
  bool time_decisions = true;
  /// Called after each finished co-run and probe with the policy's knowledge base (policies that have one).
  std::function<void(Time, const KnowledgeBase&)> on_learned = {};
};

struct Replication {
  std::size_t number = 0;
  std::shared_ptr<const Trace> trace;
  std::vector<PolicyRun> runs;  ///< one per policy, in their order
};

/// Where the world's rows and the belief's start come from: read once, shared.
class Experiment {
 public:
  /// `data_directory` may be empty. With a `queue` the jobs are its, whatever config.workload names.
  /// `device`: where large batches of pairs are scored; null: the processor. `shared`: where several
  /// experiments read the same files; null: this one reads its own. Throws InputError (place, found,
  /// expected).
  Experiment(Config config, std::string data_directory, std::optional<Trace> queue = {},
             std::shared_ptr<Device> device = nullptr,
             const std::shared_ptr<InputCache>& shared = nullptr);

  const Config& config() const { return config_; }
  const std::vector<PolicyInstance>& policies() const { return policies_; }
  const ClusterSpec& cluster() const { return cluster_; }
  /// What the user should know: extrapolated world, imputed or missing profiles, a thin fit.
  const std::vector<std::string>& warnings() const { return warnings_; }
  /// The files that were read, as found.
  const std::vector<std::string>& input_files() const { return input_files_; }
  /// What to say where the trace offers more work over time than the cluster can do without sharing;
  /// empty where it does not.
  const std::string& overload() const { return overload_; }
  /// "sha256:... FILE" for every file that was read.
  const std::vector<std::string>& inputs() const { return inputs_; }

  /// Runs all policies on the same workload, true costs and noise. Thread-safe. Throws InputError
  /// naming a policy's place when it breaks a rule of the control loop, and Interrupted.
  Replication run(std::size_t number, const RunObservation& observation = {}) const;

  /// What run(0) would refuse before its policies decide anything, without simulating: throws as it.
  void check_runs() const;

  /// One policy alone, watched.
  PolicyRun run_policy(const Trace& trace, std::size_t number, const PolicyInstance& policy,
                       const RunObservation& observation) const;

  /// Shared where replications do not differ.
  std::shared_ptr<const Trace> make_trace(std::size_t number) const;

  /// The jobs of a replication in the order of their source, and the order in which they come in it:
  /// make_trace() is the two together.
  std::shared_ptr<const Trace> make_jobs(std::size_t number) const;
  std::vector<JobId> queue_order(const Trace& jobs, std::size_t number) const;
  /// Whether make_jobs() gives the same jobs for every replication.
  bool same_jobs() const;

  /// A policy as a run would build it, with its belief over the jobs of this trace. The world must
  /// outlive the policy: only a policy that was granted truth keeps hold of it. `stop` as in
  /// PolicyContext.
  std::unique_ptr<Policy> make_policy(const Trace& trace, std::size_t number,
                                      const PolicyInstance& policy, const World& world,
                                      const std::atomic<bool>* stop = nullptr) const;

  /// What policies may see of a job of this trace, and of all of them, by JobId.
  JobView make_face(const Trace& trace, std::size_t number, JobId job) const;
  std::vector<JobView> make_faces(const Trace& trace, std::size_t number) const;

  /// A replication is done: nothing that was kept for its policies is asked for again.
  void forget(std::size_t number) const;

  std::uint64_t seed_of(std::size_t number) const { return config_.seed + number; }

  const KnowledgeBase& initial_knowledge() const { return *initial_knowledge_; }
  /// Jobs that do not take their cluster from their profile, by belief.overrides.
  const std::vector<ClusterOverride>& overrides() const { return overrides_; }

  /// The belief a policy starts from, over the jobs of this trace.
  std::unique_ptr<Belief> initial_belief(const Trace& trace) const;

  /// Solo time of a job of this trace on this cluster's GPUs.
  std::vector<Duration> solo_times(const Trace& trace) const;
  std::unique_ptr<World> make_world(const Trace& trace) const;

 private:
  /// workload.order, or what the source says.
  bool shuffles(const Trace& jobs) const;
  SubmitWindow measured_window(const Workload& workload) const;
  /// One cluster with one queue, without metrics; jobs and episodes go to the sink, if there is one.
  PolicyRun run_cluster(const ClusterSpec& cluster, const Trace& trace, std::size_t number,
                        const PolicyInstance& policy, const RunObservation& observation,
                        RunSink* sink) const;
  void build_cluster();
  void build_listed_nodes(const NodeSpec& rest);
  /// The GPU types of the cluster as text: one, or all of a node list.
  std::string gpu_types_here() const;
  /// The GPU models that jobs may run on as bits of ClusterSpec::models(). InputError where a job can
  /// run nowhere.
  void fit_gpu_models(Trace& trace) const;
  void read_trace(bool shared);
  void note_trace_file(const Trace& trace);
  void build_world();
  void build_belief();
  void build_model_prior(const std::optional<std::string>& path);
  void build_policies();
  void check_trace();
  void check_pods(const Trace& trace);
  std::string resolve_path(const std::string& path, const std::string& key);
  /// Tables are read once, whoever needs them. `path` is resolved.
  const PairTable& pair_table(const std::string& path);
  /// world.path, which must be Gavel's rates, and whose of them the cluster's GPUs are.
  struct RatesFile {
    std::string path;
    std::string gpu;
  };
  RatesFile rates_file();
  /// Of world.path; read once.
  const GavelThroughputs& throughputs();
  void warn_of_pairs(const PairTable& pairs, const std::string& who);
  /// What was known before this replication.
  std::shared_ptr<const ModelBelief::Prior> prior_of(std::size_t number) const;
  Parameters parameters_of(const PolicyInstance& policy, const Trace& trace) const;

  Config config_;
  std::string data_directory_;
  std::shared_ptr<InputCache> inputs_read_;
  ClusterSpec cluster_;
  std::vector<VirtualCluster> virtual_clusters_;  ///< their nodes follow one another; may be none
  const TraceEntry* source_ = nullptr;
  std::shared_ptr<const Trace> file_trace_;       ///< of sources that read a file: read once
  std::map<std::string, PairTable> pair_tables_;  ///< by path
  std::shared_ptr<const GavelThroughputs> throughputs_;
  const PairTable* source_pairs_ = nullptr;  ///< of sources that draw from a table
  mutable WorkloadKeys keys_;                ///< hands out keys while traces are generated
  mutable std::mutex keys_mutex_;
  std::shared_ptr<const MeasuredTable> measured_;
  std::shared_ptr<const InterferenceModel> model_;
  std::shared_ptr<const ListedPairs> listed_;  ///< in place of the two above
  bool extrapolated_ = false;
  ScoringOptions scoring_;  ///< of beliefs that score batches of pairs
  std::shared_ptr<const ModelBelief::Prior>
      model_prior_;  ///< where the belief is an interference model; all that belief.initial has
  mutable std::map<std::size_t, std::shared_ptr<const ModelBelief::Prior>>
      known_priors_;  ///< where only a share of it is known: by replication, while that runs
  mutable std::mutex known_priors_mutex_;
  std::optional<KnowledgeBase> initial_knowledge_;
  bool labels_hold_ = true;  ///< the trace's clusters are clusters of initial_knowledge_
  std::vector<ClusterOverride> overrides_;
  std::vector<PolicyInstance> policies_;
  std::vector<std::string> warnings_;
  std::string overload_;
  std::vector<std::string> input_files_;
  std::vector<std::string> inputs_;
};

}  // namespace corun
