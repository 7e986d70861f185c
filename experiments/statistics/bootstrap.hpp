#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "sim/metrics.hpp"

/// Confidence intervals over replications (DESIGN section 3).
namespace corun {

/// Mean and its 95 % percentile-bootstrap interval, in the unit of the values; lo <= mean <= hi.
/// All three are NaN if no replication defines the metric.
struct Interval {
  double mean = 0;
  double lo = 0;
  double hi = 0;
};

using MetricIntervals = std::array<Interval, kMetricCount>;

struct Comparison {
  /// By policy, in the order of `values`.
  std::vector<MetricIntervals> policies;
  /// versus[a][b]: policy a minus policy b, paired by replication.
  std::vector<std::vector<MetricIntervals>> versus;
};

inline constexpr int kResamples = 1000;

/// Interval of the mean of independent `values`, which must not be empty.
Interval bootstrap_mean(std::span<const double> values, std::uint64_t seed);

/// `values[p][r]` are the metrics of policy p in replication r. All policies are resampled with the
/// same replications (they share arrivals, true costs and noise), so a difference of resampled
/// means is the mean of resampled differences. kResamples resamples, keyed by (seed, resample). A
/// replication that does not define a metric (NaN) is left out of that metric's means. A difference
/// of two policies uses the replications in which both define it. The result is the same for any
/// number of threads. Time is O(kResamples x policies x replications).
Comparison compare(const std::vector<std::vector<MetricValues>>& values, std::uint64_t seed,
                   unsigned threads = 1);

}  // namespace corun
