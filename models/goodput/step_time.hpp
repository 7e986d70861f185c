#pragma once

#include <cstdint>

/// The time of a training step by the number of GPUs and nodes: the parametric model of Pollux (Qiao et al., OSDI 2021,
/// section 3.2; peer: AdaptDL).
///
///   T_grad = alpha_c + beta_c b                                      b: samples per GPU and pass
///   T_net  = alpha_n + beta_n max(K - 2, 1e-8)                       K GPUs on several nodes
///            alpha_r + beta_r max(K - 2, 1e-8)                       K > 1 GPUs on one node
///            1e-8                                                    one GPU
///   T_opt  = (T_grad^gamma + T_net^gamma)^(1/gamma)                  the step that updates the weights
///   step   = s T_grad + T_opt                                        s passes only accumulate gradients
///
/// gamma = 1 adds both times; with a large gamma the shorter one hides behind the longer one. Times are in seconds.
/// Powers are those of sim/base/math, so that all machines get the same bits.
namespace corun::inline models {

struct StepTimeParameters {
  double alpha_c = 0;  ///< of a pass, without samples [s]
  double beta_c = 0;   ///< per sample [s]
  double alpha_n = 0;  ///< of the exchange between nodes [s]
  double beta_n = 0;   ///< per GPU above two [s]
  double alpha_r = 0;  ///< of the exchange within a node [s]
  double beta_r = 0;   ///< per GPU above two [s]
  double gamma = 1;    ///< at least 1

  bool operator==(const StepTimeParameters&) const = default;
};

/// How many GPUs a job has, and on how many nodes. Both at least 1, nodes <= gpus.
struct GpuSpread {
  std::uint32_t nodes = 1;
  std::uint32_t gpus = 1;

  bool operator==(const GpuSpread&) const = default;
};

/// T_grad [s] of `batch` samples per GPU.
double gradient_time_s(const StepTimeParameters& parameters, double batch);
/// T_net [s].
double exchange_time_s(const StepTimeParameters& parameters, GpuSpread spread);
/// T_opt [s] of both times, above 0.
double combined_time_s(double gradient_s, double exchange_s, double gamma);

}  // namespace corun::inline models
