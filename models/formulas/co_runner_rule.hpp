#pragma once

#include <array>
#include <cstddef>

#include "sim/base/math.hpp"
#include "sim/sharing.hpp"

/// Speed of a job beside any number of co-runners, from its speeds beside each of them alone.
///
/// With x_j = 1/s_j - 1 the excess beside co-runner j alone, the speed is a mean of two:
///
///   s = (1 - w) / (1 + X) + w / (1 + Y)
///   X = max((sum_j x_j^p)^(1/p), sum_j x_j + min(e, 1) - 1)          all co-runners pooled
///   Y = X                            if e >= 1
///   Y = ((1 + (m+1)^q z) / (1 + z))^(1/q) - 1,  z = ((1+e)^q - 1) / (2^q - (1+e)^q),  q = kKneeExponent      else
///
/// e = sum_j x_j^2 / sum_j x_j is the excess of a typical co-runner, m = X / e the number of such co-runners.
/// For two jobs X = Y = x_j. X is at least what the GPU's load needs: no co-runner costs more time than it uses the GPU,
/// so m equal ones and the job need (m + 1) min(e, 1) of it; from e = 1 on excesses add up.
///
/// Two jobs on one GPU do more per second than one for one of two reasons. Either one job alone leaves the GPU idle for
/// a part of the time. Then a group slows down little until its load is one GPU, and in proportion from there on. Y is that:
/// a soft maximum of 1 and of the load of m + 1 jobs, u = z^(1/q) each. Or one job alone keeps the GPU busy and cannot use
/// all of its units, however large the batch. Then excesses add up: X. w is the probability of the first reason.
///
/// kSlicingRule was chosen on the two groups of JRS Tables V and VI. For kMpsRule excesses add up, and both reasons are
/// equally likely. kKneeExponent is the exponent at which ParvaGPU's pairs are likeliest (models/interference/groups/saturations.hpp).
///
/// Range: compared with measured groups of three to nine jobs. Known error of the predicted ISD, in percentage points: by
/// time-slicing 1.1 for the five and 5.1 for the nine jobs on which p was chosen (docs/models.md), 9 and 18 for five and
/// seven copies of nos' network; by MPS 10 and 16 for those copies, and a mean of 9.0 over ParvaGPU's 568 groups of
/// three to five, where loads are known, too (experiments/interference/accuracy.md, "Groups").
namespace corun::inline models {

struct CoRunnerRule {
  double pooling = 1.25;  ///< p, at least 1
  double idle = 0;        ///< w, probability that jobs alone leave the GPU idle, 0 to 1
  /// How far groups lie from the rule, relative to how far rules lie from each other (kLeastExcessRule); above 0.
  double scatter = 1;

  friend bool operator==(const CoRunnerRule&, const CoRunnerRule&) = default;
};

/// q: how sharp the knee of throughput is at which the load of a group reaches one GPU.
inline constexpr double kKneeExponent = 6;

inline constexpr CoRunnerRule kSlicingRule{};
inline constexpr CoRunnerRule kMpsRule{1, 0.5};

/// The ends of what a rule may be (the corners of the grid in models/interference/groups/group_rules.cpp). For two jobs they agree.
inline constexpr CoRunnerRule kLeastExcessRule{2, 0};
inline constexpr CoRunnerRule kMostExcessRule{1, 1};

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
    const double added = 1 / (1 + pooled);
    if (rule_.idle == 0 || typical >= 1 || sum_ <= kLeastExcess) return added;
    const double beside_one = power(1 + typical, kKneeExponent);
    const double load = (beside_one - 1) / (power(2, kKneeExponent) - beside_one);
    const double all = power(pooled / typical + 1, kKneeExponent) * load;
    // Rounding must not make the group faster than its pooled pairs.
    const double built_up = math::min(added, power((1 + load) / (1 + all), 1 / kKneeExponent));
    return (1 - rule_.idle) * added + rule_.idle * built_up;
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

/// Speed of one of `count` equal jobs, 1 or more, that run at `pair` beside one other.
inline double speed_among_equals(double pair, std::size_t count, const CoRunnerRule& rule) {
  CoRunnerSpeed others(rule);
  for (std::size_t i = 1; i < count; ++i) others.add(pair);
  return others.speed();
}

/// Standard deviation of the log speed of a group whose jobs do not slow each other down: what repetitions differ by.
inline constexpr double kRepetition = 0.02;

/// Standard deviation of a uniform distribution of this width.
inline double deviation_between(double width) {
  constexpr double kRootOf12 = 3.4641016151377544;
  return width / kRootOf12;
}

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
  double value() const { return deviation_between(math::log(least_.speed() / most_.speed())); }

 private:
  CoRunnerSpeed least_{kLeastExcessRule};
  CoRunnerSpeed most_{kMostExcessRule};
};

}  // namespace corun::inline models
