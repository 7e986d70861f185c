#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "live/run/live_ledger.hpp"
#include "live/run/queue_prediction.hpp"
#include "sim/records/event_log.hpp"
#include "sim/records/run_details.hpp"
#include "support/statistics/mean_interval.hpp"

/// One policy's run of a queue on real GPUs, with the simulator's prediction of it.
namespace corun::live {

struct PolicyResult {
  PredictedPolicy predicted;
  MetricValues measured{};
  RunRecord record;
  std::vector<LiveRun> runs;
  EventLog log;
  RunDetails details;     ///< unless measure.details is false
  bool complete = false;  ///< false: the run was cut short
  /// Whether the policy decided the same when the run was played back from its record; nullopt: not tried.
  std::optional<bool> repeats;
  std::string difference;  ///< the first decision that differed

  const std::string& label() const { return predicted.label; }
};

/// Measured minus predicted over the jobs that finished, with 95 % bootstrap intervals over jobs.
struct PredictionError {
  std::size_t jobs = 0;
  Interval isd;  ///< a fraction
  Interval jct_s;
};

/// nullopt if no job finished in both.
std::optional<PredictionError> prediction_error(const PolicyResult& result);

}  // namespace corun::live
