#pragma once

#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "models/interference/interference_model.hpp"

/// The visible table of interference models. To add one, write models/interference/<name>.{hpp,cpp}
/// and one line in catalog.cpp.
namespace corun {

struct InterferenceModelEntry {
  std::string_view name;
  std::string_view description;
  /// Fits on the table's rows; std::invalid_argument says what it cannot be fitted on.
  std::unique_ptr<InterferenceModel> (*fit)(const SpeedTable& table,
                                            const FitOptions& options) = nullptr;
  /// From what save() gave, with the features and the workloads that it had; std::invalid_argument for
  /// anything that is not possible.
  std::unique_ptr<InterferenceModel> (*load)(const nlohmann::json& state,
                                             std::vector<SpeedTable::Feature> features,
                                             std::vector<WorkloadKey> workloads) = nullptr;
};

/// The default comes first.
std::span<const InterferenceModelEntry> interference_model_catalog();
/// nullptr when there is none of that name; "default" is the first of the catalogue.
const InterferenceModelEntry* find_interference_model(std::string_view name);

}  // namespace corun
