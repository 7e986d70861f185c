#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "models/interference/interference_model.hpp"

/// The fitted model that comes with corun (models/prefitted), under the name `prefitted`: wherever a file of
/// `corun model fit` may be named, it may be named. It has seen few machines, so what uses it says which.
namespace corun::inline knowledge {

/// Stands for the file. A file of this name is ./prefitted.
inline constexpr std::string_view kPrefitted = "prefitted";

inline bool is_prefitted(std::string_view name) { return name == kPrefitted; }

/// Whether predictions of a model depend on the GPU type and the sharing mode: it was fitted to several campaigns.
bool is_of_several_campaigns(const InterferenceModel& model);

/// The model as it predicts on a GPU type with a sharing mode (on_campaign()) if it is of several campaigns; else
/// itself.
std::shared_ptr<const InterferenceModel> model_on(std::shared_ptr<const InterferenceModel> model,
                                                  std::string_view gpu, std::string_view sharing);

/// A sentence on what the model that comes with corun knows of these jobs, which have its features, on these campaigns:
/// where jobs like them were measured, how many pairs, and where none was.
std::string told_of_prefitted(const InterferenceModel& model, std::span<const PairJob> jobs,
                              std::span<const SpeedTable::Campaign> campaigns);

/// The features that the model uses of such jobs. All, unless it was fitted to campaigns without common features.
const std::vector<SpeedTable::Feature>& features_used(const InterferenceModel& model,
                                                      std::span<const PairJob> jobs);

}  // namespace corun::inline knowledge
