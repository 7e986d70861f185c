#include "results/replay_result.hpp"

#include <algorithm>

namespace corun::inline results {

std::vector<FailedRun> failed_runs(const ReplayResult& result) {
  std::vector<FailedRun> failed;
  for (const Replication& r : result.replications) {
    for (std::size_t p = 0; p < r.runs.size(); ++p) {
      if (!r.runs[p].failure.empty()) failed.push_back({p, r.number, r.runs[p].failure});
    }
  }
  std::ranges::stable_sort(failed, {}, &FailedRun::policy);
  return failed;
}

DecisionTimes decision_times(const ReplayResult& result, std::size_t policy) {
  DecisionTimes all;
  for (const Replication& r : result.replications) all.add(r.runs[policy].pass_times);
  return all;
}

PlanLosses plan_losses(const ReplayResult& result, std::size_t policy) {
  PlanLosses all;
  for (const Replication& r : result.replications) all.add(r.runs[policy].losses);
  return all;
}

}  // namespace corun::inline results
