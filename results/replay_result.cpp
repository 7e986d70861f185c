#include "results/replay_result.hpp"

namespace corun::inline results {

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
