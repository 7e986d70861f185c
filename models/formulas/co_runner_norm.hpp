#pragma once

#include "sim/base/math.hpp"

/// Speed of a job beside any number of co-runners, from its speeds beside each of them alone: the excesses
/// 1/s - 1 add up in the norm of exponent kCoRunnerExponent. InterferenceModel::predict_co_runners() states
/// the equation and how the exponent was chosen.
namespace corun {

inline constexpr double kCoRunnerExponent = 1.25;

class CoRunnerNorm {
 public:
  /// Adds a co-runner. `speed` > 0: the job's normalised speed beside this co-runner only; above 1 counts as
  /// 1.
  CORUN_HOST_DEVICE_INLINE void add(double speed) {
    sum_ += power(math::max(0.0, 1 / speed - 1), kCoRunnerExponent);
  }
  /// Normalised speed beside all co-runners added, in (0, 1]; 1 without any.
  CORUN_HOST_DEVICE_INLINE double speed() const {
    return 1 / (1 + power(sum_, 1 / kCoRunnerExponent));
  }

 private:
  /// x^p for x >= 0 and p > 0. 0^p is 0, because log(0) is minus infinity.
  CORUN_HOST_DEVICE_INLINE static double power(double x, double p) {
    return math::exp(p * math::log(x));
  }

  double sum_ = 0;
};

}  // namespace corun
