#pragma once

#include <cstdint>

#include "models/goodput/step_time.hpp"

/// Goodput: samples of progress per second (Pollux, Qiao et al., OSDI 2021, section 3; peer: AdaptDL).
///
///   throughput = M / step                                M = K b (s + 1): the batch of all GPUs [samples]
///   efficiency = (var + sqr) / (var/m + sqr) / m         m = M / M0
///   goodput    = throughput efficiency
///
/// sqr is the squared norm of the gradient and var its variance at the initial batch M0: their ratio is the gradient
/// noise scale. A sample of a batch of M0 has efficiency 1.
namespace corun::inline models {

struct GradientStatistics {
  double sqr = 0;  ///< squared norm of the mean gradient, at least 0
  double var = 0;  ///< variance of the gradient at the initial batch, at least 0

  bool operator==(const GradientStatistics&) const = default;
};

/// What a training job permits [samples].
struct BatchLimits {
  std::uint32_t initial = 1;    ///< M0, least batch of all GPUs
  std::uint32_t most = 1;       ///< M_max, greatest batch of all GPUs
  std::uint32_t least_gpu = 1;  ///< b_min, per GPU and pass
  std::uint32_t most_gpu = 1;   ///< b_max, per GPU and pass

  bool operator==(const BatchLimits&) const = default;
};

struct BatchChoice {
  std::uint32_t gpu_batch = 0;      ///< b [samples]; 0: no batch is permitted
  std::uint32_t accumulations = 0;  ///< s
  double goodput = 0;               ///< [samples of progress / s]

  double batch(std::uint32_t gpus) const {
    return static_cast<double>(gpus) * gpu_batch * (accumulations + 1.0);
  }
};

/// The progress of a step at batch M in steps at M0: (var + sqr) / (var/m + sqr); 1 without any gradient.
double gain_of_batch(GradientStatistics gradient, double batch, double initial);

/// (var + sqr) / (var/m + sqr) / m.
double efficiency(GradientStatistics gradient, double batch, double initial);

/// M / step [samples/s].
double throughput(const StepTimeParameters& parameters, GpuSpread spread, std::uint32_t gpu_batch,
                  std::uint32_t accumulations);

/// The batch of the greatest goodput: the first of 50 in geometric steps from max(M0, b_min K) to M_max. A batch above
/// b_max per GPU is accumulated over s + 1 passes; a single GPU above M0 accumulates at least once, because the
/// gradient's statistics need two passes. Fractions of a sample are rounded up, beyond a millionth of a percent.
/// No batch if b_min K > M_max.
BatchChoice best_batch(const StepTimeParameters& parameters, GradientStatistics gradient,
                       const BatchLimits& limits, GpuSpread spread);

}  // namespace corun::inline models
