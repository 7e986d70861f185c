#include "models/knowledge/forest.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdlib>
#include <limits>
#include <numeric>
#include <stdexcept>
#include <string>
#include <utility>

#include <xgboost/c_api.h>

#include "sim/rng.hpp"

namespace corun {
namespace {

/// Every call of the library returns 0 or leaves a message.
void check(int status, const char* call) {
  if (status != 0) {
    throw std::runtime_error(std::string("XGBoost, ") + call + ": " + XGBGetLastError());
  }
}

struct FreeMatrix {
  void operator()(void* handle) const { XGDMatrixFree(handle); }
};
struct FreeBooster {
  void operator()(void* handle) const { XGBoosterFree(handle); }
};
using Matrix = std::unique_ptr<void, FreeMatrix>;
using Booster = std::unique_ptr<void, FreeBooster>;

Matrix make_matrix(const MatrixView& predictors, const Standardiser& standardiser) {
  const std::vector<double> z = standardiser.apply(predictors);
  const std::vector<float> values(z.begin(), z.end());
  DMatrixHandle handle = nullptr;
  // NaN marks what is missing; there is none.
  check(XGDMatrixCreateFromMat(values.data(), predictors.rows, predictors.columns,
                               std::numeric_limits<float>::quiet_NaN(), &handle),
        "XGDMatrixCreateFromMat");
  return Matrix(handle);
}

/// The library takes its parameters as text; whatever the locale, with a decimal point.
std::string decimal(double value) {
  std::array<char, 32> text{};
  const auto end = std::to_chars(text.data(), text.data() + text.size(), value).ptr;
  return {text.data(), end};
}

}  // namespace

struct RegressionForest::Library {
  Standardiser standardiser;
  ForestShape shape;
  std::size_t columns = 0;
  double mean = 0;   ///< of the target
  double scale = 1;  ///< its deviation; 1 for a constant target
  Matrix train;
  std::vector<std::pair<Booster, int>> blocks;  ///< and the trees in each
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
  check(XGDMatrixSetFloatInfo(l.train.get(), "label", labels.data(), labels.size()),
        "XGDMatrixSetFloatInfo");
}

RegressionForest::~RegressionForest() = default;
RegressionForest::RegressionForest(RegressionForest&&) noexcept = default;
RegressionForest& RegressionForest::operator=(RegressionForest&&) noexcept = default;

void RegressionForest::grow(int trees) {
  if (trees < 1) throw std::invalid_argument("forest: a block needs a tree");
  Library& l = *library_;
  DMatrixHandle cache = l.train.get();
  BoosterHandle handle = nullptr;
  check(XGBoosterCreate(&cache, 1, &handle), "XGBoosterCreate");
  Booster booster(handle);

  // The library takes floor(share * columns) candidates: half a column more keeps the floor.
  const double share = std::min(1.0, (l.shape.features + 0.5) / static_cast<double>(l.columns));
  const std::uint32_t seed = Rng(l.shape.seed, Stream::kForest, l.blocks.size()).next() >> 1;
  const std::array<std::pair<const char*, std::string>, 15> parameters{{
      {"verbosity", "0"},
      {"nthread", "1"},
      {"seed", std::to_string(seed)},
      {"objective", "reg:squarederror"},
      {"base_score", "0"},
      {"tree_method", "exact"},
      {"num_parallel_tree", std::to_string(trees)},
      {"learning_rate", "1"},
      {"max_depth", std::to_string(l.shape.depth)},
      {"subsample", decimal(l.shape.subsample)},
      {"colsample_bynode", decimal(share)},
      {"reg_lambda", "0"},
      {"reg_alpha", "0"},
      {"gamma", "0"},
      {"min_child_weight", "1"},  // rows in a leaf
  }};
  for (const auto& [name, value] : parameters) {
    check(XGBoosterSetParam(handle, name, value.c_str()), name);
  }
  check(XGBoosterUpdateOneIter(handle, 0, l.train.get()), "XGBoosterUpdateOneIter");
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
  const Matrix rows = make_matrix(predictors, l.standardiser);
  std::vector<double> result(predictors.rows, l.mean);
  for (const auto& [booster, trees] : l.blocks) {
    const double weight = l.scale * trees / this->trees();
    bst_ulong length = 0;
    const float* values = nullptr;  // the library's own, until its next call
    check(XGBoosterPredict(booster.get(), rows.get(), 0, 0, 0, &length, &values),
          "XGBoosterPredict");
    if (length != result.size()) throw std::runtime_error("XGBoost: not one prediction per row");
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
    check(XGBoosterFeatureScore(block.first.get(), R"({"importance_type": "total_gain"})", &names,
                                &name, &dimensions, &shape, &score),
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

}  // namespace corun
