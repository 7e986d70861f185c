#pragma once

#include <cmath>
#include <cstdint>

#include "sim/base/host_device.hpp"

/// Expected cost of putting two jobs together, and its value under an objective.
namespace corun::inline sim {

/// Expected cost of putting two jobs together; fractions.
struct PairBelief {
  double isd_a = 0;  ///< ISD of the first beside the second
  double isd_b = 0;  ///< ISD of the second beside the first
  double ps = 0;
  bool observed = true;  ///< false: never observed; a mean stands in
  /// Standard deviations of a single co-run around the expectation; 0 if the belief does not know
  /// them.
  double sd_a = 0;
  double sd_b = 0;
  double sd_ps = 0;
  /// How many co-runs the expectation is worth: sd / sqrt(co_runs) is the standard deviation of the
  /// expectation itself. Above 0.
  double co_runs = 1;
};

enum class Objective : std::uint8_t { kMinSlowdown, kBalance, kMaxPacking };

/// The cost by which pairs are ranked: smaller is better.
struct CostRule {
  Objective objective = Objective::kMinSlowdown;
  double risk = 0;  ///< standard deviations added to the expected cost, 0 or more
};

/// The cost of a pair (DESIGN 4.9): ISD(a|b) + ISD(b|a); mean ISD - PS; or -PS, a fraction. `risk`
/// adds that many standard deviations of the cost of a single co-run, with ISDs and PS taken as
/// independent (DESIGN 4.10). The same for (a, b) and (b, a).
CORUN_HOST_DEVICE inline double objective_cost(const CostRule& rule, const PairBelief& pair) {
  const double isds = pair.isd_a + pair.isd_b;
  const double squares = pair.sd_a * pair.sd_a + pair.sd_b * pair.sd_b;
  double expected = -pair.ps;
  double square = pair.sd_ps * pair.sd_ps;
  if (rule.objective == Objective::kMinSlowdown) {
    expected = isds;
    square = squares;
  } else if (rule.objective == Objective::kBalance) {
    expected = isds / 2 - pair.ps;
    square = squares / 4 + square;
  }
  return rule.risk > 0 ? expected + rule.risk * std::sqrt(square) : expected;
}

}  // namespace corun::inline sim
