#pragma once

#include <atomic>
#include <functional>
#include <string>
#include <vector>

#include "results/replay_result.hpp"
#include "runner/experiment/experiment.hpp"

/// Replays a workload under several policies and many seeds.
namespace corun::inline runner {

struct ReplayOptions {
  unsigned threads = 1;
  /// False: replications have metrics and usage only, no records of jobs and episodes.
  bool keep_records = true;
  /// False: decision times are not measured.
  bool time_decisions = true;
  /// True: ReplayResult::jct_by_policy is filled.
  bool count_jct = false;
  const std::atomic<bool>* stop =
      nullptr;  ///< when set, running replications stop and no more start
  /// Called once per finished replication, from worker threads, one call at a time, in any order.
  std::function<void(const Replication&, std::size_t finished, std::size_t total)> on_finished;
};

/// Runs the experiment's replications on `threads` threads. The result does not depend on their
/// number. Throws the exception of the failed replication with the lowest number.
ReplayResult replay(const Experiment& experiment, const ReplayOptions& options);

}  // namespace corun::inline runner
