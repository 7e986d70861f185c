#include "experiments/statistics/interval_output.hpp"

#include <cmath>

#include <fmt/format.h>

namespace corun {

Json interval_json(const Interval& interval) {
  return {{"mean", json_number(interval.mean)},
          {"lo", json_number(interval.lo)},
          {"hi", json_number(interval.hi)}};
}

std::string interval_text(const Interval& interval, double scale, int digits) {
  if (std::isnan(interval.mean)) return "-";
  return fmt::format("{:.{}f} [{:.{}f}, {:.{}f}]", scale * interval.mean, digits,
                     scale * interval.lo, digits, scale * interval.hi, digits);
}

}  // namespace corun
