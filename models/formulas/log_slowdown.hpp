#pragma once

#include "sim/base/math.hpp"

/// One direction of a pair, as models of t = -log(speed) predict it.
namespace corun::inline models {

struct LogSlowdown {
  double t = 0;   ///< -log of the median of the normalised speed
  double sd = 0;  ///< standard deviation of t of a single co-run
};

/// exp(-log slowdown), with the exponent limited to +-300: finite and above 0.
CORUN_HOST_DEVICE_INLINE double speed_of_log_slowdown(double log_slowdown) {
  constexpr double kLargestExponent = 300;
  return math::exp(-math::min(math::max(log_slowdown, -kLargestExponent), kLargestExponent));
}

}  // namespace corun::inline models
