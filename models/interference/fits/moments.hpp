#pragma once

#include <vector>

/// Mean and standard deviation by which fits of interference models standardise features and log slowdowns.
namespace corun::inline models {

struct Moments {
  double mean = 0;
  double deviation = 0;  ///< 0: all numbers are equal up to rounding, or none is known
};

/// Moments of the numbers that are not NaN, with the deviation of the population. A deviation of at most 1e-9
/// of the largest modulus, or of `least_scale` if that is larger, counts as rounding.
Moments moments_of(const std::vector<double>& values, double least_scale);

/// Moments of one or more log slowdowns t = -log(speed). The deviation has a prior of 0.3 at the weight of
/// two log slowdowns, because a few equal values do not show that others are equal.
Moments log_slowdown_moments(const std::vector<double>& log_slowdowns);

}  // namespace corun::inline models
