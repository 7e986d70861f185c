#pragma once

#include <cstddef>
#include <cstdint>

#include "models/formulas/log_slowdown.hpp"

/// The boosted trees of pairs (boosted_trees.hpp), once for every device: what the trees see of a pair,
/// the way down a tree, and intervals around what they sum up to.
namespace corun::trees {

/// TreeEnsemble, in the memory of the device that reads it.
struct Ensemble {
  std::uint32_t depth = 0;
  std::uint32_t columns = 0;
  std::uint32_t trees = 0;
  const std::int32_t* test = nullptr;
  const float* threshold = nullptr;
  const float* leaf = nullptr;

  CORUN_HOST_DEVICE_INLINE std::size_t inner() const { return (std::size_t{1} << depth) - 1; }
};

/// What is known of single co-runs around predictions of one log slowdown, observations.hpp.
struct Knot {
  double at = 0;     ///< predicted log slowdown
  double below = 0;  ///< 5 % quantile of what is measured less what is predicted, below 0
  double above = 0;  ///< 95 % quantile, above 0
  double sd = 0;
};

/// Straight lines between knots of rising `at`, one at least; beyond them as they are.
CORUN_HOST_DEVICE_INLINE Knot knot_at(const Knot* knots, std::size_t count, double log_slowdown) {
  Knot here = log_slowdown < knots[0].at ? knots[0] : knots[count - 1];
  for (std::size_t k = 0; k + 1 < count; ++k) {
    const Knot& left = knots[k];
    const Knot& right = knots[k + 1];
    const double part = (log_slowdown - left.at) / (right.at - left.at);
    const bool inside = log_slowdown >= left.at && log_slowdown < right.at;
    here.below = inside ? left.below + part * (right.below - left.below) : here.below;
    here.above = inside ? left.above + part * (right.above - left.above) : here.above;
    here.sd = inside ? left.sd + part * (right.sd - left.sd) : here.sd;
  }
  return here;
}

/// A job as the trees see it: features on log scales and their differences, the others; `stride` apart.
struct Features {
  const double* logs = nullptr;
  const double* linears = nullptr;
  std::size_t stride = 0;
};
/// What was seen of a job with co-runners, beyond its features. NaN: nothing.
struct Effects {
  double own = __builtin_nan("");
  double co_runner = __builtin_nan("");
};

/// How many features of each kind; more of one kind than kMostCrossed are not combined with each other:
/// columns would grow with the square.
struct Shape {
  static constexpr std::size_t kMostCrossed = 8;
  std::uint32_t logs = 0;
  std::uint32_t linears = 0;

  CORUN_HOST_DEVICE_INLINE std::size_t columns() const {
    const bool crossed = linears <= kMostCrossed;
    return 4 * (logs + linears) + linears * (crossed ? linears : linears - 1) + 5;
  }
};

/// Features of a pair, in single precision: put(column, value) by ascending column. Sums are of doubles,
/// rounded once.
template <class Put>
CORUN_HOST_DEVICE_INLINE void pair_row(const Shape& shape, const Features& of,
                                       const Features& beside, const Effects& of_effects,
                                       const Effects& beside_effects, const Put& put) {
  std::size_t column = 0;
  for (std::size_t kind = 0; kind < 2; ++kind) {
    const double* const slowed = kind == 0 ? of.logs : of.linears;
    const double* const co_runner = kind == 0 ? beside.logs : beside.linears;
    const std::size_t count = kind == 0 ? shape.logs : shape.linears;
    for (std::size_t f = 0; f < count; ++f) {
      const double x = slowed[f * of.stride];
      const double y = co_runner[f * beside.stride];
      put(column++, static_cast<float>(x));
      put(column++, static_cast<float>(y));
      put(column++, static_cast<float>(x - y));
      put(column++, static_cast<float>(x + y));
    }
  }
  for (std::size_t f = 0; f < shape.linears; ++f) {
    for (std::size_t g = 0; g < shape.linears; ++g) {
      if (f != g || shape.linears <= Shape::kMostCrossed) {
        put(column++,
            static_cast<float>(of.linears[f * of.stride] * beside.linears[g * beside.stride]));
      }
    }
  }
  put(column++, static_cast<float>(of_effects.own + beside_effects.co_runner));
  put(column++, static_cast<float>(of_effects.own));
  put(column++, static_cast<float>(beside_effects.co_runner));
  put(column++, static_cast<float>(of_effects.co_runner));
  put(column++, static_cast<float>(beside_effects.own));
}

/// Many jobs, as arrays that lie in the memory of the device that reads them; lines of `stride`
/// numbers, one for each job.
struct Jobs {
  Shape shape;
  std::size_t count = 0;
  std::size_t stride = 0;
  const double* logs = nullptr;     ///< Shape::logs lines
  const double* linears = nullptr;  ///< Shape::linears lines
  const double* own = nullptr;      ///< effects
  const double* co_runner = nullptr;
  const std::uint8_t* unknown = nullptr;  ///< 1: never seen with co-runners

  CORUN_HOST_DEVICE_INLINE Features features(std::size_t j) const {
    return {logs + j, linears + j, stride};
  }
  CORUN_HOST_DEVICE_INLINE Effects effects(std::size_t j) const { return {own[j], co_runner[j]}; }
};

/// Where a feature sends a row at a node: 1 is right. An unknown one is above all thresholds where the
/// test is odd, else below all.
CORUN_HOST_DEVICE_INLINE std::uint32_t goes_right(float x, std::int32_t test, float threshold) {
  constexpr float kInfinity = __builtin_huge_valf();
  const float beyond = (test & 1) != 0 ? kInfinity : -kInfinity;
  const float known = x == x ? x : beyond;
  return known >= threshold ? 1U : 0U;
}

/// A model, as arrays that lie in the memory of the device that reads them.
struct Model {
  Ensemble trees;
  double mean = 0;            ///< of t; the trees say what comes on top
  const Knot* knots[3] = {};  ///< by the number of jobs of the pair that were never seen
  std::uint32_t knot_count[3] = {};

  /// `sum`: of the leaves, in double precision and the order of the trees.
  CORUN_HOST_DEVICE_INLINE LogSlowdown log_slowdown(double sum, std::size_t unknown) const {
    const double t = mean + sum;
    return {t, knot_at(knots[unknown], knot_count[unknown], t).sd};
  }
};

}  // namespace corun::trees
