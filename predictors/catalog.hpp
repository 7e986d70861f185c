#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string_view>

#include <nlohmann/json_fwd.hpp>

#include "predictors/predictor.hpp"

/// The table of predictors. To add one, write predictors/<name>.{hpp,cpp} and one line in catalog.cpp.
namespace corun::inline predictors {

struct PredictorEntry {
  std::string_view name;
  std::string_view description;
  /// std::invalid_argument if it cannot be fitted on these jobs: too few, or figures that it needs are
  /// missing from all of them.
  std::unique_ptr<Predictor> (*fit)(Target target, std::span<const MeasuredJob> jobs,
                                    const PredictorOptions& options) = nullptr;
  /// Makes the predictor from save(); std::invalid_argument if that is not a possible state.
  std::unique_ptr<Predictor> (*load)(Target target, const nlohmann::json& state) = nullptr;
  std::optional<Target> only = {};  ///< the one target that it predicts; empty: all

  bool predicts(Target target) const { return !only || *only == target; }
};

/// All predictors, the default first.
std::span<const PredictorEntry> predictor_catalog();
/// The predictor of that name ("default" is the first); nullptr if there is none.
const PredictorEntry* find_predictor(std::string_view name);

/// The formula of `physics` alone, with constants that `corun predictor fit` found on public measurements:
/// memory and utilisation on GPUMemNet's convolutional networks (A100), time on pytorch-gpu-benchmark's (12 GPU
/// types). For jobs of which nothing was measured.
std::unique_ptr<Predictor> built_in_predictor(Target target);

}  // namespace corun::inline predictors
