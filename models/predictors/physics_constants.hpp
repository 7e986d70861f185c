#pragma once

#include <span>
#include <string_view>

/// Constants of `physics` that no equation gives: shapes of trees, kernels and priors. `corun predictor fit` takes
/// the values below. `corun predictor eval --constants` takes others, so that
/// experiments/studies/predictors/constants.py can choose them on some tables and score them on another.
namespace corun {

struct PhysicsConstants {
  // Boosted trees of a residual (residual_model.hpp).
  double depth = 5;             ///< of a tree
  double learning_rate = 0.04;  ///< of a round
  double rows = 0.5;            ///< share of the rows that a tree sees
  double columns = 0.25;        ///< share of the features that a split sees
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
};

/// A constant by its name in `--constants`.
struct PhysicsConstantEntry {
  std::string_view name;
  double PhysicsConstants::*value;
  double least, most;
};
std::span<const PhysicsConstantEntry> physics_constants();

}  // namespace corun
