#pragma once

#include <atomic>
#include <functional>
#include <string>
#include <vector>

#include "experiments/experiment/experiment.hpp"
#include "experiments/results/replay_result.hpp"

/// The main job: one workload, several policies, many seeds.
namespace corun {

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
