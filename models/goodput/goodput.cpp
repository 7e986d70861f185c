#include "models/goodput/goodput.hpp"

#include <algorithm>
#include <cmath>

#include "sim/base/math.hpp"

namespace corun::inline models {

namespace {

constexpr int kBatches = 50;
/// A fraction of a sample, or of a pass, that is a rounding error.
constexpr double kNoFraction = 1e-8;

}  // namespace

double gain_of_batch(GradientStatistics gradient, double batch, double initial) {
  const double left = gradient.var / (batch / initial) + gradient.sqr;
  return left > 0 ? (gradient.var + gradient.sqr) / left : 1.0;
}

double efficiency(GradientStatistics gradient, double batch, double initial) {
  return gain_of_batch(gradient, batch, initial) / (batch / initial);
}

double throughput(const StepTimeParameters& parameters, GpuSpread spread, std::uint32_t gpu_batch,
                  std::uint32_t accumulations) {
  const double gradient_s = gradient_time_s(parameters, gpu_batch);
  const double step_s =
      accumulations * gradient_s +
      combined_time_s(gradient_s, exchange_time_s(parameters, spread), parameters.gamma);
  return static_cast<double>(spread.gpus) * gpu_batch * (accumulations + 1.0) / step_s;
}

BatchChoice best_batch(const StepTimeParameters& parameters, GradientStatistics gradient,
                       const BatchLimits& limits, GpuSpread spread) {
  const auto gpus = static_cast<double>(spread.gpus);
  const double least = std::max<double>(limits.initial, limits.least_gpu * gpus);
  const auto most = static_cast<double>(limits.most);
  BatchChoice best;
  if (least > most) return best;
  const double log_least = math::log(least);
  const double log_step = (math::log(most) - log_least) / (kBatches - 1);
  std::uint32_t tried_batch = 0;  // neighbours often round to the same batch
  std::uint32_t tried_accumulations = 0;
  for (int i = 0; i < kBatches; ++i) {
    // The ends are exact: a rounding error there would cost or add a sample.
    double batch = math::exp(log_least + log_step * i);
    if (i == 0) batch = least;
    if (i == kBatches - 1) batch = most;
    const double on_gpu = batch / gpus;
    double accumulations = std::ceil(on_gpu / limits.most_gpu - kNoFraction) - 1;
    if (spread.gpus == 1 && on_gpu > limits.initial + kNoFraction)
      accumulations = std::max(accumulations, 1.0);
    accumulations = std::max(accumulations, 0.0);
    const double gpu_batch = std::ceil(on_gpu / (accumulations + 1) - kNoFraction);
    if (gpu_batch < limits.least_gpu || gpu_batch > limits.most_gpu) continue;
    const auto b = static_cast<std::uint32_t>(gpu_batch);
    const auto s = static_cast<std::uint32_t>(accumulations);
    if (b == tried_batch && s == tried_accumulations) continue;
    tried_batch = b;
    tried_accumulations = s;
    const double goodput = throughput(parameters, spread, b, s) *
                           efficiency(gradient, gpus * b * (s + 1.0), limits.initial);
    if (goodput > best.goodput) best = {.gpu_batch = b, .accumulations = s, .goodput = goodput};
  }
  return best;
}

}  // namespace corun::inline models
