#pragma once

#include "models/formulas/math.hpp"

/// What models of t = -log(speed) say of one direction of a pair.
namespace corun {

struct Slowness {
  double t = 0;
  double sd = 0;  ///< of a single co-run's
};

namespace math {

/// exp(-slowness), finite and above 0 whatever it is.
CORUN_HOST_DEVICE_INLINE double speed_of(double slowness) {
  constexpr double kLargestExponent = 300;
  return exp(-min(max(slowness, -kLargestExponent), kLargestExponent));
}

}  // namespace math

}  // namespace corun
