#pragma once

#include <cstddef>

#include "models/scoring/math.hpp"
#include "models/scoring/speed_belief.hpp"
#include "sim/pair_objective.hpp"

/// From the speeds of two jobs to what their pair costs (DESIGN section 3), once for every device.
namespace corun {

/// A number that is divided by, with its reciprocal but for some rounding.
struct Divisor {
  double value = 1;
  double inverse = 1;
};
CORUN_FORMULA double over(double a, const Divisor& b) {
  return math::divide(a, b.value, b.inverse);
}

/// Solo time [s] of a job, or of two together, with its reciprocal as IEEE rounds it.
struct SoloTime {
  double value = 1;
  double inverse = 1;
};
CORUN_FORMULA SoloTime solo_time(double seconds) { return {seconds, 1 / seconds}; }
CORUN_FORMULA double over(double a, const SoloTime& b) {
  return math::quotient(a, b.value, b.inverse);
}

/// Two jobs that start together, with speeds while both are resident; the survivor then runs at 1.
struct PairCost {
  double corun_a_s = 0;
  double corun_b_s = 0;
  double isd_a = 0;  ///< fraction
  double isd_b = 0;
  double ps = 0;
};

/// Solo times [s], their sum, and speeds; all above 0.
CORUN_FORMULA PairCost pair_cost(const SoloTime& solo_a, const SoloTime& solo_b,
                                 const SoloTime& solo, const Divisor& speed_a,
                                 const Divisor& speed_b) {
  const double alone_a = over(solo_a.value, speed_a);  // if the company stayed to the end
  const double alone_b = over(solo_b.value, speed_b);
  const bool a_ends_first = alone_a <= alone_b;
  const double a_after_b = alone_b + (solo_a.value - alone_b * speed_a.value);
  const double b_after_a = alone_a + (solo_b.value - alone_a * speed_b.value);
  PairCost cost;
  cost.corun_a_s = a_ends_first ? alone_a : a_after_b;
  cost.corun_b_s = a_ends_first ? b_after_a : alone_b;
  cost.isd_a = over(cost.corun_a_s - solo_a.value, solo_a);
  cost.isd_b = over(cost.corun_b_s - solo_b.value, solo_b);
  cost.ps = over(solo.value - math::max(cost.corun_a_s, cost.corun_b_s), solo);
  return cost;
}

/// The same from plain numbers.
CORUN_FORMULA PairCost pair_cost(double solo_a_s, double solo_b_s, double speed_a, double speed_b) {
  return pair_cost(solo_time(solo_a_s), solo_time(solo_b_s), solo_time(solo_a_s + solo_b_s),
                   {speed_a, 1 / speed_a}, {speed_b, 1 / speed_b});
}

/// Expected cost at the median speeds. `kSpreads`: with its standard deviations, to first order: half
/// of what the cost changes by between one standard deviation below and above, for each of the speeds;
/// steps are relative and not beyond a factor of e^2, so that no speed drops to 0. Nobody is believed
/// to run faster in company than alone: what a model says beyond is noise.
template <bool kSpreads>
CORUN_FORMULA PairBelief believed_cost(const SoloTime& solo_a, const SoloTime& solo_b,
                                       const SpeedBelief& a, const SpeedBelief& b) {
  const SoloTime solo = solo_time(solo_a.value + solo_b.value);
  const auto at_most_1 = [](double speed, double inverse) {
    return Divisor{math::min(1.0, speed), math::max(1.0, inverse)};
  };
  const Divisor speed_a = at_most_1(a.speed, a.inverse);
  const Divisor speed_b = at_most_1(b.speed, b.inverse);
  const PairCost expected = pair_cost(solo_a, solo_b, solo, speed_a, speed_b);
  PairBelief out;
  out.isd_a = expected.isd_a;
  out.isd_b = expected.isd_b;
  out.ps = expected.ps;
  if constexpr (kSpreads) {
    const double step_a = math::min(over(a.sd, speed_a), 2.0);
    const double step_b = math::min(over(b.sd, speed_b), 2.0);
    const double slower_a = math::exp(-step_a), faster_a = math::exp(step_a);
    const double slower_b = math::exp(-step_b), faster_b = math::exp(step_b);
    const auto moved = [&](const Divisor& speed, double by, double back) {
      return at_most_1(speed.value * by, speed.inverse * back);
    };
    const PairCost slow_a =
        pair_cost(solo_a, solo_b, solo, moved(speed_a, slower_a, faster_a), speed_b);
    const PairCost fast_a =
        pair_cost(solo_a, solo_b, solo, moved(speed_a, faster_a, slower_a), speed_b);
    const PairCost slow_b =
        pair_cost(solo_a, solo_b, solo, speed_a, moved(speed_b, slower_b, faster_b));
    const PairCost fast_b =
        pair_cost(solo_a, solo_b, solo, speed_a, moved(speed_b, faster_b, slower_b));
    const auto spread = [](double by_a, double by_b) {
      return math::sqrt(by_a * by_a + by_b * by_b) / 2;
    };
    out.sd_a = spread(slow_a.isd_a - fast_a.isd_a, slow_b.isd_a - fast_b.isd_a);
    out.sd_b = spread(slow_a.isd_b - fast_a.isd_b, slow_b.isd_b - fast_b.isd_b);
    out.sd_ps = spread(slow_a.ps - fast_a.ps, slow_b.ps - fast_b.ps);
  }
  return out;
}

/// Solo times of a batch of jobs [s] as a scheduler estimates them, NaN where it does not.
struct SoloView {
  const double* seconds = nullptr;
  const double* inverse = nullptr;  ///< 1 / seconds
  CORUN_FORMULA SoloTime of(std::size_t job) const { return {seconds[job], inverse[job]}; }
};

/// objective_cost() of the pairs of a batch. Where a solo time is not known both count as equally long.
/// Deviations are worked out only where `kRisky`: a rule with a risk above 0.
template <bool kRisky, Objective kObjective>
struct CostFormula {
  double risk = 0;

  CORUN_FORMULA double operator()(const SoloTime& solo_a, const SoloTime& solo_b,
                                  const SpeedBelief& a, const SpeedBelief& b) const {
    const bool known = solo_a.value == solo_a.value && solo_b.value == solo_b.value;
    const auto or_1 = [&](const SoloTime& solo) {
      return SoloTime{known ? solo.value : 1.0, known ? solo.inverse : 1.0};
    };
    return objective_cost(CostRule{kObjective, kRisky ? risk : 0.0},
                          believed_cost<kRisky>(or_1(solo_a), or_1(solo_b), a, b));
  }
};

}  // namespace corun
