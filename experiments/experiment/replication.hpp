#pragma once

#include <atomic>
#include <cstddef>
#include <functional>
#include <memory>
#include <vector>

#include "experiments/experiment/decision_times.hpp"
#include "models/knowledge/knowledge_base.hpp"
#include "sim/event_log.hpp"
#include "sim/metrics.hpp"
#include "sim/run_record.hpp"
#include "traces/trace.hpp"

/// What running an experiment gives, and how a run is watched.
namespace corun {

/// One policy's run within a replication.
struct PolicyRun {
  RunRecord record;
  MetricValues metrics;
  double decide_s = 0;  ///< wall-clock spent in decisions; never part of the results
  double longest_decision_s = 0;
  DecisionTimes pass_times;  ///< the same, by scheduling pass
  PlanLosses losses;         ///< of plans that are not the best by construction
};

/// All policies of one seed, on the same workload, true costs and noise.
struct Replication {
  std::size_t number = 0;
  std::shared_ptr<const Trace> trace;
  std::vector<PolicyRun> runs;  ///< one per policy, in their order
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

}  // namespace corun
