#include "support/statistics/interval_output.hpp"

#include <cmath>

#include <fmt/format.h>

namespace corun::inline support {

Json interval_json(const Interval& interval) {
  return {{"mean", json_number(interval.mean)},
          {"lo", json_number(interval.lo)},
          {"hi", json_number(interval.hi)},
          {"approximate", interval.approximate}};
}

std::string interval_text(const Interval& interval, const std::string& mean, const std::string& lo,
                          const std::string& hi) {
  if (!interval.known() || interval.is_point()) return mean;
  return fmt::format("{} {}[{}, {}]", mean, interval.approximate ? "~" : "", lo, hi);
}

std::string interval_text(const Interval& interval, double scale, int digits) {
  if (std::isnan(interval.mean)) return "-";
  const auto text = [&](double x) { return fmt::format("{:.{}f}", scale * x, digits); };
  return interval_text(interval, text(interval.mean), text(interval.lo), text(interval.hi));
}

}  // namespace corun::inline support
