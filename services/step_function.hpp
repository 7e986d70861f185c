#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "sim/time.hpp"

/// A value that is constant between changes: requests per second of a load, or the factor by which
/// co-runners stretch a service's times.
namespace corun::inline services {

struct Step {
  Time begin{0};
  double value = 0;
};

class StepFunction {
 public:
  /// The same value at all times. InputError unless it is finite and 0 or more.
  explicit StepFunction(double value);
  /// The first step begins at 0, the others later and later; the last one has no end. InputError otherwise,
  /// and for a value that is not finite or below 0.
  explicit StepFunction(std::vector<Step> steps);

  std::span<const Step> steps() const { return steps_; }
  /// When step `i` ends: the begin of the next one; kNever for the last.
  Time end_of(std::size_t i) const { return i + 1 < steps_.size() ? steps_[i + 1].begin : kNever; }
  /// The step that holds `t`, 0 or later. Logarithmic in the number of steps.
  std::size_t step_at(Time t) const;
  double at(Time t) const { return steps_[step_at(t)].value; }

 private:
  std::vector<Step> steps_;
};

}  // namespace corun::inline services
