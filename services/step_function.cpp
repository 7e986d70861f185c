#include "services/step_function.hpp"

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

#include "sim/error.hpp"

namespace corun::inline services {

StepFunction::StepFunction(double value) : StepFunction(std::vector<Step>{{Time{0}, value}}) {}

StepFunction::StepFunction(std::vector<Step> steps) : steps_(std::move(steps)) {
  if (steps_.empty() || steps_.front().begin != Time{0}) {
    throw InputError(
        "a value over time has no step at 0 s, expected one; let the first step begin there");
  }
  for (std::size_t i = 0; i < steps_.size(); ++i) {
    const std::string place = "step " + std::to_string(i + 1) + " of a value over time";
    if (!std::isfinite(steps_[i].value) || steps_[i].value < 0) {
      throw InputError(place, "found " + std::to_string(steps_[i].value) +
                                  ", expected a finite number, 0 or more; correct it");
    }
    if (i > 0 && steps_[i].begin <= steps_[i - 1].begin) {
      throw InputError(place, "it does not begin after the step before it; sort the steps by time");
    }
  }
}

std::size_t StepFunction::step_at(Time t) const {
  const auto after = std::ranges::upper_bound(steps_, t, {}, &Step::begin);
  return static_cast<std::size_t>(after - steps_.begin()) - 1;
}

}  // namespace corun::inline services
