#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "results/replication.hpp"
#include "sim/jobs_on_types.hpp"
#include "support/statistics/mean_interval.hpp"

/// The result of a replay, or of a live run as a replay of one replication: the source of tables,
/// JSON and results file.
namespace corun::inline results {

/// Shares (0 to 1) of co-run time by source of its cost; all 0 without co-runs.
struct Coverage {
  double measured = 0;
  double modelled = 0;
  double extrapolated = 0;
  /// Shares of the jobs' time on GPUs by SoloSource of their speed there; nothing if jobs do not differ
  /// between the GPU types.
  std::optional<std::array<double, kSoloSources>> solo;
};

struct ReplayResult {
  std::vector<Replication> replications;  ///< finished ones, ascending by number
  Comparison comparison;
  Coverage coverage;  ///< over all policies
  std::vector<Coverage> coverage_by_policy;
  /// Completion times of all replications' jobs by policy (PolicyRun::jct); empty unless counted.
  std::vector<LogHistogram> jct_by_policy;
  /// Of a live run: the predicted run of each policy; else empty.
  std::vector<PolicyRun> predicted;
  bool interrupted = false;  ///< some replications were not run
};

/// A run that the policy's breach of a rule has ended.
struct FailedRun {
  std::size_t policy = 0;  ///< its index
  std::size_t replication = 0;
  std::string reason;
};

/// By policy, then replication.
std::vector<FailedRun> failed_runs(const ReplayResult& result);

/// Sums of one policy over all replications; `policy` is its index.
DecisionTimes decision_times(const ReplayResult& result, std::size_t policy);
PlanLosses plan_losses(const ReplayResult& result, std::size_t policy);

}  // namespace corun::inline results
