#pragma once

/// One direction of a pair, as a formula predicts it.
namespace corun::inline models {

struct SpeedBelief {
  double speed = 1;    ///< median of the normalised speed, above 0
  double sd = 0;       ///< standard deviation of the speed of a single co-run
  double inverse = 1;  ///< 1 / speed, correctly rounded
};

}  // namespace corun::inline models
