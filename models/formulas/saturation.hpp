#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>

#include "models/formulas/co_runner_rule.hpp"
#include "sim/base/math.hpp"

/// Speed of copies of a job whose load is known: the share of the GPU's capacity that it uses alone.
///
/// Two copies of a job of load 0.5 run at full speed, and so do two of load 0.25. Five copies of the first need 2.5 GPUs,
/// five of the second 1.25. So the load takes the place of the pair's excess (co_runner_rule.hpp):
///
///   log s_k = -(log(1 + (k u / c_k)^q) - log(1 + (u / c_k)^q)) / q,  q = kKneeExponent
///   c_k = k / ((1 + (k - 1) e) g),  e = 2 / g - 1
///
/// u: the rate of the job alone over the capacity, the rate that two copies cannot exceed. g, 1 to 2: 1 / u of the job of
/// the family with the highest rate on the same share of the GPU. That job is assumed to keep the GPU busy, so its excesses
/// e add up. c_k is the capacity for k copies over that for two; c_2 = 1. s_k is at most the speed by kLeastExcessRule from
/// the job's own pair.
///
/// Range: copies of one job by MPS; compared with ParvaGPU's 568 groups of three to five copies on slices of an A100. Known
/// error there: MAE of ISD 9.0 percentage points, 10.4 where the jobs' programs are not known
/// (experiments/interference/accuracy.md, "Groups").
namespace corun::inline models {

struct Saturation {
  double log_load = 0;                                          ///< log u
  double log_gain = 0;                                          ///< log g; counts as 0 to log 2
  double load_variance = 0, gain_variance = 0, covariance = 0;  ///< of these two

  /// Whether a fit can give these numbers; all are finite.
  bool is_possible() const {
    constexpr double kMost = 30;
    constexpr double kMostVariance = 9;
    return std::fabs(log_load) <= kMost && std::fabs(log_gain) <= kMost && load_variance >= 0 &&
           load_variance <= kMostVariance && gain_variance >= 0 && gain_variance <= kMostVariance &&
           std::fabs(covariance) <= kMostVariance;
  }
  double gain() const { return std::clamp(math::exp(log_gain), 1.0, 2.0); }
  friend bool operator==(const Saturation&, const Saturation&) = default;
};

/// log(1 + u^q) by the logarithm of u.
inline double log_with_load(double log_load) {
  const double power = kKneeExponent * log_load;
  return math::max(power, 0.0) + math::log1p(math::exp(-math::max(power, -power)));
}
/// Its derivative by the logarithm of u, over q.
inline double share_of_load(double log_load) {
  return 1 / (1 + math::exp(-kKneeExponent * log_load));
}

/// log c_k, for k = `count`, 2 or more. `rule`: how the excesses e combine.
inline double log_capacity(const Saturation& job, std::size_t count,
                           const CoRunnerRule& rule = {1, 0}) {
  const double of_pair = job.gain() / 2;
  return math::log(static_cast<double>(count) / 2 * speed_among_equals(of_pair, count, rule) /
                   of_pair);
}

/// log s_k of one of `count` copies, 2 or more, by their load alone, and its derivatives by log u and, where excesses add
/// up, by log g.
struct SpeedByLoad {
  double log_speed = 0;
  double by_log_load = 0, by_log_gain = 0;
};
inline SpeedByLoad speed_by_load(const Saturation& job, std::size_t count,
                                 const CoRunnerRule& rule = {1, 0}) {
  const double log_count = math::log(static_cast<double>(count));
  const double load = job.log_load - log_capacity(job, count, rule);
  const double log_speed = -(log_with_load(load + log_count) - log_with_load(load)) / kKneeExponent;
  const double slope = share_of_load(load + log_count) - share_of_load(load);
  // d log c_k / d log g = 2 (k - 1) / (g + (k - 1) (2 - g)) - 1
  const auto others = static_cast<double>(count - 1);
  const double of_gain = 2 * others / (job.gain() + others * (2 - job.gain())) - 1;
  return {log_speed, -slope, slope * of_gain};
}

/// log s_k and its standard deviation: from those of u and g, from what possible rules for c_k differ by, from
/// repetitions, and from the difference to the limit by the job's own pair. `pair`: its speed beside one copy, above 0.
struct LogSpeed {
  double mean = 0;
  double sd = 0;
};
inline LogSpeed log_speed_among_equals(const Saturation& job, std::size_t count, double pair) {
  const SpeedByLoad found = speed_by_load(job, count);
  const double most = math::log(speed_among_equals(pair, count, kLeastExcessRule));
  const double mean = math::min(found.log_speed, most);
  const double of_numbers = found.by_log_load * found.by_log_load * job.load_variance +
                            found.by_log_gain * found.by_log_gain * job.gain_variance +
                            2 * found.by_log_load * found.by_log_gain * job.covariance;
  const double of_rule =
      deviation_between(found.log_speed - speed_by_load(job, count, kMostExcessRule).log_speed);
  const double over_limit = found.log_speed - mean;
  // At most that of a uniform distribution from an equal share of the GPU to full speed.
  const double widest = deviation_between(math::log(static_cast<double>(count)));
  const double of_load =
      math::min(math::sqrt(math::max(of_numbers, 0.0) + of_rule * of_rule), widest);
  return {mean,
          math::sqrt(of_load * of_load + kRepetition * kRepetition + over_limit * over_limit)};
}

}  // namespace corun::inline models
