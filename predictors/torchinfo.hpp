#pragma once

#include <memory>
#include <span>

#include <nlohmann/json_fwd.hpp>

#include "predictors/predictor.hpp"

/// The memory that torchinfo's summary estimates, a baseline of SchedTune (Albahar et al., CCGrid 2022, figure 10 and
/// Table IV): input + outputs of all layers, forward and backward + parameters, 4 bytes each. It knows neither
/// optimiser nor context nor workspace, and nothing of the GPU. (The figure counts the outputs of residual blocks
/// beside those of their layers: 62.79 MB for ResNet18 in place of 57.05.) Where only the outputs of layers with weights are
/// known, these count.
///
/// Nothing is learnt but the interval: the 5 % and 95 % (and 99 %) quantiles of value / estimate over the jobs seen.
///
/// Known error of the median: 58.2 % on jobs generated as SchedTune's were, 49.8 % on timm's sweep, 44.1 % on measured CNNs
/// (experiments/schedtune/README.md, Table IV).
namespace corun::inline predictors {

/// [bytes]; NaN if a figure is missing.
double torchinfo_bytes(const JobFigures& figures);

class TorchinfoPredictor final : public Predictor {
 public:
  /// std::invalid_argument for another target than memory, and for fewer than ten jobs with a value and the
  /// figures.
  static std::unique_ptr<Predictor> fit(Target target, std::span<const MeasuredJob> jobs);
  static std::unique_ptr<Predictor> load(Target target, const nlohmann::json& state);

  Target target() const override { return Target::kMemory; }
  std::vector<Prediction> predict(std::span<const PredictorJob> jobs) const override;
  std::unique_ptr<Predictor> with_seen(std::span<const MeasuredJob>,
                                       const PhysicsConstants&) const override {
    return std::make_unique<TorchinfoPredictor>(*this);
  }
  nlohmann::json save() const override;

 private:
  double low_ = 1, high_ = 1, safe_ = 1;  ///< quantiles of value / estimate
};

}  // namespace corun::inline predictors
