#pragma once

#include <cstddef>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "sim/measurement.hpp"
#include "sim/speed_table.hpp"

/// The state of a FactorModel and its form in files: a state that was saved and loaded predicts the same
/// bits. Equation and units: factor_model.hpp.
namespace corun::inline models {

/// One draw from the posterior. Vectors are jobs x (rank + 1), row-major, (a, u) and (b, v).
struct FactorSample {
  int rank = 0;
  std::vector<float> job;        ///< (a_i, u_i) of the seen jobs
  std::vector<float> co_runner;  ///< (b_i, v_i)
  std::vector<float> beta;       ///< basis x d, row-major, d = 2 rank + 2
  std::vector<float> scatter;    ///< d x d, row-major, lower triangular root of inv(Lambda)
  float noise = 0;               ///< 1 / sqrt(tau)
  float strength = 0;            ///< of the prior of beta
  friend bool operator==(const FactorSample&, const FactorSample&) = default;
};

/// All data that a prediction needs.
struct FactorState {
  std::vector<SpeedTable::Feature> features;
  std::vector<WorkloadKey> keys;        ///< of the seen jobs; all different except kUnknownWorkload
  std::vector<double> mean, deviation;  ///< of x; deviation 0: constant over the jobs, left out
  std::vector<double> inducing_points;  ///< x of the seen jobs, jobs x width of x, row-major
  std::vector<double> kernel_root;      ///< V omega^(-1/2), seen jobs x kernel features, row-major
  double target_mean = 0, target_deviation = 1;
  double freedom = 6;
  double residual_sigma = 0;
  std::vector<FactorSample> samples;
  std::size_t predicting = 0;  ///< the first samples, of chains that predict
  friend bool operator==(const FactorState&, const FactorState&) = default;
};

namespace factors {

inline constexpr std::size_t kMostFeatures = 32;
inline constexpr int kMostRank = 64;

/// std::invalid_argument if sizes do not fit each other or a number is out of range.
void check(const FactorState& state);
nlohmann::json save(const FactorState& state);
/// `saved`: from save(). The result is to be checked by check(). std::invalid_argument if it does not have
/// the form of a state.
FactorState load(const nlohmann::json& saved, std::vector<SpeedTable::Feature> features,
                 std::vector<WorkloadKey> workloads);

}  // namespace factors

}  // namespace corun::inline models
