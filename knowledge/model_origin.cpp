#include "knowledge/model_origin.hpp"

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "knowledge/prefitted_model.hpp"
#include "models/interference/groups/campaign_groups.hpp"
#include "traces/gpu_catalog.hpp"

namespace corun::inline knowledge {

namespace {

bool is_known(const SpeedTable::Campaign& campaign) {
  return !campaign.gpu.empty() && campaign.sharing != Sharing::kUnknown;
}

std::string text_of(const SpeedTable::Campaign& campaign) {
  const bool has_mode = campaign.sharing != Sharing::kUnknown;
  return fmt::format("{} with {}",
                     campaign.gpu.empty() ? "a GPU type that is not stated" : campaign.gpu,
                     has_mode ? kSharingNames[static_cast<std::size_t>(campaign.sharing)]
                              : "a sharing mode that is not stated");
}

/// Those that a model was fitted to, with 0 rows where their number is not known; of models without common features, those
/// of the one that predicts these jobs.
std::vector<MeasuredCampaign> campaigns_of(const InterferenceModel& model,
                                           std::span<const PairJob> jobs) {
  if (const auto* const groups = dynamic_cast<const CampaignGroups*>(&model)) {
    return groups->group_of(jobs).campaigns();
  }
  if (const auto* const several = dynamic_cast<const CampaignModel*>(&model)) {
    return several->campaigns();
  }
  return {{model.groups().campaign, 0}};
}

}  // namespace

bool is_of_several_campaigns(const InterferenceModel& model) {
  return dynamic_cast<const CampaignModel*>(&model) != nullptr ||
         dynamic_cast<const CampaignGroups*>(&model) != nullptr;
}

std::shared_ptr<const InterferenceModel> model_on(std::shared_ptr<const InterferenceModel> model,
                                                  std::string_view gpu, std::string_view sharing) {
  if (!is_of_several_campaigns(*model)) return model;
  return on_campaign(std::move(model),
                     campaign_on(gpu, sharing_of(sharing).value_or(Sharing::kUnknown)));
}

bool is_new_there(const InterferenceModel& model, std::span<const PairJob> jobs) {
  if (const auto* const groups = dynamic_cast<const CampaignGroups*>(&model)) {
    return groups->group_of(jobs).is_new();
  }
  const auto* const several = dynamic_cast<const CampaignModel*>(&model);
  return several != nullptr && several->is_new();
}

std::string told_of_origin(std::string_view name, const InterferenceModel& model,
                           std::span<const PairJob> jobs,
                           std::span<const SpeedTable::Campaign> campaigns) {
  const std::vector<MeasuredCampaign> measured = campaigns_of(model, jobs);
  std::vector<std::pair<std::string, std::uint64_t>> speeds;  // by machine and mode
  for (const MeasuredCampaign& one : measured) {
    const std::string text = text_of(one.campaign);
    const auto at = std::ranges::find(speeds, text, &std::pair<std::string, std::uint64_t>::first);
    if (at == speeds.end())
      speeds.emplace_back(text, one.rows);
    else
      at->second += one.rows;
  }
  std::vector<std::string> here;
  for (const auto& [text, count] : speeds) {
    here.push_back(count == 0 ? text : fmt::format("{} ({} pairs)", text, (count + 1) / 2));
  }
  const bool comes_with_corun = is_prefitted(name);
  std::vector<std::string> elsewhere;
  for (const SpeedTable::Campaign& campaign : campaigns) {
    const std::string text = text_of(campaign);
    // A file's own user knows what it does not state.
    const bool is_measured = std::ranges::any_of(measured, [&](const MeasuredCampaign& one) {
      return comes_with_corun ? is_known(campaign) && text_of(one.campaign) == text
                              : !contradicts(one.campaign, campaign);
    });
    if (!is_measured && std::ranges::find(elsewhere, text) == elsewhere.end())
      elsewhere.push_back(text);
  }
  if (!comes_with_corun && elsewhere.empty()) return "";
  std::string told =
      comes_with_corun
          ? fmt::format("{} comes with corun and has measurements of jobs with such features on {}",
                        kPrefitted, fmt::join(here, ", "))
          : fmt::format("{} was fitted to measurements on {}", name, fmt::join(here, ", "));
  if (elsewhere.empty()) {
    return told + "; your jobs and your machine may still differ: measure some pairs and fit them";
  }
  return told + fmt::format("; {} {} not among them: the level of the costs there is a guess",
                            fmt::join(elsewhere, ", "), elsewhere.size() == 1 ? "is" : "are");
}

const std::vector<SpeedTable::Feature>& features_used(const InterferenceModel& model,
                                                      std::span<const PairJob> jobs) {
  const auto* const groups = dynamic_cast<const CampaignGroups*>(&model);
  return groups == nullptr ? model.features() : groups->group_of(jobs).features();
}

}  // namespace corun::inline knowledge
