#pragma once

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "results/replay_result.hpp"
#include "runner/experiment/policy_instances.hpp"
#include "support/statistics/mean_interval.hpp"

/// Throughput, goodput and restarts of elastic jobs in a replay (docs/design.md 4.22), from ElasticMeans of its runs.
namespace corun::inline runner {

/// Means over replications with their intervals, by name: `restarts` [1], and where jobs tell how many samples they train on
/// `throughput_per_s` and `goodput_per_s` [samples/s] and `efficiency` [1]. Empty if the policy had no such jobs.
std::vector<std::pair<std::string, Interval>> elastic_figures(const ReplayResult& result,
                                                              std::size_t policy);

/// A table with a row for each policy; "" without such jobs.
std::string elastic_table(const std::vector<PolicyInstance>& policies, const ReplayResult& result);

}  // namespace corun::inline runner
