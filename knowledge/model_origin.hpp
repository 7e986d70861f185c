#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "models/interference/interference_model.hpp"

/// Where a fitted model was measured: its campaigns (SpeedTable::Campaign), GPU types with sharing modes, and what that means
/// for predictions elsewhere.
namespace corun::inline knowledge {

/// Whether predictions of a model depend on the GPU type and the sharing mode: it was fitted to several campaigns.
bool is_of_several_campaigns(const InterferenceModel& model);

/// The model as it predicts on a GPU type with a sharing mode (on_campaign()) if it is of several campaigns; else
/// itself.
std::shared_ptr<const InterferenceModel> model_on(std::shared_ptr<const InterferenceModel> model,
                                                  std::string_view gpu, std::string_view sharing);

/// Whether a model of several campaigns, which comes from model_on(), has no measurements there of jobs like these, which
/// have its features. False for any other model.
bool is_new_there(const InterferenceModel& model, std::span<const PairJob> jobs);

/// A sentence on where the model of this name was measured, for these jobs, which have its features, on these campaigns. Of
/// `prefitted`: where jobs like them were measured, how many pairs, and where none was. Of another: only if it was measured
/// elsewhere; else empty.
std::string told_of_origin(std::string_view name, const InterferenceModel& model,
                           std::span<const PairJob> jobs,
                           std::span<const SpeedTable::Campaign> campaigns);

/// The features that the model uses of such jobs. All, unless it was fitted to campaigns without common features.
const std::vector<SpeedTable::Feature>& features_used(const InterferenceModel& model,
                                                      std::span<const PairJob> jobs);

}  // namespace corun::inline knowledge
