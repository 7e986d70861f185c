#pragma once

#include <span>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "models/interference/interference_model.hpp"

/// How far single co-runs lie from what a model of few parameters predicts: the same share of the speed
/// for every pair, by the residuals of -log(speed) that its fit left. An interval without knowledge of
/// where the model knows little.
namespace corun {

struct ResidualSpread {
  double deviation = 0;  ///< of -log(speed)
  double low = 0;        ///< 5 % of the residuals lie below
  double high = 0;       ///< 5 % lie above

  /// Residuals, measured - predicted. Few of them promise little: two residuals of +-kPriorSpread are
  /// added.
  static ResidualSpread of(std::span<const double> residuals);
  static constexpr double kPriorSpread = 0.3;

  SpeedPrediction around(double speed) const;
  /// Of each resident, around what `model` expects of it; 1 for certain for a job alone.
  std::vector<SpeedPrediction> around(const InterferenceModel& model,
                                      std::span<const PairJob> residents) const;

  nlohmann::json save() const;
  static ResidualSpread load(const nlohmann::json& saved);
  friend bool operator==(const ResidualSpread&, const ResidualSpread&) = default;
};

}  // namespace corun
