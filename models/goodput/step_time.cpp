#include "models/goodput/step_time.hpp"

#include <algorithm>

#include "sim/base/math.hpp"

namespace corun::inline models {

namespace {

/// The time of an exchange that does not take place, so that its logarithm is finite.
constexpr double kNoExchange = 1e-8;

}  // namespace

double gradient_time_s(const StepTimeParameters& parameters, double batch) {
  return parameters.alpha_c + parameters.beta_c * batch;
}

double exchange_time_s(const StepTimeParameters& parameters, GpuSpread spread) {
  const double above_two = spread.gpus > 2 ? spread.gpus - 2.0 : kNoExchange;
  if (spread.nodes > 1) return parameters.alpha_n + parameters.beta_n * above_two;
  if (spread.gpus > 1) return parameters.alpha_r + parameters.beta_r * above_two;
  return kNoExchange + kNoExchange * above_two;
}

double combined_time_s(double gradient_s, double exchange_s, double gamma) {
  // The larger time is taken out of the root: the rest is within 1 .. 2, whatever gamma.
  const double large = std::max(gradient_s, exchange_s);
  const double small = std::min(gradient_s, exchange_s);
  const double power = math::exp(gamma * math::log(small / large));
  return large * math::exp(math::log1p(power) / gamma);
}

}  // namespace corun::inline models
