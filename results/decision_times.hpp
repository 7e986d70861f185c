#pragma once

#include <cstddef>
#include <string>

#include "support/statistics/log_histogram.hpp"

/// Wall-clock times of scheduling passes, never part of the results, and the losses of plans.
namespace corun::inline results {

class DecisionTimes {
 public:
  /// Adds the time of one pass [s].
  void add(double seconds) { times_.add(seconds); }
  void add(const DecisionTimes& other) { times_.add(other.times_); }

  std::size_t passes() const { return times_.count(); }
  double max_s() const { return times_.max(); }  ///< exact
  /// LogHistogram::quantile() [s].
  double quantile_s(double share) const { return times_.quantile(share); }

 private:
  LogHistogram times_{1e-9, 16};  ///< clocks resolve no less than 1 ns; bins of about 4 %
};

/// "1234 passes, p50 1.2 us, p95 3 us, p99 8 us, longest 1.1 ms".
std::string text_of(const DecisionTimes& times);

/// Bounds on how far a policy's plans may be above the optimum, as fractions of the plan's cost.
struct PlanLosses {
  std::size_t plans = 0;  ///< number of plans with a bound
  double sum = 0;
  double worst = 0;

  /// `least`: the proven lower bound of `cost`, in its unit.
  void add(double cost, double least);
  void add(const PlanLosses& other);
};

}  // namespace corun::inline results
