#include "support/time_unit.hpp"

namespace corun::inline support {

TimeUnit time_unit(double largest_s) {
  constexpr double kMinute = 60;
  constexpr double kHour = 60 * kMinute;
  constexpr double kDay = 24 * kHour;
  if (largest_s >= 4 * kDay) return {"days", kDay};
  if (largest_s >= 5 * kHour) return {"h", kHour};
  if (largest_s >= 1000) return {"min", kMinute};
  return {};
}

}  // namespace corun::inline support
