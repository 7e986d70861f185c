#pragma once

#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "predictors/held_out.hpp"
#include "predictors/predictor.hpp"
#include "predictors/residual_model.hpp"

/// GPU utilisation of a training job [%], as NVML and DCGM report it: the share of the time in which a kernel runs.
///
///   100 / u = c_0 + (c_1 + c_2 B + c_3 I + c_4 n) / t,   c >= 0,   u <= 100
///
/// t is the time of the step's kernels [ms], each at least 3 microseconds, by the roofline of the GPU (peak of
/// convolutions, five sixths of the bandwidth); B the batch, I its input [MiB], n the number of kernels. So the
/// brackets are the time in which the GPU waits: for the host's preparation of the step, of each sample, of its
/// bytes, and for launches. ln(1 + u) minus that of the formula is learnt (residual_model.hpp) from logarithms of t, its
/// parts and the model's figures.
///
/// Kernels of an operation: a layer with weights has three of its multiply-adds (forward and both gradients), a
/// convolution also three copies of its input and output to another layout; others move their output twice
/// forward and three times backward (normalisations 3 and 5 times, dropout 2.25 and 2.25, sums 3 and 3). The optimiser
/// moves seven numbers per weight.
///
/// Fitted on one GPU type (A100), as public measurements are of that type alone. Known error
/// (experiments/predictors/README.md), root mean square of the error of ln(1 + u): convolutional networks, random jobs
/// 0.063 (2.2 points of utilisation on average), unseen architectures 0.070 (2.5); MLPs 0.151 and 0.160. The 90 %
/// intervals hold 89 to 95 %. On other GPU types no error is known.
namespace corun::inline predictors {

class UtilisationPredictor final : public Predictor {
 public:
  /// std::invalid_argument below 20 jobs with a value and a graph.
  static std::unique_ptr<Predictor> fit(std::span<const MeasuredJob> jobs,
                                        const PredictorOptions& options);
  static std::unique_ptr<Predictor> built_in();  ///< built_in_predictor()
  static std::unique_ptr<Predictor> load(const nlohmann::json& state);

  Target target() const override { return Target::kUtilisation; }
  std::vector<Prediction> predict(std::span<const PredictorJob> jobs) const override;
  /// A copy: utilisation is not refitted.
  std::unique_ptr<Predictor> with_seen(std::span<const MeasuredJob> jobs,
                                       const PhysicsConstants& constants) const override;
  nlohmann::json save() const override;

 private:
  struct Job;  ///< what the formula and the residual read

  static std::optional<Job> job_of(const PredictorJob& job);
  static UtilisationPredictor learn(std::span<const MeasuredJob* const> jobs,
                                    std::span<const Job> figures, const PredictorOptions& options,
                                    int ensembles);
  double formula(const Job& job) const;  ///< u [%]
  std::vector<float> features(const Job& job) const;
  double log_median(const Job& job) const;  ///< ln(1 + u)

  std::vector<double> coefficients_;
  ResidualModel residual_;
  SeenGroups seen_;
  ErrorSpread spread_;  ///< of ln(1 + u)
};

}  // namespace corun::inline predictors
