#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <stdexcept>

/// The effort of a fit: the share of the work that it takes, from kLeastEffort to 1. 1 is what models are judged by. A smaller one
/// is for trials: the model has the same form and the same contracts, and larger errors. What it scales is said in
/// the header of each model that has one: factors, gp, boosted-trees, low-rank, ensemble.
namespace corun::inline models {

inline constexpr double kLeastEffort = 0.001;

/// The number of steps of a fit that takes `all` of them at effort 1: `all` times the effort, at least `least`, at most
/// `all`. std::invalid_argument for an effort out of its range.
inline int steps_at(double effort, int all, int least) {
  if (!(effort >= kLeastEffort && effort <= 1)) {
    throw std::invalid_argument("the effort of the fit is not from 0.001 to 1");
  }
  if (effort == 1) return all;
  return std::clamp(static_cast<int>(std::lround(effort * all)), std::min(least, all), all);
}

}  // namespace corun::inline models
