#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "predictors/physics/time_terms.hpp"
#include "predictors/predictor.hpp"

/// Time of a step on a GPU type [ms]: the roofline of the job's operations, and a Gaussian process for what it
/// misses. Training and inference have constants of their own.
///
///   ln time = ln sqrt(A^2 + C^2) + r,   A = sum of c_i x_i over the GPU's terms, C over the host's
///
/// The x_i are time_terms(). A and C overlap, because the host launches ahead of the GPU. The coefficients
/// c_i > 0 minimise a robust loss (soft L1, scale 0.2) of ln time, with a weak prior around typical values (the
/// reciprocal of the share of the peak that such operations reach; microseconds per launch). If the rows come
/// from several versions of cuDNN, Winograd convolutions have a coefficient for each of three generations.
///
/// r is a Gaussian process of mean 0. Its covariance is a sum of thirteen kernels: effects of the GPU type, its
/// architecture, the host, the model, its family and, where versions are known, cuDNN, most of them separately for
/// arithmetic, bytes and launches by their shares of the step, and smooth functions of the model's and the GPU's figures. Their
/// variances are those of greatest posterior density around prior ones. So a few measured rows of a new GPU type, host
/// or model settle its effects.
///
/// The median printed is exp(mean - variance), which has the least mean relative error. Intervals are the posterior's
/// deviation times quantiles of errors on rows left out within the fit (held_out.hpp), by what is unknown: model, family,
/// GPU type, architecture, or both. For each part left out the coefficients are fitted anew; the covariance stays.
///
/// Known error (experiments/predictors/README.md), mean absolute percentage error of jobs held out: training,
/// random jobs 3.5, unseen families 9.1, unseen GPU types 10.2, with five known rows 6.1; inference 3.4, 11.0 and
/// 15.2; older GPUs, unseen GPU types 6.9, unseen families 32.1. The 90 % intervals hold 88 to 95 %.
///
/// A predictor keeps at most 1,500 rows per phase.
namespace corun::inline predictors {

class StepTimeProcess;

class TimePredictor final : public Predictor {
 public:
  /// std::invalid_argument below 20 jobs of a phase with a value, a graph and a known GPU type, if there are
  /// not so many of either phase.
  static std::unique_ptr<Predictor> fit(std::span<const MeasuredJob> jobs,
                                        const PredictorOptions& options);
  static std::unique_ptr<Predictor> built_in();  ///< built_in_predictor()
  static std::unique_ptr<Predictor> load(const nlohmann::json& state);

  Target target() const override { return Target::kTime; }
  std::vector<Prediction> predict(std::span<const PredictorJob> jobs) const override;
  std::unique_ptr<Predictor> with_seen(std::span<const MeasuredJob> jobs,
                                       const PhysicsConstants& constants) const override;
  nlohmann::json save() const override;

 private:
  std::shared_ptr<const StepTimeProcess> training_, inference_;  ///< nullptr: not fitted
};

}  // namespace corun::inline predictors
