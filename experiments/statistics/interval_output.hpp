#pragma once

#include <string>

#include "experiments/base/json.hpp"
#include "experiments/statistics/bootstrap.hpp"

/// Intervals as JSON and text.
namespace corun {

/// {"mean", "lo", "hi"}.
Json interval_json(const Interval& interval);

/// "mean [lo, hi]", each times `scale`, with `digits` digits after the point; "-" if the mean is
/// NaN.
std::string interval_text(const Interval& interval, double scale, int digits);

}  // namespace corun
