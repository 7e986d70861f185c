#pragma once

#include <string>

#include "support/json.hpp"
#include "support/statistics/mean_interval.hpp"

/// Intervals as JSON and text.
namespace corun::inline support {

/// {"mean", "lo", "hi", "approximate"}.
Json interval_json(const Interval& interval);

/// "mean [lo, hi]" of these three texts; "mean ~[lo, hi]" of an approximate interval; "mean" without an
/// interval, and of equal values.
std::string interval_text(const Interval& interval, const std::string& mean, const std::string& lo,
                          const std::string& hi);

/// The same, each times `scale`, with `digits` digits after the point; "-" if the mean is NaN.
std::string interval_text(const Interval& interval, double scale, int digits);

}  // namespace corun::inline support
