#pragma once

#include <cstddef>
#include <vector>

#include "experiments/experiment/experiment.hpp"
#include "experiments/statistics/bootstrap.hpp"

/// The result of a replay (or of a live run, as a replay of one replication): what the tables, the JSON
/// and the results file are made of.
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
  bool interrupted = false;  ///< some replications were not run
};

/// Of this policy, over all replications.
DecisionTimes decision_times(const ReplayResult& result, std::size_t policy);
PlanLosses plan_losses(const ReplayResult& result, std::size_t policy);

}  // namespace corun
