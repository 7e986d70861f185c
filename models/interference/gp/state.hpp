#pragma once

#include <cstddef>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "models/interference/gp/calibration.hpp"
#include "models/interference/gp/training_set.hpp"

/// All that a Gaussian process's predictions need, and how it is put into files and read back: the same
/// bytes in, the same bits predicted. What follows from it (posterior, orders) is worked out anew.
namespace corun::gp {

/// Observations that a model holds at most.
inline constexpr std::size_t kMostHeld = 4000;

struct State {
  TrainingSet data;
  std::vector<double> parameters;  ///< covariance.hpp
  Calibration calibration;

  nlohmann::json save() const;
  /// What save() gave. std::invalid_argument: sizes do not fit each other, or a number is not possible.
  static State load(const nlohmann::json& saved, std::vector<SpeedTable::Feature> features,
                    std::vector<WorkloadKey> workloads);
};

}  // namespace corun::gp
