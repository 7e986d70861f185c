#pragma once

#include <cstddef>
#include <cstdint>

#include "models/formulas/log_slowdown.hpp"

/// The boosted trees of pairs (boosted_trees.hpp, which has the source), compiled for every device: the
/// features of a pair, the test of a node, and the deviation of a prediction.
namespace corun::inline models::trees {

/// A TreeEnsemble (tree_ensemble.hpp, which states the layout) in the memory of the device that reads it.
struct Ensemble {
  std::uint32_t depth = 0;
  std::uint32_t columns = 0;
  std::uint32_t trees = 0;
  const std::int32_t* test = nullptr;
  const float* threshold = nullptr;
  const float* leaf = nullptr;

  /// Inner nodes of a tree.
  CORUN_HOST_DEVICE_INLINE std::size_t inner() const { return (std::size_t{1} << depth) - 1; }
};

/// The spread of single co-runs around predictions near one log slowdown (Spreads in
/// models/interference/fits/observations.hpp).
struct Knot {
  double at = 0;     ///< predicted log slowdown
  double below = 0;  ///< 5 % quantile of measured less predicted log slowdown, at most 0
  double above = 0;  ///< 95 % quantile, at least 0
  double sd = 0;     ///< standard deviation of the log slowdown
};

/// The spread at a log slowdown: linear between knots, constant beyond them. `knots`: `count` >= 1, by rising
/// `at`.
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

/// The features of one job, `stride` apart.
struct Features {
  const double* logs = nullptr;  ///< logarithms of features on log scales, then their differences
  const double* linears = nullptr;  ///< features on linear scales
  std::size_t stride = 0;
};
/// The additive effects of a job, measured beside other co-runners (boosted_trees.hpp). NaN: not known.
struct Effects {
  double own = __builtin_nan("");        ///< a: as the slowed job
  double co_runner = __builtin_nan("");  ///< b: as the co-runner
};

/// The numbers of features of a job. With more than kMostCrossed log features, `logs` has no differences;
/// with more than kMostCrossed linear features, a pair has no products of one feature with itself.
struct Shape {
  static constexpr std::size_t kMostCrossed = 8;
  std::uint32_t logs = 0;  ///< with differences
  std::uint32_t linears = 0;

  /// Features of a pair.
  CORUN_HOST_DEVICE_INLINE std::size_t columns() const {
    const bool crossed = linears <= kMostCrossed;
    return 4 * (logs + linears) + linears * (crossed ? linears : linears - 1) + 5;
  }
};

/// The features of job `of` beside job `beside`: calls put(column, value) by ascending column. Values are
/// computed in double precision and rounded to single precision once.
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

/// Many jobs, as arrays in the memory of the device that reads them. Matrices are row-major, with rows of
/// `stride` numbers, one per job.
struct Jobs {
  Shape shape;
  std::size_t count = 0;
  std::size_t stride = 0;
  const double* logs = nullptr;           ///< Shape::logs rows
  const double* linears = nullptr;        ///< Shape::linears rows
  const double* own = nullptr;            ///< Effects::own
  const double* co_runner = nullptr;      ///< Effects::co_runner
  const std::uint8_t* unknown = nullptr;  ///< 1: the fit had no row of this job

  CORUN_HOST_DEVICE_INLINE Features features(std::size_t j) const {
    return {logs + j, linears + j, stride};
  }
  CORUN_HOST_DEVICE_INLINE Effects effects(std::size_t j) const { return {own[j], co_runner[j]}; }
};

/// The child that a node chooses by a feature: 1 is right, 0 left. NaN goes right if the test is odd, else
/// left.
CORUN_HOST_DEVICE_INLINE std::uint32_t goes_right(float x, std::int32_t test, float threshold) {
  constexpr float kInfinity = __builtin_huge_valf();
  const float beyond = (test & 1) != 0 ? kInfinity : -kInfinity;
  const float known = x == x ? x : beyond;
  return known >= threshold ? 1U : 0U;
}

/// A fitted model, as arrays in the memory of the device that reads them.
struct Model {
  Ensemble trees;
  double mean = 0;            ///< of t; the trees predict t less this
  const Knot* knots[3] = {};  ///< by the number of jobs of the pair that the fit had not seen
  std::uint32_t knot_count[3] = {};

  /// `sum`: of the leaves, in double precision and the order of the trees. `unknown`: number of unseen jobs,
  /// 0 to 2.
  CORUN_HOST_DEVICE_INLINE LogSlowdown log_slowdown(double sum, std::size_t unknown) const {
    const double t = mean + sum;
    return {t, knot_at(knots[unknown], knot_count[unknown], t).sd};
  }
};

}  // namespace corun::inline models::trees
