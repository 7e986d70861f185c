#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "evaluation/measurement_choice.hpp"
#include "models/interference/interference_model.hpp"

/// What a fitted model and the measurements so far say of the costs of pairs, as draws for
/// choose_measurements(). The cost of a pair is the sum of both ISDs, 1 / speed - 1 [fraction]: both jobs count as
/// equally long and stay together to the end.
///
/// With t the log slowdown of one direction, v the variance that predict() gives t and v_s that of sample(),
///
///   t = t_sampled + own,    own ~ Normal(0, 0.75 max(0, v - v_s)),    noise = 0.25 max(0, v - v_s).
///
/// The model cannot explain `own`, but a measurement of the pair shows it; the noise belongs to single co-runs. The
/// shares are those of Lucid's table, where repeated co-runs differ by half as much as the model errs. Draws of a
/// model without a sample() of its own are independent and hold all of v: a measurement then tells of its own pair
/// only.
///
/// A pair that was measured n times has t ~ Normal(mean of its t, noise / n) in place of the model's.
namespace corun::inline evaluation {

/// One measurement of one of the pairs.
struct MeasuredPair {
  std::size_t pair = 0;
  double speed_a = 1;  ///< above 0; NaN: not measured
  double speed_b = 1;
};

struct PairDrawOptions {
  std::uint64_t seed = 1;
  unsigned threads = 1;  ///< changes speed only
  std::size_t draws = 256;
};

/// `jobs` are the kinds of problem.kinds and problem.pairs; fills the rest of `problem`. Measured pairs (both
/// directions) may not be measured again. std::invalid_argument as InterferenceModel::predict().
void draw_pairs(const InterferenceModel& model, std::span<const PairJob> jobs,
                std::span<const MeasuredPair> measured, const PairDrawOptions& options,
                MeasurementProblem& problem);

}  // namespace corun::inline evaluation
