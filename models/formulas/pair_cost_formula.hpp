#pragma once

#include <cstddef>

#include "models/formulas/math.hpp"
#include "models/formulas/speed_belief.hpp"
#include "sim/pair_objective.hpp"

/// From the speeds of two jobs to what their pair costs (DESIGN section 3), once for every device.
namespace corun {

/// Solo time [s] of a job, or of two together, with its reciprocal as IEEE rounds it.
struct SoloTime {
  double value = 1;
  double inverse = 1;
};
CORUN_HOST_DEVICE_INLINE SoloTime solo_time(double seconds) { return {seconds, 1 / seconds}; }

/// Two jobs that start together, with speeds while both are resident; the survivor then runs at 1.
struct PairCost {
  double corun_a_s = 0;
  double corun_b_s = 0;
  double isd_a = 0;  ///< fraction
  double isd_b = 0;
  double ps = 0;
};

/// The same by who ends first, f, and last, l:
///
///   together = J_f / s_f      lost = together (1 - s_l)
///   ISD_f = 1 / s_f - 1       ISD_l = lost / J_l           PS = (J_f - lost) / (J_f + J_l)
struct EndedPair {
  bool a_ends_first = true;
  double together_s = 0;
  double lost_s = 0;  ///< by the last
  double last_solo_s = 0;
  double isd_first = 0;
  double isd_last = 0;
  double ps = 0;
};

/// Solo times [s], their sum, and speeds above 0 with their reciprocals.
CORUN_HOST_DEVICE_INLINE EndedPair ended_pair(const SoloTime& solo_a, const SoloTime& solo_b,
                                              const SoloTime& solo, const SpeedBelief& a,
                                              const SpeedBelief& b) {
  const double alone_a = solo_a.value * a.inverse;  // if the co-runners stayed to the end
  const double alone_b = solo_b.value * b.inverse;
  EndedPair pair;
  pair.a_ends_first = alone_a <= alone_b;
  pair.together_s = pair.a_ends_first ? alone_a : alone_b;
  pair.lost_s = pair.together_s * (1 - (pair.a_ends_first ? b.speed : a.speed));
  pair.last_solo_s = pair.a_ends_first ? solo_b.value : solo_a.value;
  pair.isd_first = (pair.a_ends_first ? a.inverse : b.inverse) - 1;
  pair.isd_last = pair.lost_s * (pair.a_ends_first ? solo_b.inverse : solo_a.inverse);
  pair.ps = ((pair.a_ends_first ? solo_a.value : solo_b.value) - pair.lost_s) * solo.inverse;
  return pair;
}
CORUN_HOST_DEVICE_INLINE PairCost pair_cost(const SoloTime& solo_a, const SoloTime& solo_b,
                                            const SoloTime& solo, const SpeedBelief& a,
                                            const SpeedBelief& b) {
  const EndedPair pair = ended_pair(solo_a, solo_b, solo, a, b);
  const double last_s = pair.last_solo_s + pair.lost_s;
  return {pair.a_ends_first ? pair.together_s : last_s,
          pair.a_ends_first ? last_s : pair.together_s,
          pair.a_ends_first ? pair.isd_first : pair.isd_last,
          pair.a_ends_first ? pair.isd_last : pair.isd_first, pair.ps};
}

/// The same from plain numbers.
CORUN_HOST_DEVICE_INLINE PairCost pair_cost(double solo_a_s, double solo_b_s, double speed_a,
                                            double speed_b) {
  return pair_cost(solo_time(solo_a_s), solo_time(solo_b_s), solo_time(solo_a_s + solo_b_s),
                   {speed_a, 0, 1 / speed_a}, {speed_b, 0, 1 / speed_b});
}

/// Nobody is believed to run faster with co-runners than alone: what a model says beyond is noise.
CORUN_HOST_DEVICE_INLINE SpeedBelief at_most_1(const SpeedBelief& belief) {
  return {math::min(1.0, belief.speed), belief.sd, math::max(1.0, belief.inverse)};
}

/// What `view` says of one job beside another, for costs.
template <class View>
CORUN_HOST_DEVICE_INLINE SpeedBelief slowed(const View& view, const typename View::Job& job,
                                            const typename View::Job& co_runner) {
  const SpeedBelief belief = view.beside(job, co_runner);
  return View::kNeverFaster ? belief : at_most_1(belief);
}

/// Expected cost at the median speeds, of 1 at most, and its standard deviations, to first order: half
/// of what the cost changes by between one standard deviation below and above, for each of the speeds;
/// steps are relative and not beyond a factor of e^2, so that no speed drops to 0.
CORUN_HOST_DEVICE_INLINE PairBelief believed_cost(const SoloTime& solo_a, const SoloTime& solo_b,
                                                  const SpeedBelief& a, const SpeedBelief& b) {
  const SoloTime solo = solo_time(solo_a.value + solo_b.value);
  const PairCost expected = pair_cost(solo_a, solo_b, solo, a, b);
  PairBelief out;
  out.isd_a = expected.isd_a;
  out.isd_b = expected.isd_b;
  out.ps = expected.ps;
  const double step_a = math::min(a.sd * a.inverse, 2.0);
  const double step_b = math::min(b.sd * b.inverse, 2.0);
  const double slower_a = math::exp(-step_a), faster_a = math::exp(step_a);
  const double slower_b = math::exp(-step_b), faster_b = math::exp(step_b);
  const auto moved = [&](const SpeedBelief& from, double by, double back) {
    return at_most_1({from.speed * by, from.sd, from.inverse * back});
  };
  const PairCost slow_a = pair_cost(solo_a, solo_b, solo, moved(a, slower_a, faster_a), b);
  const PairCost fast_a = pair_cost(solo_a, solo_b, solo, moved(a, faster_a, slower_a), b);
  const PairCost slow_b = pair_cost(solo_a, solo_b, solo, a, moved(b, slower_b, faster_b));
  const PairCost fast_b = pair_cost(solo_a, solo_b, solo, a, moved(b, faster_b, slower_b));
  const auto spread = [](double by_a, double by_b) {
    return math::sqrt(by_a * by_a + by_b * by_b) / 2;
  };
  out.sd_a = spread(slow_a.isd_a - fast_a.isd_a, slow_b.isd_a - fast_b.isd_a);
  out.sd_b = spread(slow_a.isd_b - fast_a.isd_b, slow_b.isd_b - fast_b.isd_b);
  out.sd_ps = spread(slow_a.ps - fast_a.ps, slow_b.ps - fast_b.ps);
  return out;
}

/// Solo times of a batch of jobs [s] as a scheduler estimates them, NaN where it does not.
struct SoloView {
  const double* seconds = nullptr;
  const double* inverse = nullptr;  ///< 1 / seconds
  CORUN_HOST_DEVICE_INLINE SoloTime of(std::size_t job) const {
    return {seconds[job], inverse[job]};
  }
};

/// objective_cost() of the pairs of a batch. Where a solo time is not known both count as equally long;
/// `kKnown`: all are. Deviations are worked out only where `kRisky`: a rule with a risk above 0.
template <bool kRisky, Objective kObjective, bool kKnown = false>
struct CostFormula {
  double risk = 0;

  CORUN_HOST_DEVICE_INLINE double operator()(const SoloTime& solo_a, const SoloTime& solo_b,
                                             const SpeedBelief& a, const SpeedBelief& b) const {
    const bool known = kKnown || (solo_a.value == solo_a.value && solo_b.value == solo_b.value);
    const auto or_1 = [&](const SoloTime& solo) {
      return SoloTime{known ? solo.value : 1.0, known ? solo.inverse : 1.0};
    };
    const SoloTime first = or_1(solo_a);
    const SoloTime second = or_1(solo_b);
    if constexpr (kRisky) {
      return objective_cost(CostRule{kObjective, risk}, believed_cost(first, second, a, b));
    } else {
      // The objectives ask what the two come to and not who is who.
      const EndedPair pair = ended_pair(first, second, solo_time(first.value + second.value), a, b);
      return objective_cost(CostRule{kObjective, 0}, {pair.isd_first, pair.isd_last, pair.ps});
    }
  }
};

}  // namespace corun
