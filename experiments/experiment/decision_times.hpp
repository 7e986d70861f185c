#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

/// Wall-clock times of scheduling passes, counted in bins of ratio 2^(1/16), about 4 %, so that
/// memory does not grow with the number of passes. Never part of the results.
namespace corun {

class DecisionTimes {
 public:
  /// Adds the time of one pass [s].
  void add(double seconds);
  void add(const DecisionTimes& other);

  std::size_t passes() const { return passes_; }
  double max_s() const { return max_s_; }  ///< exact
  /// The quantile at `share` (0 to 1) [s], rounded up to the end of its bin but not above max_s();
  /// 0 without passes.
  double quantile_s(double share) const;

 private:
  std::vector<std::uint32_t> bins_;  ///< passes per bin, up to the highest non-empty bin
  std::size_t passes_ = 0;
  double max_s_ = 0;
};

/// "1234 passes, p50 1.2 us, p95 3 us, p99 8 us, longest 1.1 ms".
std::string text_of(const DecisionTimes& times);

/// Bounds on how far a policy's plans may be above the optimum, as fractions of the plan's cost.
struct PlanLosses {
  std::size_t plans = 0;  ///< number of plans with a bound
  double sum = 0;
  double worst = 0;

  void add(double cost, double least);
  void add(const PlanLosses& other);
};

}  // namespace corun
