#pragma once

#include "models/formulas/math.hpp"

/// What models of t = -log(speed) say of one direction of a pair.
namespace corun {

struct LogSlowdown {
  double t = 0;
  double sd = 0;  ///< of a single co-run's
};

namespace math {

/// exp(-log slowdown), finite and above 0 whatever it is.
CORUN_HOST_DEVICE_INLINE double speed_of(double log_slowdown) {
  constexpr double kLargestExponent = 300;
  return exp(-min(max(log_slowdown, -kLargestExponent), kLargestExponent));
}

}  // namespace math

}  // namespace corun
