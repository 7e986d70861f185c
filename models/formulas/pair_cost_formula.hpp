#pragma once

#include <cstddef>

#include "models/formulas/speed_belief.hpp"
#include "sim/base/math.hpp"
#include "sim/pair_objective.hpp"

/// From the speeds of two jobs to the cost of their pair (DESIGN section 3), compiled for every device.
namespace corun::inline models {

/// Solo time [s] of a job, or of two jobs together, with its reciprocal [1/s], correctly rounded.
struct SoloTime {
  double value = 1;
  double inverse = 1;
};
CORUN_HOST_DEVICE_INLINE SoloTime solo_time(double seconds) { return {seconds, 1 / seconds}; }

/// Two jobs that start together. When the first ends, the other continues at speed 1. ISD and PS are
/// fractions.
struct PairCost {
  double corun_a_s = 0;
  double corun_b_s = 0;
  double isd_a = 0;
  double isd_b = 0;
  double ps = 0;
};

/// The same cost by order of ending: job f ends first, job l last.
///
///   together = J_f / s_f      lost = together (1 - s_l)
///   ISD_f = 1 / s_f - 1       ISD_l = lost / J_l           PS = (J_f - lost) / (J_f + J_l)
struct EndedPair {
  bool a_ends_first = true;
  double together_s = 0;
  double lost_s = 0;  ///< lost by the job that ends last
  double last_solo_s = 0;
  double isd_first = 0;
  double isd_last = 0;
  double ps = 0;
};

/// `solo`: sum of both solo times. `a`, `b`: speeds above 0 while both are resident.
CORUN_HOST_DEVICE_INLINE EndedPair ended_pair(const SoloTime& solo_a, const SoloTime& solo_b,
                                              const SoloTime& solo, const SpeedBelief& a,
                                              const SpeedBelief& b) {
  const double alone_a = solo_a.value * a.inverse;  // J_c if the co-runner stayed to the end
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

/// The same from solo times [s] and normalised speeds, all above 0.
CORUN_HOST_DEVICE_INLINE PairCost pair_cost(double solo_a_s, double solo_b_s, double speed_a,
                                            double speed_b) {
  return pair_cost(solo_time(solo_a_s), solo_time(solo_b_s), solo_time(solo_a_s + solo_b_s),
                   {speed_a, 0, 1 / speed_a}, {speed_b, 0, 1 / speed_b});
}

/// The belief with a speed of 1 at most. A job does not run faster with co-runners than alone, so a predicted
/// speed above 1 is noise.
CORUN_HOST_DEVICE_INLINE SpeedBelief at_most_1(const SpeedBelief& belief) {
  return {math::min(1.0, belief.speed), belief.sd, math::max(1.0, belief.inverse)};
}

/// The speed of `job` beside `co_runner` by the formula of `view`, at most 1, for costs.
template <class View>
CORUN_HOST_DEVICE_INLINE SpeedBelief slowed(const View& view, const typename View::Job& job,
                                            const typename View::Job& co_runner) {
  const SpeedBelief belief = view.beside(job, co_runner);
  return View::kNeverFaster ? belief : at_most_1(belief);
}

/// Expected cost at the median speeds, which must be 1 at most, and its standard deviations to first order:
/// for each speed, half the difference of the costs at one standard deviation below and above. Steps are
/// relative, at most a factor of e^2, so that no speed is 0.
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

/// Estimated solo times [s] of a batch of jobs, one entry per job; NaN: no estimate.
struct SoloView {
  const double* seconds = nullptr;
  const double* inverse = nullptr;  ///< 1 / seconds
  CORUN_HOST_DEVICE_INLINE SoloTime of(std::size_t job) const {
    return {seconds[job], inverse[job]};
  }
};

/// objective_cost() of the pairs of a batch. If a solo time of a pair is not known, both jobs count as
/// equally long. `kKnown`: all solo times are known. `kRisky`: the rule has a risk above 0, which needs
/// deviations.
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
      // Without risk, the objectives are symmetric in both jobs.
      const EndedPair pair = ended_pair(first, second, solo_time(first.value + second.value), a, b);
      return objective_cost(CostRule{kObjective, 0}, {pair.isd_first, pair.isd_last, pair.ps});
    }
  }
};

}  // namespace corun::inline models
