#include "knowledge/prefitted_model.hpp"

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

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

std::string told_of_prefitted(const InterferenceModel& model, std::span<const PairJob> jobs,
                              std::span<const SpeedTable::Campaign> campaigns) {
  std::vector<MeasuredCampaign> measured;
  if (const auto* const groups = dynamic_cast<const CampaignGroups*>(&model)) {
    measured = groups->group_of(jobs).campaigns();
  } else if (const auto* const several = dynamic_cast<const CampaignModel*>(&model)) {
    measured = several->campaigns();
  }
  std::vector<std::pair<std::string, std::uint64_t>> pairs;  // by machine and mode
  for (const MeasuredCampaign& one : measured) {
    const std::string text = text_of(one.campaign);
    const auto at = std::ranges::find(pairs, text, &std::pair<std::string, std::uint64_t>::first);
    if (at == pairs.end())
      pairs.emplace_back(text, one.rows);
    else
      at->second += one.rows;
  }
  std::vector<std::string> here;
  for (const auto& [text, speeds] : pairs) {
    here.push_back(fmt::format("{} ({} pairs)", text, (speeds + 1) / 2));
  }
  std::vector<std::string> elsewhere;
  for (const SpeedTable::Campaign& campaign : campaigns) {
    const std::string text = text_of(campaign);
    const bool is_measured =
        is_known(campaign) &&
        std::ranges::find(pairs, text, &std::pair<std::string, std::uint64_t>::first) !=
            pairs.end();
    if (!is_measured && std::ranges::find(elsewhere, text) == elsewhere.end())
      elsewhere.push_back(text);
  }
  std::string told =
      fmt::format("{} comes with corun and has measurements of jobs with such features on {}",
                  kPrefitted, fmt::join(here, ", "));
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
