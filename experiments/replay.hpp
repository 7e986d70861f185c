#pragma once

#include <atomic>
#include <functional>
#include <string>
#include <vector>

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

struct ReplayResult {
  std::vector<Replication> replications;  ///< finished ones, ascending by number
  Comparison comparison;
  Coverage coverage;  ///< over all policies
  std::vector<Coverage> coverage_by_policy;
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
  const std::atomic<bool>* stop = nullptr;  ///< set from outside: finish what is running, then end
  /// Called once per finished replication, one call at a time, in any order, from worker threads.
  std::function<void(const Replication&, std::size_t finished, std::size_t total)> on_finished;
};

/// Runs the experiment's replications on `threads` threads. The result does not depend on how
/// many there are. Throws what a replication throws (the one with the lowest number).
ReplayResult replay(const Experiment& experiment, const ReplayOptions& options);

}  // namespace corun
