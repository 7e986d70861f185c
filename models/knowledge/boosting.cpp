#include "models/knowledge/boosting.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>
#include <string>

#include <nlohmann/json.hpp>
#include <xgboost/c_api.h>

#include "models/knowledge/xgboost_library.hpp"

namespace corun {

struct GradientBoosting::Library {
  xgboost::Booster booster;
  std::size_t columns = 0;
  int depth = 0;
};

GradientBoosting::GradientBoosting(std::span<const float> rows, std::size_t columns,
                                   std::span<const float> target, const BoostingShape& shape)
    : library_(std::make_unique<Library>()) {
  const auto require = [](bool fine, const char* what) {
    if (!fine) throw std::invalid_argument(std::string("boosting: ") + what);
  };
  const auto share = [](double x) { return x > 0 && x <= 1; };
  require(columns > 0 && !target.empty() && rows.size() == target.size() * columns,
          "rows x columns features and one target per row are needed");
  require(std::none_of(rows.begin(), rows.end(), [](float x) { return std::isinf(x); }),
          "a feature is infinite");
  require(std::all_of(target.begin(), target.end(), [](float x) { return std::isfinite(x); }),
          "a target is not finite");
  require(shape.rounds >= 1 && shape.depth >= 1 && shape.depth <= TreeEnsemble::kMostDepth,
          "rounds or depth out of bounds");
  require(share(shape.learning_rate) && share(shape.subsample) && share(shape.columns),
          "a share or the learning rate is not in (0, 1]");
  require(shape.lambda >= 0 && shape.leaf_weight >= 0, "lambda or the weight of a leaf is below 0");

  const xgboost::Matrix train = xgboost::make_matrix(rows, target.size(), columns);
  xgboost::set_labels(train, target);
  Library& l = *library_;
  l.columns = columns;
  l.depth = shape.depth;
  l.booster = xgboost::make_booster(train, shape.seed);
  xgboost::set(l.booster, "learning_rate", xgboost::decimal(shape.learning_rate));
  xgboost::set(l.booster, "max_depth", std::to_string(shape.depth));
  xgboost::set(l.booster, "subsample", xgboost::decimal(shape.subsample));
  xgboost::set(l.booster, "colsample_bynode", xgboost::decimal(shape.columns));
  xgboost::set(l.booster, "reg_lambda", xgboost::decimal(shape.lambda));
  xgboost::set(l.booster, "min_child_weight", xgboost::decimal(shape.leaf_weight));
  for (int round = 0; round < shape.rounds; ++round) xgboost::update(l.booster, round, train);
}

GradientBoosting::~GradientBoosting() = default;
GradientBoosting::GradientBoosting(GradientBoosting&&) noexcept = default;
GradientBoosting& GradientBoosting::operator=(GradientBoosting&&) noexcept = default;

std::vector<float> GradientBoosting::predict(std::span<const float> rows) const {
  const std::size_t count = rows.size() / library_->columns;
  return xgboost::predict(library_->booster, xgboost::make_matrix(rows, count, library_->columns),
                          count);
}

TreeEnsemble GradientBoosting::trees() const {
  bst_ulong length = 0;
  const char* bytes = nullptr;
  xgboost::check(
      XGBoosterSaveModelToBuffer(library_->booster.get(), R"({"format": "ubj"})", &length, &bytes),
      "XGBoosterSaveModelToBuffer");
  const nlohmann::json model = nlohmann::json::from_ubjson(bytes, bytes + length);

  TreeEnsemble out;
  out.depth = library_->depth;
  out.columns = library_->columns;
  const std::size_t leaves = std::size_t{1} << static_cast<unsigned>(out.depth);
  for (const auto& tree : model.at("learner").at("gradient_booster").at("model").at("trees")) {
    const auto left = tree.at("left_children").get<std::vector<int>>();
    const auto right = tree.at("right_children").get<std::vector<int>>();
    const auto feature = tree.at("split_indices").get<std::vector<int>>();
    // For a leaf: its value.
    const auto condition = tree.at("split_conditions").get<std::vector<float>>();
    const auto missing_left = tree.at("default_left").get<std::vector<int>>();
    // place: the library's node at each place of the complete tree. A leaf above the last level fills its
    // subtree: no feature reaches an infinite threshold.
    std::vector<std::size_t> place{0};
    for (std::size_t n = 0; n + 1 < leaves; ++n) {
      const std::size_t node = place[n];
      if (left[node] < 0) {
        out.test.push_back(0);
        out.threshold.push_back(std::numeric_limits<float>::infinity());
        place.insert(place.end(), 2, node);
      } else {
        out.test.push_back(2 * feature[node] + (missing_left[node] != 0 ? 0 : 1));
        out.threshold.push_back(condition[node]);
        place.push_back(static_cast<std::size_t>(left[node]));
        place.push_back(static_cast<std::size_t>(right[node]));
      }
    }
    for (std::size_t n = leaves - 1; n < place.size(); ++n) out.leaf.push_back(condition[place[n]]);
  }
  return out;
}

}  // namespace corun
