#pragma once

#include <atomic>
#include <functional>
#include <string>
#include <vector>

#include "experiments/batch_replay.hpp"
#include "experiments/bootstrap.hpp"
#include "experiments/experiment.hpp"

/// The main job: one workload, several policies, many seeds.
namespace corun {

/// Share of co-run time by where its cost came from; all 0 when nothing ran together.
struct Coverage {
  double measured = 0;
  double modelled = 0;
  double extrapolated = 0;
};

/// How the replications of one policy were run.
struct EngineUse {
  bool batch = false;
  std::string reason;         ///< why not; empty where nobody asked for it
  std::size_t by_events = 0;  ///< replications that went through the event engine all the same
  std::size_t on_gpu = 0;     ///< replications that a GPU has run
};

struct ReplayResult {
  std::vector<Replication> replications;  ///< finished ones, ascending by number
  Comparison comparison;
  Coverage coverage;  ///< over all policies
  std::vector<Coverage> coverage_by_policy;
  std::vector<EngineUse> engines;  ///< by policy, or empty; changes nothing of the rest
  bool interrupted = false;        ///< some replications were not run
};

/// Of this policy, over all replications.
DecisionTimes decision_times(const ReplayResult& result, std::size_t policy);
PlanLosses plan_losses(const ReplayResult& result, std::size_t policy);

struct ReplayOptions {
  unsigned threads = 1;
  /// False where only the comparison is wanted: what became of each job is then in no replication.
  bool keep_records = true;
  /// False where nobody asks how long decisions took.
  bool time_decisions = true;
  EngineChoice engine = EngineChoice::kEvents;
  BatchGpuUse gpu;  ///< for the batch engine, where no records are kept; its threads are `threads`
  const std::atomic<bool>* stop = nullptr;  ///< set from outside: finish what is running, then end
  /// Called once per finished replication, one call at a time, in any order, from worker threads.
  std::function<void(const Replication&, std::size_t finished, std::size_t total)> on_finished;
};

/// Runs the experiment's replications on `threads` threads. The result depends neither on how many
/// there are nor on the engine. Throws what a replication throws (the one with the lowest number), and
/// InputError where EngineChoice::kBatch cannot be had for a policy.
ReplayResult replay(const Experiment& experiment, const ReplayOptions& options);

}  // namespace corun
