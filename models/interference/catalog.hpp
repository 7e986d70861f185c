#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "models/interference/interference_model.hpp"

/// The table of interference models; models/README.md says how to add one.
namespace corun::inline models {

struct InterferenceModelEntry {
  std::string_view name;
  std::string_view description;
  /// Fits the model on the rows of the table; std::invalid_argument if it cannot be fitted on them.
  std::unique_ptr<InterferenceModel> (*fit)(const SpeedTable& table,
                                            const FitOptions& options) = nullptr;
  /// Makes the model from `state` of save() and from the features and workloads that it had;
  /// std::invalid_argument if they are not a possible state.
  std::unique_ptr<InterferenceModel> (*load)(const nlohmann::json& state,
                                             std::vector<SpeedTable::Feature> features,
                                             std::vector<WorkloadKey> workloads) = nullptr;
  bool draws = false;  ///< fits depend on FitOptions::seed and on FitOptions::effort
};

/// All models, the default first.
std::span<const InterferenceModelEntry> interference_model_catalog();
/// The model of that name ("default" is the first of the catalogue); nullptr if there is none.
const InterferenceModelEntry* find_interference_model(std::string_view name);

/// What one fit of several gave.
struct FitOutcome {
  std::shared_ptr<InterferenceModel> model;  ///< null if it was refused
  std::string refused;                       ///< the message of its std::invalid_argument
};

/// Fits several models to one table: what entry.fit() gives for each, but an ensemble takes the members that
/// are fitted beside it.
std::vector<FitOutcome> fit_together(std::span<const InterferenceModelEntry* const> entries,
                                     const SpeedTable& table, const FitOptions& options);

}  // namespace corun::inline models
