#pragma once

#include <span>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "models/interference/interference_model.hpp"

/// The spread of single co-runs around the predictions of a model of few parameters, from the residuals of
/// -log(speed) in its fit. It is the same share of the speed for every pair, whatever the model knows about
/// the pair.
namespace corun::inline models {

struct ResidualSpread {
  double deviation = 0;  ///< root mean square of the residuals of -log(speed)
  double low = 0;        ///< their 5 % quantile, at most 0
  double high = 0;       ///< their 95 % quantile, at least 0

  /// `residuals`: measured - predicted -log(speed). Two residuals, +-kPriorSpread, are added as a prior.
  static ResidualSpread of(std::span<const double> residuals);
  static constexpr double kPriorSpread = 0.3;

  /// The prediction with this median speed.
  SpeedPrediction around(double speed) const;
  /// The predictions around model.speeds(), one entry per resident; a job alone has speed 1 and no spread.
  std::vector<SpeedPrediction> around(const InterferenceModel& model,
                                      std::span<const PairJob> residents) const;

  nlohmann::json save() const;
  /// `saved`: from save(). std::invalid_argument if it is not a possible state.
  static ResidualSpread load(const nlohmann::json& saved);
  friend bool operator==(const ResidualSpread&, const ResidualSpread&) = default;
};

}  // namespace corun::inline models
