#pragma once

/// What a formula says of one direction of a pair.
namespace corun {

struct SpeedBelief {
  double speed = 1;    ///< normalised, median, above 0
  double sd = 0;       ///< standard deviation of a single co-run's speed
  double inverse = 1;  ///< 1 / speed, as IEEE rounds it
};

}  // namespace corun
