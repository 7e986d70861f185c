#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "sim/metrics.hpp"

/// Confidence intervals over replications (DESIGN section 3).
namespace corun {

/// Mean and its 95 % percentile-bootstrap interval; lo <= mean <= hi. NaN throughout where no
/// replication defines the metric.
struct Interval {
  double mean = 0;
  double lo = 0;
  double hi = 0;
};

using MetricIntervals = std::array<Interval, kMetricCount>;

struct Comparison {
  std::vector<MetricIntervals> policies;
  /// versus[a][b]: policy a minus policy b, paired by replication.
  std::vector<std::vector<MetricIntervals>> versus;
};

inline constexpr int kResamples = 1000;

/// Interval of a mean over independent values; not empty.
Interval bootstrap_mean(std::span<const double> values, std::uint64_t seed);

/// `values[p][r]` are the metrics of policy p in replication r. All policies are resampled with the
/// same replications (they share arrivals, true costs and noise), so a difference of resampled means
/// is the mean of resampled differences. kResamples resamples, keyed by (seed, resample).
/// A replication that does not define a metric is left out of that metric's means; from the
/// difference of two policies it is left out where either of them does not define it. Threads change
/// nothing but the time: O(kResamples x policies x replications).
Comparison compare(const std::vector<std::vector<MetricValues>>& values, std::uint64_t seed,
                   unsigned threads = 1);

}  // namespace corun
