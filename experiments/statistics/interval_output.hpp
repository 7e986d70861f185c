#pragma once

#include <string>

#include "experiments/base/json.hpp"
#include "experiments/statistics/bootstrap.hpp"

/// How intervals are written.
namespace corun {

/// {"mean", "lo", "hi"}.
Json interval_json(const Interval& interval);

/// "mean [lo, hi]", each times `scale` and with so many digits behind the point; "-" where there is none.
std::string interval_text(const Interval& interval, double scale, int digits);

}  // namespace corun
