#pragma once

#include <array>
#include <cstddef>

#include "sim/base/math.hpp"
#include "sim/sharing.hpp"

/// Speed of a job beside any number of co-runners, from its speeds beside each of them alone.
///
/// With x_j = 1/s_j - 1 the excess beside co-runner j alone:
///
///   X = max((sum_j x_j^p)^(1/p), sum_j x_j + min(e, 1) - 1)          all co-runners pooled
///   x = X                            if q = 1 or e >= 1
///   x = ((1 + (m+1)^q z) / (1 + z))^(1/q) - 1,  z = ((1+e)^q - 1) / (2^q - (1+e)^q)      else
///
/// e = sum_j x_j^2 / sum_j x_j is the excess of a typical co-runner, m = X / e the number of such co-runners.
/// For two jobs x = x_j. X is at least what the GPU's load needs: no co-runner costs more time than it uses the GPU,
/// so m equal ones and the job need (m + 1) min(e, 1) of it; from e = 1 on excesses add up. The second line is a soft maximum of 1 and the GPU's load: of m + 1 jobs that each
/// need a share u = z^(1/q) of it. Jobs that leave each other room as a pair no longer do as a group, so
/// excesses build up faster than they add up, until the GPU is saturated (e = 1), where x = m.
///
/// kMpsRule is a closed queueing network: every job alternates between the GPU, which all share, and its host. p = 1,
/// and q makes the second line agree with the network's exact solution (mean-value analysis: Reiser and
/// Lavenberg 1980) in the mean over 3 to 8 equal jobs and all u. No measurement was used. kSlicingRule was chosen
/// on the two groups of JRS Tables V and VI.
namespace corun {

struct CoRunnerRule {
  double pooling = 1.25;  ///< p, at least 1
  double build_up = 1;    ///< q, at least 1
  /// How far groups lie from the rule, relative to how far rules lie from each other (kLeastExcessRule); above 0.
  double scatter = 1;

  friend bool operator==(const CoRunnerRule&, const CoRunnerRule&) = default;
};

inline constexpr CoRunnerRule kSlicingRule{};
inline constexpr CoRunnerRule kMpsRule{1, 2.5};

/// The ends of what a rule may be (the corners of the grid in interference/group_rules.cpp). For two jobs they agree.
inline constexpr CoRunnerRule kLeastExcessRule{2, 1};
inline constexpr CoRunnerRule kMostExcessRule{1, 6};

/// The rule for each Sharing, without measured groups.
inline constexpr std::array<CoRunnerRule, kSharings> kCoRunnerRules{kSlicingRule, kSlicingRule,
                                                                    kMpsRule, kSlicingRule};

class CoRunnerSpeed {
 public:
  CORUN_HOST_DEVICE_INLINE explicit CoRunnerSpeed(const CoRunnerRule& rule) : rule_(rule) {}

  /// Adds a co-runner. `speed` > 0: the job's normalised speed beside this co-runner only; above 1 counts as
  /// 1.
  CORUN_HOST_DEVICE_INLINE void add(double speed) {
    const double excess = math::max(0.0, 1 / speed - 1);
    pooled_ += power(excess, rule_.pooling);
    sum_ += excess;
    squares_ += excess * excess;
  }
  /// Normalised speed beside all co-runners added, in (0, 1]; 1 without any.
  CORUN_HOST_DEVICE_INLINE double speed() const {
    const double typical = squares_ / math::max(sum_, kLeastExcess);
    const double pooled =
        math::max(power(pooled_, 1 / rule_.pooling), sum_ + math::min(typical, 1.0) - 1);
    if (rule_.build_up == 1 || typical >= 1 || sum_ <= kLeastExcess) return 1 / (1 + pooled);
    const double q = rule_.build_up;
    const double beside_one = power(1 + typical, q);
    const double load = (beside_one - 1) / (power(2, q) - beside_one);
    const double all = power(pooled / typical + 1, q) * load;
    // Rounding must not make the group faster than its pooled pairs.
    return math::min(1 / (1 + pooled), power((1 + load) / (1 + all), 1 / q));
  }

 private:
  static constexpr double kLeastExcess = 1e-9;

  /// x^p for x >= 0 and p > 0. 0^p is 0, because log(0) is minus infinity.
  CORUN_HOST_DEVICE_INLINE static double power(double x, double p) {
    return math::exp(p * math::log(x));
  }

  CoRunnerRule rule_;
  double pooled_ = 0;
  double sum_ = 0;
  double squares_ = 0;
};

/// How far the log speed of a group may lie from that of its rule: the standard deviation if all rules between
/// kLeastExcessRule and kMostExcessRule are equally likely, 1 / sqrt(12) of what these two differ by.
class CoRunnerDeviation {
 public:
  /// As CoRunnerSpeed::add().
  void add(double speed) {
    least_.add(speed);
    most_.add(speed);
  }
  /// Of the log speed, at least 0.
  double value() const {
    constexpr double kRootOf12 = 3.4641016151377544;
    return math::log(least_.speed() / most_.speed()) / kRootOf12;
  }

 private:
  CoRunnerSpeed least_{kLeastExcessRule};
  CoRunnerSpeed most_{kMostExcessRule};
};

}  // namespace corun
