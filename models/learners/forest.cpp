#include "models/learners/forest.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <numeric>
#include <stdexcept>
#include <string>
#include <utility>

#include <xgboost/c_api.h>

#include "models/learners/xgboost_library.hpp"
#include "sim/rng.hpp"

namespace corun::inline models {
namespace {

xgboost::Matrix make_matrix(const MatrixView& predictors, const Standardiser& standardiser) {
  const std::vector<double> z = standardiser.apply(predictors);
  const std::vector<float> values(z.begin(), z.end());  // none is missing
  return xgboost::make_matrix(values, predictors.rows, predictors.columns);
}

}  // namespace

struct RegressionForest::Library {
  Standardiser standardiser;
  ForestShape shape;
  std::size_t columns = 0;
  double mean = 0;   ///< of the target
  double scale = 1;  ///< its deviation; 1 for a constant target
  xgboost::Matrix train;
  std::vector<std::pair<xgboost::Booster, int>> blocks;  ///< with the number of trees in each
};

RegressionForest::RegressionForest(const MatrixView& predictors, std::span<const double> target,
                                   const ForestShape& shape)
    : library_(std::make_unique<Library>()) {
  check_regression(predictors, target, "forest");
  if (shape.depth < 1 || shape.features < 1) {
    throw std::invalid_argument("forest: depth and features must be 1 or more");
  }
  if (!(shape.subsample > 0) || shape.subsample > 1) {
    throw std::invalid_argument("forest: the share of rows must lie in (0, 1]");
  }
  Library& l = *library_;
  l.standardiser = Standardiser::of(predictors);
  l.shape = shape;
  l.columns = predictors.columns;
  const MatrixView column{target, target.size(), 1};
  const Standardiser of_target = Standardiser::of(column);
  l.mean = of_target.mean[0];
  if (of_target.deviation[0] > 0) l.scale = of_target.deviation[0];
  l.train = make_matrix(predictors, l.standardiser);
  const std::vector<double> z = of_target.apply(column);
  const std::vector<float> labels(z.begin(), z.end());
  xgboost::set_labels(l.train, labels);
}

RegressionForest::~RegressionForest() = default;
RegressionForest::RegressionForest(RegressionForest&&) noexcept = default;
RegressionForest& RegressionForest::operator=(RegressionForest&&) noexcept = default;

void RegressionForest::grow(int trees) {
  if (trees < 1) throw std::invalid_argument("forest: a block needs a tree");
  Library& l = *library_;
  // The library takes floor(share * columns) candidates: half a column more keeps the floor.
  const double share = std::min(1.0, (l.shape.features + 0.5) / static_cast<double>(l.columns));
  const std::uint32_t seed = Rng(l.shape.seed, Stream::kForest, l.blocks.size()).next() >> 1;
  xgboost::Booster booster = xgboost::make_booster(l.train, seed);
  const std::array<std::pair<const char*, std::string>, 9> parameters{{
      {"num_parallel_tree", std::to_string(trees)},
      {"learning_rate", "1"},
      {"max_depth", std::to_string(l.shape.depth)},
      {"subsample", xgboost::decimal(l.shape.subsample)},
      {"colsample_bynode", xgboost::decimal(share)},
      {"reg_lambda", "0"},
      {"reg_alpha", "0"},
      {"gamma", "0"},
      {"min_child_weight", "1"},  // rows in a leaf
  }};
  for (const auto& [name, value] : parameters) xgboost::set(booster, name, value);
  xgboost::update(booster, 0, l.train);
  l.blocks.emplace_back(std::move(booster), trees);
}

int RegressionForest::trees() const {
  int sum = 0;
  for (const auto& block : library_->blocks) sum += block.second;
  return sum;
}

std::vector<double> RegressionForest::predict(const MatrixView& predictors) const {
  const Library& l = *library_;
  if (l.blocks.empty()) throw std::logic_error("forest: a prediction without trees");
  const xgboost::Matrix rows = make_matrix(predictors, l.standardiser);
  std::vector<double> result(predictors.rows, l.mean);
  for (const auto& [booster, trees] : l.blocks) {
    const double weight = l.scale * trees / this->trees();
    const std::vector<float> values = xgboost::predict(booster, rows, result.size());
    for (std::size_t r = 0; r < result.size(); ++r) result[r] += weight * values[r];
  }
  return result;
}

std::vector<double> RegressionForest::importance() const {
  const Library& l = *library_;
  std::vector<double> gain(l.columns, 0);
  for (const auto& block : l.blocks) {
    bst_ulong names = 0;
    bst_ulong dimensions = 0;
    const char** name = nullptr;  // "f0", "f1", ...: only those that were split on
    const bst_ulong* shape = nullptr;
    const float* score = nullptr;
    xgboost::check(XGBoosterFeatureScore(block.first.get(), R"({"importance_type": "total_gain"})",
                                         &names, &name, &dimensions, &shape, &score),
                   "XGBoosterFeatureScore");
    for (bst_ulong i = 0; i < names; ++i) {
      const std::size_t column = std::strtoul(name[i] + 1, nullptr, 10);
      if (name[i][0] != 'f' || column >= gain.size()) {
        throw std::runtime_error(std::string("XGBoost: a score of unknown attribute ") + name[i]);
      }
      gain[column] += score[i];
    }
  }
  const double sum = std::accumulate(gain.begin(), gain.end(), 0.0);
  if (sum > 0) {
    for (double& g : gain) g /= sum;
  }
  return gain;
}

}  // namespace corun::inline models
