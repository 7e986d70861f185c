#pragma once

#include "models/formulas/math.hpp"

/// What any number of co-runners costs by what each of them does: the excesses 1/s - 1 beside each of
/// them add up in the norm of this exponent (InterferenceModel::predict_co_runners() says why).
namespace corun {

inline constexpr double kCoRunnerExponent = 1.25;

class CoRunnerNorm {
 public:
  /// Beside one more: at this speed if it were the only one.
  CORUN_HOST_DEVICE_INLINE void add(double speed) {
    sum_ += power(math::max(0.0, 1 / speed - 1), kCoRunnerExponent);
  }
  CORUN_HOST_DEVICE_INLINE double speed() const {
    return 1 / (1 + power(sum_, 1 / kCoRunnerExponent));
  }

 private:
  /// x^p of x >= 0, p > 0: 0 of 0, since log(0) is minus infinity.
  CORUN_HOST_DEVICE_INLINE static double power(double x, double p) {
    return math::exp(p * math::log(x));
  }

  double sum_ = 0;
};

}  // namespace corun
