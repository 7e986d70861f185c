#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "sim/records/metrics.hpp"

/// How often mean_interval() holds the true mean, measured on the replications themselves: draw n of them,
/// and see whether their interval holds the mean of all others. 95 % is right. One draw serves all policies
/// and metrics.
namespace corun::inline support {

inline constexpr std::array<std::size_t, 4> kCoverageSizes = {3, 5, 10, 30};
inline constexpr std::size_t kCoverageTrials = 2000;
/// The mean of the others stands for the truth: its error must be small beside that of 30 replications.
inline constexpr std::size_t kFewestForCoverage = 1000;

/// Shares of the trials of one policy and metric, by size in the order of kCoverageSizes; NaN if no trial of
/// that size defined the metric at least kFewestReplications times.
struct IntervalCoverage {
  std::size_t policy = 0;
  Metric metric = Metric::kIsd;
  std::array<double, kCoverageSizes.size()> held{};  ///< intervals that hold the mean of the others
  std::array<double, kCoverageSizes.size()> approximate{};  ///< intervals marked as approximate
};

/// One entry per policy and metric that varies, by policy, then metric. `values[p][r]` as of compare(), with
/// kFewestForCoverage replications or more. kCoverageTrials trials per size, keyed by (seed, trial).
std::vector<IntervalCoverage> interval_coverage(
    const std::vector<std::vector<MetricValues>>& values, std::uint64_t seed);

}  // namespace corun::inline support
