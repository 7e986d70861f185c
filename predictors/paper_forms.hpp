#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "predictors/predictor.hpp"
#include "predictors/regressor.hpp"

/// The regressors of the papers on the papers' features, for comparison with our own.
///
/// Memory and time: SchedTune section IV (activations A (if unknown, outputs of layers with weights), parameters P and input I of a batch in MB, batch size;
/// bandwidth, CUDA cores, SMs, memory clock, tensor cores); for time the multiply-adds of a step beside them.
/// Utilisation: Util20 Table 2 (numbers of convolutions, linear layers, activation functions and other layers,
/// model size in MB, GFLOPs, batch size). They learn the target as it is, not its logarithm, as the papers do.
/// A figure that no job has, or all alike, is left out; one that a job lacks counts as the mean.
///
/// Intervals are the 5 % and 95 % quantiles of value / prediction over jobs held out in five random folds: the
/// papers give none.
///
/// Known error, for comparison: a random forest on SchedTune's features errs by 19.1 % on the memory of an unseen model of
/// timm's sweep, where `physics` errs by 3.7 %; experiments/predictors/README.md has the other forms, tables and targets.
namespace corun::inline predictors {

class PaperFormPredictor final : public Predictor {
 public:
  /// std::invalid_argument below ten jobs with a value, and if no figure of the form is known.
  static std::unique_ptr<Predictor> fit(RegressorForm form, Target target,
                                        std::span<const MeasuredJob> jobs,
                                        const PredictorOptions& options);
  static std::unique_ptr<Predictor> load(Target target, const nlohmann::json& state);

  Target target() const override { return target_; }
  std::vector<Prediction> predict(std::span<const PredictorJob> jobs) const override;
  std::unique_ptr<Predictor> with_seen(std::span<const MeasuredJob>,
                                       const PhysicsConstants&) const override {
    return std::unique_ptr<Predictor>(new PaperFormPredictor(*this));
  }
  nlohmann::json save() const override;

 private:
  explicit PaperFormPredictor(Target target) : target_(target) {}
  /// The form's features of a job, in the order of used_.
  std::vector<double> features(const JobFigures& figures) const;

  Target target_;
  std::vector<std::int32_t> used_;  ///< positions in the list of the target's features
  std::vector<double> mean_;        ///< of each used feature, for jobs that lack it
  Regressor regressor_;
  double floor_ = 0;                      ///< least prediction: a tenth of the least value seen
  double low_ = 1, high_ = 1, safe_ = 1;  ///< quantiles of value / prediction: 5 %, 95 %, 99 %
};

}  // namespace corun::inline predictors
