#pragma once

#include <string>

#include "results/replay_result.hpp"
#include "runner/experiment/experiment.hpp"
#include "support/json.hpp"
#include "support/statistics/interval_coverage.hpp"

/// What `corun replay --coverage` prints.
namespace corun::inline runner {

/// Throws InputError for fewer than kFewestForCoverage replications.
void check_coverage(std::size_t replications);

/// interval_coverage() of a finished replay.
std::vector<IntervalCoverage> coverage_of_intervals(const Experiment& experiment,
                                                    const ReplayResult& result);

/// One row per policy and metric: the share of intervals that hold the mean, %, by number of replications;
/// "~" marks cells in which most intervals are marked as approximate.
std::string coverage_table(const Experiment& experiment,
                           const std::vector<IntervalCoverage>& coverage);
/// [{"policy", "metric", "n3": {"held", "approximate"}, ...}], fractions.
Json coverage_json(const Experiment& experiment, const std::vector<IntervalCoverage>& coverage);
/// policy,metric,n,held,approximate
std::string coverage_csv(const Experiment& experiment,
                         const std::vector<IntervalCoverage>& coverage);

}  // namespace corun::inline runner
