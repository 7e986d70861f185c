#pragma once

#include <array>
#include <span>
#include <vector>

#include "sim/base/nan.hpp"
#include "sim/records/metrics.hpp"

/// Confidence intervals of means over replications (DESIGN section 3): Student's t, mean -+ t s / sqrt(n).
///
/// experiments/intervals/README.md has the coverage. A bootstrap of percentiles is too narrow for few replications, and a
/// bootstrap of t too wide for three. Intervals and p-values come from the same t, so they never contradict.
namespace corun::inline support {

/// Fewer values than this have no interval and no p-value: three say how much they vary, two hardly.
inline constexpr std::size_t kFewestReplications = 3;

/// Mean and its 95 % interval, in the unit of the values; lo <= mean <= hi. `lo` and `hi` are NaN for fewer
/// than kFewestReplications values, and all three if there is none.
struct Interval {
  double mean = kNaN;
  double lo = kNaN;
  double hi = kNaN;
  /// The values are too few or too skewed to rely on 95 %: n < 10, or n < 25 g^2 with their skewness g
  /// (Cochran, "Sampling Techniques", 1977, section 2.15), or more than half of them are equal (all: n < 100).
  bool approximate = false;

  bool known() const { return lo == lo; }
  /// Whether all values were equal.
  bool is_point() const { return lo == hi; }
  /// Whether the interval excludes 0; false if there is none.
  bool excludes_zero() const { return lo > 0 || hi < 0; }
  Interval negated() const { return {0 - mean, 0 - hi, 0 - lo, approximate}; }  // never -0
};

using MetricIntervals = std::array<Interval, kMetricCount>;

struct Comparison {
  /// By policy, in the order of `values`.
  std::vector<MetricIntervals> policies;
  /// versus[a][b]: policy a minus policy b, paired by replication; NaN for a = b.
  std::vector<std::vector<MetricIntervals>> versus;
};

/// Interval of the mean of independent `values`, which contain no NaN.
Interval mean_interval(std::span<const double> values);

/// Two-sided p-value of the hypothesis that the mean of independent `values` is 0: below 0.05 exactly if
/// mean_interval() excludes 0. Equal values, up to rounding, give 0, or 1 if they are 0. NaN for fewer than
/// kFewestReplications values.
double t_test(std::span<const double> values);

/// `values[p][r]` are the metrics of policy p in replication r. A replication that does not define a metric
/// (NaN) is left out of that metric's mean. A difference of two policies is over the replications that define
/// the metric for both: they share arrivals, true costs and noise. Time is O(policies^2 x replications).
Comparison compare(const std::vector<std::vector<MetricValues>>& values);

}  // namespace corun::inline support
