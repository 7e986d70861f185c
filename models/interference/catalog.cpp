#include "models/interference/catalog.hpp"

#include <array>
#include <utility>

#include <nlohmann/json.hpp>

#include "models/interference/boosted_trees.hpp"
#include "models/interference/cluster_mean.hpp"
#include "models/interference/contention.hpp"
#include "models/interference/ensemble.hpp"
#include "models/interference/factor_model.hpp"
#include "models/interference/gp_model.hpp"
#include "models/interference/lookup.hpp"
#include "models/interference/low_rank.hpp"

namespace corun {

namespace {

template <typename Model>
std::unique_ptr<InterferenceModel> fit(const SpeedTable& table, const FitOptions& options) {
  return std::make_unique<Model>(Model::fit(table, options));
}

template <>
std::unique_ptr<InterferenceModel> fit<FactorModel>(const SpeedTable& table,
                                                    const FitOptions& options) {
  FactorOptions factors;
  factors.seed = options.seed;
  factors.threads = options.threads;
  return std::make_unique<FactorModel>(FactorModel::fit(table, factors));
}

template <typename Model>
std::unique_ptr<InterferenceModel> load(const nlohmann::json& state,
                                        std::vector<SpeedTable::Feature> features,
                                        std::vector<WorkloadKey> workloads) {
  return std::make_unique<Model>(Model::load(state, std::move(features), std::move(workloads)));
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

const InterferenceModelEntry* find_interference_model(std::string_view name) {
  const auto catalog = interference_model_catalog();
  if (name == "default") return &catalog.front();
  for (const InterferenceModelEntry& one : catalog) {
    if (one.name == name) return &one;
  }
  return nullptr;
}

}  // namespace corun
