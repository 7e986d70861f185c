#pragma once

#include <cstddef>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "sim/measurement.hpp"
#include "sim/speed_table.hpp"

/// What a FactorModel has learnt, and how it is put into files and read back: the same bytes in, the same
/// bits predicted. Equation and units: factor_model.hpp.
namespace corun {

/// One draw from the posterior. Vectors are jobs x (rank + 1), row-major, (a, u) and (b, v).
struct FactorSample {
  int rank = 0;
  std::vector<float> job;        ///< (a_i, u_i) of the jobs seen
  std::vector<float> co_runner;  ///< (b_i, v_i)
  std::vector<float> beta;       ///< basis x d, row-major
  std::vector<float> scatter;    ///< d x d, lower triangular root of inv(Lambda), row-major
  float noise = 0;               ///< 1 / sqrt(tau)
  float strength = 0;            ///< of the prior of beta
  friend bool operator==(const FactorSample&, const FactorSample&) = default;
};

/// All that a prediction needs.
struct FactorState {
  std::vector<SpeedTable::Feature> features;
  std::vector<WorkloadKey> keys;  ///< of the jobs seen; all different but for kUnknownWorkload
  std::vector<double> mean, deviation;  ///< of x; deviation 0: the same for all, says nothing
  std::vector<double> inducing_points;  ///< x of the jobs seen, standardised, row-major
  std::vector<double> kernel_root;      ///< jobs seen x kernel features
  double target_mean = 0, target_deviation = 1;
  double freedom = 6;
  double residual_sigma = 0;
  std::vector<FactorSample> samples;
  std::size_t predicting = 0;  ///< so many samples, the first ones, make the prediction
  friend bool operator==(const FactorState&, const FactorState&) = default;
};

namespace factors {

inline constexpr std::size_t kMostFeatures = 32;
inline constexpr int kMostRank = 64;

/// std::invalid_argument when sizes do not fit each other or a number is not possible.
void check(const FactorState& state);
nlohmann::json save(const FactorState& state);
/// What save() gave, not yet checked as a whole. std::invalid_argument: what is there is not a state.
FactorState load(const nlohmann::json& saved, std::vector<SpeedTable::Feature> features,
                 std::vector<WorkloadKey> workloads);

}  // namespace factors

}  // namespace corun
