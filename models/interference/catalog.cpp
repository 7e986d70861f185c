#include "models/interference/catalog.hpp"

#include <algorithm>
#include <array>
#include <stdexcept>
#include <utility>

#include <nlohmann/json.hpp>

#include "models/interference/boosted_trees.hpp"
#include "models/interference/cluster_mean.hpp"
#include "models/interference/contention.hpp"
#include "models/interference/ensemble.hpp"
#include "models/interference/factor_model.hpp"
#include "models/interference/gp_model.hpp"
#include "models/interference/groups/campaign_groups.hpp"
#include "models/interference/groups/group_rules.hpp"
#include "models/interference/lookup.hpp"
#include "models/interference/low_rank.hpp"

namespace corun::inline models {

namespace {

template <typename Model>
std::unique_ptr<InterferenceModel> of_pairs(const SpeedTable& table, const FitOptions& options) {
  return std::make_unique<Model>(Model::fit(table, options));
}

template <typename Model>
std::unique_ptr<InterferenceModel> load_one(const nlohmann::json& state,
                                            std::vector<SpeedTable::Feature> features,
                                            std::vector<WorkloadKey> workloads) {
  return std::make_unique<Model>(Model::load(state, std::move(features), std::move(workloads)));
}

/// Of one campaign.
template <typename Model>
constexpr ModelKind kKind{of_pairs<Model>, load_one<Model>};

template <typename Model>
std::unique_ptr<InterferenceModel> fit(const SpeedTable& table, const FitOptions& options) {
  const SpeedTable* pairs = &table;
  SpeedTable with_groups;
  if (!table.groups.empty()) pairs = &(with_groups = with_pairs_of_groups(table));
  std::unique_ptr<InterferenceModel> model;
  if (table.campaigns.size() > 1) {
    model = CampaignGroups::fit(kKind<Model>, *pairs, options);
  } else {
    model = of_pairs<Model>(*pairs, options);
  }
  model->set_groups(learnt_groups(*model, table));
  return model;
}

template <typename Model>
std::unique_ptr<InterferenceModel> load(const nlohmann::json& state,
                                        std::vector<SpeedTable::Feature> features,
                                        std::vector<WorkloadKey> workloads) {
  if (CampaignGroups::is_state(state)) {
    return std::make_unique<CampaignGroups>(
        CampaignGroups::load(kKind<Model>, state, std::move(features), std::move(workloads)));
  }
  if (!CampaignModel::is_state(state)) {
    return load_one<Model>(state, std::move(features), std::move(workloads));
  }
  return std::make_unique<CampaignModel>(
      CampaignModel::load(kKind<Model>, state, features, std::move(workloads)));
}

constexpr bool kDraws = true;

template <typename Model>
constexpr InterferenceModelEntry entry(std::string_view name, std::string_view description,
                                       bool draws = false) {
  return {name, description, fit<Model>, load<Model>, draws};
}

}  // namespace

std::span<const InterferenceModelEntry> interference_model_catalog() {
  static constexpr std::array kCatalog{
      entry<EnsembleModel>("ensemble",
                           "factors, gp and boosted-trees averaged, by what is known of the pair",
                           kDraws),
      entry<FactorModel>("factors",
                         "Bayesian low-rank completion with features as prior; jobs seen and not",
                         kDraws),
      entry<GpModel>("gp", "Gaussian process of both jobs' features and keys; learns online",
                     kDraws),
      entry<BoostedTrees>("boosted-trees",
                          "gradient-boosted trees of both jobs' features and measured effects",
                          kDraws),
      entry<LowRank>("low-rank", "matrix completion by least squares, by keys alone (Gavel's way)",
                     kDraws),
      entry<ContentionModel>(
          "contention",
          "physical, k-way: units, memory traffic, launch latency; four coefficients"),
      entry<ClusterMeanModel>("cluster-mean",
                              "the papers' view: mean speed per ordered pair of clusters"),
      entry<Lookup>("measured",
                    "the mean of what was measured of exactly this pair, else the median"),
  };
  return kCatalog;
}

std::vector<FitOutcome> fit_together(std::span<const InterferenceModelEntry* const> entries,
                                     const SpeedTable& table, const FitOptions& options) {
  std::vector<FitOutcome> out(entries.size());
  const auto make = [&](std::size_t e, const auto& model_of) {
    try {
      out[e].model = model_of();
    } catch (const std::invalid_argument& refused) {
      out[e].refused = refused.what();
    }
  };
  const InterferenceModelEntry* const ensemble = find_interference_model("ensemble");
  for (std::size_t e = 0; e < entries.size(); ++e) {
    if (entries[e] != ensemble) make(e, [&] { return entries[e]->fit(table, options); });
  }
  std::array<std::shared_ptr<InterferenceModel>, EnsembleModel::kMembers> members;
  for (std::size_t m = 0; m < members.size(); ++m) {
    const auto at = std::ranges::find(entries, EnsembleModel::kNames[m],
                                      [](const auto* entry) { return entry->name; });
    if (at != entries.end()) {
      members[m] = out[static_cast<std::size_t>(at - entries.begin())].model;
    }
  }
  const bool all = table.campaigns.size() == 1 &&
                   std::ranges::none_of(members, [](const auto& m) { return m == nullptr; });
  for (std::size_t e = 0; e < entries.size(); ++e) {
    if (entries[e] != ensemble) continue;
    make(e, [&]() -> std::unique_ptr<InterferenceModel> {
      if (!all) return ensemble->fit(table, options);
      auto model = std::make_unique<EnsembleModel>(EnsembleModel::of(members, table, options));
      model->set_groups(learnt_groups(*model, table));
      return model;
    });
  }
  return out;
}

const InterferenceModelEntry* find_interference_model(std::string_view name) {
  const auto catalog = interference_model_catalog();
  if (name == "default") return &catalog.front();
  for (const InterferenceModelEntry& one : catalog) {
    if (one.name == name) return &one;
  }
  return nullptr;
}

}  // namespace corun::inline models
