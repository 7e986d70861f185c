#pragma once

#include <vector>

/// Mean and deviation by which the fits of interference models standardise features and log slowdowns.
namespace corun {

struct Moments {
  double mean = 0;
  double deviation = 0;  ///< 0: all the same, but for rounding, or none known
};

/// Of the numbers known (not NaN); the deviation is that of the population. Numbers are the same but for
/// rounding where they deviate by less than 1e-9 of the largest of them, or of `least_scale` if that is
/// more.
Moments moments_of(const std::vector<double>& values, double least_scale);

/// Of log slowdowns, t = -log(speed); one at least. Where they are few, the deviation is mostly a prior's: 0.3,
/// worth two log slowdowns. Two that agree do not promise a third.
Moments log_slowdown_moments(const std::vector<double>& log_slowdowns);

}  // namespace corun
