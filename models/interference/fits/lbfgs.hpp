#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <deque>
#include <utility>
#include <vector>

#include <Eigen/Dense>

namespace corun::inline models {

/// A local minimum near x of a negative log-likelihood over the logarithms of parameters, by limited-memory
/// BFGS (Liu and Nocedal, "On the limited memory BFGS method for large scale optimization", 1989). A step is
/// halved until it decreases the value sufficiently. `function(x)` returns a point with value() and gradient(), which has
/// one derivative per element of x and is asked for only where the search goes on; a step to an infinite value is rejected.
/// Returns x if the first value is not finite. Ends after `iterations`, after three in a row that gain less than 0.001, or when no step
/// decreases the value.
template <typename Function>
std::vector<double> minimise(const Function& function, std::vector<double> x, int iterations = 40) {
  constexpr std::size_t kMemory = 8;
  constexpr double kLongestStep = 2;  // in a log-parameter
  constexpr double kEnough = 1e-3;    // of a negative log-likelihood
  struct Pair {
    Eigen::VectorXd step, change;
    double curvature;
  };
  std::deque<Pair> memory;
  double at = 0;
  std::vector<double> slope;
  {
    const auto point = function(x);
    at = point.value();
    if (!std::isfinite(at)) return x;
    slope = point.gradient();
  }
  constexpr int kSmallSteps = 3;
  int small_steps = 0;
  for (int iteration = 0; iteration < iterations; ++iteration) {
    const Eigen::VectorXd gradient =
        Eigen::Map<const Eigen::VectorXd>(slope.data(), static_cast<Eigen::Index>(slope.size()));
    Eigen::VectorXd direction = -gradient;
    std::vector<double> pull;
    for (std::size_t m = memory.size(); m-- > 0;) {
      pull.push_back(memory[m].step.dot(direction) / memory[m].curvature);
      direction -= pull.back() * memory[m].change;
    }
    if (!memory.empty()) {
      direction *= memory.back().curvature / memory.back().change.squaredNorm();
    }
    for (std::size_t m = 0; m < memory.size(); ++m) {
      const double push = memory[m].change.dot(direction) / memory[m].curvature;
      direction += (pull[memory.size() - 1 - m] - push) * memory[m].step;
    }
    const double longest = direction.cwiseAbs().maxCoeff();
    if (!(longest > 0)) break;
    if (memory.empty()) direction *= std::min(1.0, 0.5 / longest);
    direction *= std::min(1.0, kLongestStep / direction.cwiseAbs().maxCoeff());
    const double descent = gradient.dot(direction);
    if (!(descent < 0)) break;

    constexpr int kHalvings = 12;
    constexpr double kWorth = 1e-4;
    std::vector<double> next(x.size());
    std::vector<double> next_slope;
    double there = 0;
    double length = 1;
    int halving = 0;
    bool is_last = false;
    for (; halving < kHalvings; ++halving, length /= 2) {
      for (std::size_t p = 0; p < x.size(); ++p) {
        next[p] = x[p] + length * direction[static_cast<Eigen::Index>(p)];
      }
      const auto point = function(next);
      there = point.value();
      if (!(there <= at + kWorth * length * descent)) continue;
      small_steps = at - there < kEnough ? small_steps + 1 : 0;
      is_last = small_steps == kSmallSteps || iteration + 1 == iterations;
      if (!is_last) next_slope = point.gradient();
      break;
    }
    if (halving == kHalvings) break;
    if (is_last) return next;
    Pair pair;
    pair.step = length * direction;
    pair.change = Eigen::Map<const Eigen::VectorXd>(next_slope.data(),
                                                    static_cast<Eigen::Index>(next_slope.size())) -
                  gradient;
    pair.curvature = pair.step.dot(pair.change);
    if (pair.curvature > 1e-10 * pair.change.squaredNorm()) {
      memory.push_back(std::move(pair));
      if (memory.size() > kMemory) memory.pop_front();
    }
    x = std::move(next);
    slope = std::move(next_slope);
    at = there;
  }
  return x;
}

}  // namespace corun::inline models
