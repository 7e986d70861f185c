#pragma once

#include <cstdint>
#include <span>

#include "models/goodput/step_time.hpp"

/// Fits the step-time model to measured steps of a job (Pollux, section 4.1; peer: AdaptDL). It minimises
///
///   rms(log T_grad - log measured) + rms(log T_opt - log measured)
///   + 0.001 (gamma - 1)^2 + 0.01 ((beta_n / alpha_n)^2 + (beta_r / alpha_r)^2)
///
/// within 1e-8 <= alpha, beta and 1 <= gamma <= 10. The last two terms are small: they choose among parameters that
/// the measurements do not tell apart, in favour of little cost of further GPUs. Before they are measured, costs are
/// optimistic, as in Pollux: with one batch per GPU alpha_c is half of the mean gradient time; without steps on several
/// nodes alpha_n, beta_n are 1.1 alpha_r, 1.1 beta_r; without steps on several GPUs of a node alpha_r = beta_r = 1e-8;
/// without steps on more than two GPUs beta_n = beta_r = 1e-8.
///
/// The minimum is the better of two local ones by NLopt's L-BFGS (Liu and Nocedal, Mathematical Programming 45, 1989)
/// with exact gradients. The root mean squares have a kink where all errors are 0; they are rounded off first. The
/// search draws no random numbers: equal steps give equal bits.
namespace corun::inline models {

struct ProfiledStep {
  GpuSpread spread;
  std::uint32_t gpu_batch = 1;  ///< samples per GPU and pass
  double gradient_s = 0;        ///< time of a pass without exchange, above 0
  double step_s = 0;            ///< time of a step of one pass, above 0

  bool operator==(const ProfiledStep&) const = default;
};

/// The value that the fit minimises, of given parameters within their bounds. `steps` is not empty.
double step_time_error(const StepTimeParameters& parameters, std::span<const ProfiledStep> steps);

/// The parameters of one or more measured steps, all of different (spread, batch).
StepTimeParameters fit_step_time(std::span<const ProfiledStep> steps);

}  // namespace corun::inline models
