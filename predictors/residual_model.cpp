#include "predictors/residual_model.hpp"

#include <array>
#include <stdexcept>
#include <utility>

#include <nlohmann/json.hpp>

#include "models/learners/boosting.hpp"
#include "models/model_state.hpp"
#include "predictors/regressor.hpp"
#include "sim/base/parallel_for.hpp"
#include "sim/rng.hpp"

namespace corun::inline predictors {

namespace {

constexpr BoostingShape kResidualShape{.rounds = 400, .lambda = 1, .leaf_weight = 5, .parallel = 1};

/// Of the ensembles that are averaged: coarse trees serve unseen families, fine ones seen models.
constexpr std::array<double, 3> kLeafWeights{12, 5, 2};

}  // namespace

void ResidualModel::fit_trees(const ResidualRows& rows, const PredictorOptions& options,
                              int count) {
  std::vector<TreeEnsemble> ensembles(static_cast<std::size_t>(count));
  parallel_for(ensembles.size(), options.threads, [&](std::size_t e) {
    BoostingShape shape = kResidualShape;
    shape.depth = static_cast<int>(options.constants.depth);
    shape.learning_rate = options.constants.learning_rate;
    shape.subsample = options.constants.rows;
    shape.columns = options.constants.columns;
    if (count > 1) shape.leaf_weight = kLeafWeights[e % kLeafWeights.size()];
    shape.leaf_weight *= options.constants.leaf_factor;
    shape.seed = Rng(options.seed, Stream::kBoosting, e).next() & 0x7fffffffU;
    ensembles[e] =
        GradientBoosting(rows.features, rows.columns, rows.residual, shape, rows.weight).trees();
  });
  trees_ = std::move(ensembles[0]);
  for (std::size_t e = 1; e < ensembles.size(); ++e) trees_.append(ensembles[e]);
  for (float& leaf : trees_.leaf) leaf /= static_cast<float>(count);
  process_ = {};
  constants_ = options.constants;
}

void ResidualModel::fit_process(const ResidualRows& rows, const PredictorOptions& options) {
  process_ = ResidualProcess::fit(rows, options);
}

double ResidualModel::at(std::span<const float> features, double weight) const {
  const double by_trees = trees_.sums(features).at(0);
  if (process_.empty()) return by_trees;
  const double share = constants_.process_share * weight / (weight + constants_.noise);
  return by_trees + share * (process_.mean(features) - by_trees);
}

nlohmann::json ResidualModel::save() const {
  return {{"trees", save_trees(trees_)}, {"process", process_.save()}};
}

ResidualModel ResidualModel::load(const nlohmann::json& state, std::size_t columns) {
  model_state::map_of(state, 2, "a residual");
  ResidualModel model;
  model.trees_ = load_trees(state.at("trees"));
  model.process_ = ResidualProcess::load(state.at("process"));
  if (model.trees_.columns != columns ||
      (!model.process_.empty() && model.process_.columns() != columns)) {
    throw std::invalid_argument("a residual of other features");
  }
  return model;
}

}  // namespace corun::inline predictors
