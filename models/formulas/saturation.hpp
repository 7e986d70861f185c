#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>

#include "models/formulas/co_runner_rule.hpp"
#include "sim/base/math.hpp"

/// Speed of equal jobs of which it is known how much of the GPU's capacity each needs.
///
/// The pair of a job that leaves half of the GPU idle, and of one that leaves three quarters idle, runs at full speed;
/// five of them do not. So the load of the job takes the place of its pair's excess (co_runner_rule.hpp):
///
///   log s_k = -(log(1 + (k u / c_k)^q) - log(1 + (u / c_k)^q)) / q,  q = kBuildUp
///   c_k = k / ((1 + (k - 1) e) g),  e = 2 / g - 1
///
/// u: the rate of the job alone over the capacity, the rate that two copies cannot exceed. g, 1 to 2: the rate of two copies over
/// that of one, for the job of the family with the highest rate on the same share of the GPU. That job is taken to leave
/// nothing idle, so its excess e adds up, and c_k is the rate of k copies over that of two; c_2 = 1.
namespace corun {

struct Saturation {
  double log_load = 0;     ///< log u
  double log_load_sd = 0;  ///< standard deviation, at least 0
  double log_gain = 0;     ///< log g; counts as 0 to log 2
  double log_gain_sd = 0;  ///< standard deviation, at least 0

  /// Numbers that measured rates can give; all finite.
  bool is_possible() const {
    constexpr double kMost = 30;
    return std::fabs(log_load) <= kMost && log_load_sd >= 0 && log_load_sd <= kMost &&
           std::fabs(log_gain) <= kMost && log_gain_sd >= 0 && log_gain_sd <= kMost;
  }
  double gain() const { return std::clamp(math::exp(log_gain), 1.0, 2.0); }
  friend bool operator==(const Saturation&, const Saturation&) = default;
};

/// log(1 + u^q) by the logarithm of u.
inline double log_with_load(double log_load) {
  const double power = kBuildUp * log_load;
  return math::max(power, 0.0) + math::log1p(math::exp(-math::max(power, -power)));
}
/// Its derivative by the logarithm of u, over q.
inline double share_of_load(double log_load) { return 1 / (1 + math::exp(-kBuildUp * log_load)); }

/// log(k s_k) for k equal jobs of load u on a GPU of capacity c.
inline double log_joint_speed(double log_load, double log_capacity, double log_count) {
  const double load = log_load - log_capacity;
  return log_count - (log_with_load(load + log_count) - log_with_load(load)) / kBuildUp;
}

/// log c_k, for k = `count`, 2 or more. `rule`: how excesses of jobs that leave nothing idle combine.
inline double log_capacity(const Saturation& job, std::size_t count,
                           const CoRunnerRule& rule = {1, 0}) {
  const double of_pair = job.gain() / 2;
  return math::log(static_cast<double>(count) / 2 * speed_among_equals(of_pair, count, rule) /
                   of_pair);
}

/// log s_k of one of `count` equal jobs, 2 or more, and its standard deviation: from that of u, from what possible rules
/// for c_k differ by, and from repetitions.
struct LogSpeed {
  double mean = 0;
  double sd = 0;
};
inline LogSpeed log_speed_among_equals(const Saturation& job, std::size_t count) {
  const double log_count = math::log(static_cast<double>(count));
  const double capacity = log_capacity(job, count);
  const double mean = log_joint_speed(job.log_load, capacity, log_count) - log_count;
  const double least =
      log_joint_speed(job.log_load, log_capacity(job, count, kMostExcessRule), log_count) -
      log_count;
  const double load = job.log_load - capacity;
  const double slope = share_of_load(load + log_count) - share_of_load(load);
  const double of_load = slope * job.log_load_sd;
  // d log c_k / d log g = 2 (k - 1) / (g + (k - 1) (2 - g)) - 1
  const auto others = static_cast<double>(count - 1);
  const double by_gain = 2 * others / (job.gain() + others * (2 - job.gain())) - 1;
  const double of_gain = slope * by_gain * job.log_gain_sd;
  const double of_rule = deviation_between(mean - least);
  return {mean, math::sqrt(of_load * of_load + of_gain * of_gain + of_rule * of_rule +
                           kRepetition * kRepetition)};
}

}  // namespace corun
