#pragma once

#include <cstdint>
#include <span>
#include <string_view>

/// Constants of `physics` that no equation gives: shapes of trees, kernels and priors. `corun predictor fit` takes
/// the values below; predictor files do not hold them. `corun predictor eval --constants` takes others, so that
/// experiments/predictors/constants.py can choose them on some tables and score them on another.
namespace corun::inline predictors {

struct PhysicsConstants {
  // Boosted trees of a residual (residual_model.hpp).
  double depth = 5;             ///< of a tree
  double learning_rate = 0.04;  ///< of a round
  double rows = 0.5;            ///< share of the rows that a tree sees
  double columns = 0.25;        ///< share of the features that a level of a tree may split on
  double leaf_factor = 1;       ///< of the least weights of a leaf
  // The Gaussian process of a residual (residual_process.hpp).
  double length = 4;           ///< of its kernel, in standard deviations of the features
  double noise = 0.01;         ///< variance of a row of weight 1
  double process_share = 0.5;  ///< of the prediction, for a row without noise
  double coarse = 0;           ///< 1: figures of layers count even where an execution is known
  // The process of step times (step_time_process.hpp).
  double coefficient_prior = 0.3;  ///< weight of the prior of a coefficient's logarithm
  double soft = 0.2;               ///< errors above this count linearly
  double deviation_factor = 1;     ///< of the prior deviations of the kernels
  double freedom = 2;              ///< of the priors of the variances
  // Probes of memory (memory_probes.hpp).
  double stack_probability = 0.25;  ///< that the software is another one
  double stack_mib = 500;           ///< deviation of its context
  double stack_factor = 0.05;       ///< deviation of the logarithm of its factor
  double odd_probability = 0.15;    ///< that jobs err three times as much
  double far_probability = 0.099;   ///< that jobs err ten times as much
  // The limit of out of memory (MemoryLimits, held_out.hpp).
  double missed_share = 0.003;  ///< of the jobs too large that may be predicted below it
  double margin_of_few = 0.96;  ///< factor of the limit if the jobs are too few to tell that share
  double most_false_alarms = 0.035;  ///< share of the fitting jobs
};

/// The prior probability that another software counts memory in numbers of another size (memory_probes.hpp).
inline constexpr double kOtherSizeProbability = 0.001;
/// The probability that is left for the software being the same and jobs erring as usual; at most 0: impossible.
double same_stack_probability(const PhysicsConstants& constants);

/// What a constant has an effect on.
enum class PhysicsPart : std::uint8_t {
  kResidual,  ///< memory and utilisation
  kMemory,
  kTime,
  kProbes,  ///< memory, with known jobs
  kLimits,  ///< memory: out of memory only
};

/// A constant by its name in `--constants`.
struct PhysicsConstantEntry {
  std::string_view name;
  PhysicsPart part;
  double PhysicsConstants::*value;
  double least, most;  ///< of the value
};
std::span<const PhysicsConstantEntry> physics_constants();

}  // namespace corun::inline predictors
