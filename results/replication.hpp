#pragma once

#include <atomic>
#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "models/knowledge/knowledge_base.hpp"
#include "results/decision_times.hpp"
#include "services/service_run.hpp"
#include "sim/records/event_log.hpp"
#include "sim/records/metrics.hpp"
#include "sim/records/run_details.hpp"
#include "sim/records/run_record.hpp"
#include "support/statistics/log_histogram.hpp"
#include "traces/trace.hpp"

/// The result of running an experiment, and options for observing a run.
namespace corun::inline results {

/// One policy's run within a replication.
struct PolicyRun {
  RunRecord record;
  MetricValues metrics;
  ElasticMeans elastic;  ///< of the jobs that metrics cover
  double decide_s = 0;   ///< wall-clock time of decisions; never part of the results
  double longest_decision_s = 0;
  DecisionTimes pass_times;  ///< wall-clock time by scheduling pass
  PlanLosses losses;         ///< of plans with a proven bound
  /// Completion times of the jobs that metrics cover [s], in bins of about 2 %; empty unless asked
  /// for by RunObservation::count_jct.
  LogHistogram jct{1e-9, 32};
  std::vector<ServiceOutcome> services;  ///< of the workload's services, in their order
  RunDetails details;                    ///< as far as asked for by RunObservation::details
  /// The rule that the policy broke, and how; empty: none. Such a run has no records, and its metrics are undefined.
  std::string failure;
};

/// All policies of one seed, on the same workload, true costs and noise.
struct Replication {
  std::size_t number = 0;
  std::shared_ptr<const Trace> trace;  ///< shared with the replications that have the same jobs
  std::vector<PolicyRun> runs;         ///< one per policy, in their order
  /// By JobId, Experiment::clusters_of(); empty unless details are kept.
  std::vector<int> clusters;
};

/// Thrown by a run after `stop` was set.
struct Interrupted {};

/// Optional observation of a run.
struct RunObservation {
  const std::atomic<bool>* stop = nullptr;  ///< checked at each decision and while a policy waits
  EventLog* log = nullptr;
  /// False: only metrics and usage of a run are kept, not the records of jobs and episodes.
  bool keep_records = true;
  /// False: decision times stay 0.
  bool time_decisions = true;
  /// True: PolicyRun::jct is filled.
  bool count_jct = false;
  DetailLimits details = {};  ///< what PolicyRun::details has
  /// Called after each finished co-run and probe with the policy's knowledge base (policies that have one).
  std::function<void(Time, const KnowledgeBase&)> on_learned = {};
};

}  // namespace corun::inline results
