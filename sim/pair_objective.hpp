#pragma once

#include <cmath>
#include <cstdint>

#include "sim/base/host_device.hpp"

/// What putting two jobs together is expected to cost, and what a policy makes of it.
namespace corun {

/// Expected cost of putting two jobs together; fractions.
struct PairBelief {
  double isd_a = 0;  ///< ISD of the first beside the second
  double isd_b = 0;  ///< ISD of the second beside the first
  double ps = 0;
  bool observed = true;  ///< false: never observed, a mean stands in
  /// How far a single co-run may lie from what is expected: standard deviations, 0 where a belief
  /// has no idea of it.
  double sd_a = 0;
  double sd_b = 0;
  double sd_ps = 0;
  /// How many co-runs, seen once each, the expectation is worth: sd / sqrt(co_runs) is the standard
  /// deviation of the expectation itself. Above 0.
  double co_runs = 1;
};

enum class Objective : std::uint8_t { kMinSlowdown, kBalance, kMaxPacking };

/// By what pairs are ranked; smaller costs are better.
struct CostRule {
  Objective objective = Objective::kMinSlowdown;
  double risk = 0;  ///< 0 or more
};

/// What the objective minimises for a pair (DESIGN 4.9): ISD(a|b) + ISD(b|a); mean ISD - PS; -PS. On
/// top come `risk` times its believed standard deviation in a single co-run, as if ISDs and PS varied
/// independently. The same for (a, b) and (b, a).
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

}  // namespace corun
