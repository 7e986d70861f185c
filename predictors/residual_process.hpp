#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "predictors/predictor.hpp"

/// A Gaussian process over features of jobs, for residuals of a formula.
namespace corun::inline predictors {

struct ResidualRows {
  std::size_t columns = 0;
  std::vector<float> features;  ///< rows x columns, row-major; NaN: not known
  std::vector<float> residual;  ///< logarithms
  std::vector<float> weight;    ///< of the squared errors, above 0

  std::size_t rows() const { return residual.size(); }
};

/// Prior mean 0, kernel k(a, b) = exp(-|a - b| / 4), where |a - b| is the Euclidean distance in standard deviations of
/// the features (Rasmussen and Williams, "Gaussian Processes for Machine Learning", 2006, eq. 4.18: the exponential
/// kernel, for functions that are continuous but not smooth). The noise's variance is 0.01 / weight. An unknown
/// feature counts as its mean.
class ResidualProcess {
 public:
  /// More rows than this are thinned at random, because the time grows as their cube.
  static constexpr std::size_t kMostRows = 3000;

  /// std::invalid_argument for no rows, sizes that do not fit each other, or a covariance that is singular.
  static ResidualProcess fit(const ResidualRows& rows, const PredictorOptions& options);

  bool empty() const { return weights_.empty(); }
  std::size_t columns() const { return mean_.size(); }
  /// The posterior mean. `features`: columns() numbers; not while empty().
  double mean(std::span<const float> features) const;

  nlohmann::json save() const;
  /// `state`: from save(). std::invalid_argument if it is not a possible state.
  static ResidualProcess load(const nlohmann::json& state);

 private:
  void standardise(std::span<const float> features, float* out) const;

  std::vector<double> mean_,
      scale_;                  ///< of features; scale is 1 / deviation, 0 for one without any
  std::vector<float> points_;  ///< rows x columns, standardised
  double length_ = PhysicsConstants{}.length;  ///< files have the usual one
  std::vector<double> weights_;                ///< of the rows: (K + noise)^-1 residual
};

}  // namespace corun::inline predictors
