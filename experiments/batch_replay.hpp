#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "experiments/experiment.hpp"
#include "models/batch/batch_engine.hpp"
#include "sim/error.hpp"

/// Replications without the event engine, where it would only do arithmetic (models/batch/batch_run.hpp):
/// the same bits, several times as fast.
///
/// It applies to an experiment where
///   - all jobs are submitted at time 0, want one GPU each, and are the same in every replication, in
///     whatever order (generated queues and drawn profiles differ);
///   - all GPUs are alike; there are no virtual clusters;
///   - groups start on empty GPUs as events come (control.start: group, control.mode: events), without
///     rounds, ticks or reallocation, without profiling segments and probes, and all jobs are measured;
/// and there to every policy that can say at the start all that it will do (Policy::plan_ahead): fcfs,
/// random, opposites and exclusive, and with control.plan: once also the policies that recommend. The
/// policy's own code makes the plan of each seed. A replication in which a group does not fit into a
/// GPU's memory is left to the event engine.
namespace corun {

/// `--engine`.
enum class EngineChoice : std::uint8_t {
  kAuto,    ///< batch from kBatchFrom replications on, where it applies
  kEvents,  ///< the event engine alone
  kBatch,   ///< batch, and an error where a policy cannot have it
};

/// Below, nobody would notice.
inline constexpr std::size_t kBatchFrom = 1000;

/// Below, `--device auto` leaves a GPU alone: it halves the time at best, and starting it takes a part
/// of a second.
inline constexpr std::size_t kGpuFrom = 20'000;

/// auto | events | batch; InputError otherwise.
EngineChoice engine_choice(const std::string& word);

/// Where a GPU runs replications, and what to do when it fails.
struct BatchGpuUse {
  const BatchGpu* gpu = nullptr;  ///< nullptr: the processor does all of them
  /// Called with what went wrong; returns where the processor is to go on.
  std::function<void(const DeviceError&)> failed;
  BatchGpu::Options options;
};

/// Which policies of an experiment can be replayed without events. Shared by threads.
class BatchReplay {
 public:
  /// The experiment must outlive this.
  explicit BatchReplay(const Experiment& experiment);

  /// By policy: why it needs the event engine, one clause; empty where it does not.
  const std::vector<std::string>& reasons() const { return reasons_; }
  /// To some policy.
  bool applies() const;

  /// A policy without a reason against it on a GPU: its runs, by replication, without their records;
  /// nothing where run() of a BatchReplayer must be asked. Throws DeviceError, having kept in `done` what
  /// came back before, and Interrupted.
  void run_on_gpu(const BatchGpuUse& use, std::size_t policy, const std::atomic<bool>* stop,
                  std::vector<std::optional<PolicyRun>>& done) const;

 private:
  friend class BatchReplayer;

  const Experiment& experiment_;
  std::vector<std::string> reasons_;
  std::shared_ptr<const Trace> jobs_;  ///< in their own order
  std::optional<BatchExperiment> batch_;
};

/// Runs replications of it: one for each thread.
class BatchReplayer {
 public:
  /// Of one that applies, which must outlive this.
  explicit BatchReplayer(const BatchReplay& replay);

  /// The groups of a policy in one replication, in the order in which they start; nothing where it
  /// decides as it goes.
  std::optional<std::vector<std::vector<JobId>>> plan(std::size_t number, std::size_t policy);

  /// A policy without a reason against it in one replication; nothing where the event engine must do it.
  std::optional<PolicyRun> run(std::size_t number, std::size_t policy, bool keep_records);

  /// The jobs, for whoever wants their names.
  const std::shared_ptr<const Trace>& jobs() const { return replay_.jobs_; }

 private:
  friend class BatchReplay;
  std::optional<std::uint64_t> noise_seed(std::size_t number) const;
  /// Of a run without records.
  PolicyRun finished(const BatchSums& sums, const MetricValues& metrics, double decide_s) const;

  const BatchReplay& replay_;
  std::unique_ptr<World> world_;
  ClusterState empty_;
  std::vector<JobView> faces_;
  std::optional<std::size_t> ordered_;  ///< the replication that order_ and faces_ are of
  std::vector<JobId> order_;
  BatchEngine engine_;
};

}  // namespace corun
