#pragma once

#include <cstddef>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "models/interference/gp/calibration.hpp"
#include "models/interference/gp/training_set.hpp"

/// All data that a Gaussian process needs to predict, with its form in files: a state that was saved and
/// loaded predicts the same bits. Data that follow from it (posterior, orders) are computed again.
namespace corun::inline models::gp {

/// The most observations that a model holds.
inline constexpr std::size_t kMostHeld = 4000;

struct State {
  TrainingSet data;
  std::vector<double> parameters;  ///< covariance.hpp
  Calibration calibration;

  nlohmann::json save() const;
  /// `saved`: from save(). std::invalid_argument if sizes do not fit each other or a number is out of range.
  static State load(const nlohmann::json& saved, std::vector<SpeedTable::Feature> features,
                    std::vector<WorkloadKey> workloads);
};

}  // namespace corun::inline models::gp
