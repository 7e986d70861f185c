#include "models/learners/boosting.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>
#include <xgboost/c_api.h>

#include "models/learners/xgboost_library.hpp"

namespace corun::inline models {

struct GradientBoosting::Library {
  xgboost::Booster booster;
  std::size_t columns = 0;
  int depth = 0;
};

void check_boosting(std::span<const float> rows, std::size_t columns, std::span<const float> target,
                    const BoostingShape& shape) {
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
  require(shape.parallel >= 1, "a round needs a tree");
  require(share(shape.learning_rate) && share(shape.subsample) && share(shape.columns),
          "a share or the learning rate is not in (0, 1]");
  require(shape.lambda >= 0 && shape.leaf_weight >= 0, "lambda or the weight of a leaf is below 0");
}

GradientBoosting::GradientBoosting(std::span<const float> rows, std::size_t columns,
                                   std::span<const float> target, const BoostingShape& shape,
                                   std::span<const float> weights)
    : library_(std::make_unique<Library>()) {
  check_boosting(rows, columns, target, shape);
  if (!weights.empty() &&
      (weights.size() != target.size() ||
       !std::ranges::all_of(weights, [](float x) { return x > 0 && std::isfinite(x); }))) {
    throw std::invalid_argument("boosting: a weight is not above 0");
  }

  const xgboost::Matrix train = xgboost::make_matrix(rows, target.size(), columns);
  xgboost::set_labels(train, target);
  if (!weights.empty()) xgboost::set_weights(train, weights);
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
  xgboost::set(l.booster, "num_parallel_tree", std::to_string(shape.parallel));
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

namespace {

/// The numbers of a tree's nodes, by the library's name of them.
using LibraryTree = std::map<std::string, std::vector<double>, std::less<>>;

/// Reads the trees of a model in the library's UBJSON and skips the rest, such as statistics of the fit.
class TreeReader : public nlohmann::json_sax<nlohmann::json> {
 public:
  const std::vector<LibraryTree>& trees() const { return trees_; }

  bool start_object(std::size_t) override {
    ++depth_;
    if (depth_ == trees_depth_ + 1) trees_.emplace_back();
    return true;
  }
  bool end_object() override {
    --depth_;
    return true;
  }
  bool key(std::string& name) override {
    if (trees_depth_ == kNowhere && name == "trees") trees_depth_ = depth_;
    const bool wanted =
        depth_ == trees_depth_ + 1 && std::ranges::find(kWanted, name) != kWanted.end();
    into_ = wanted ? &trees_.back()[name] : nullptr;
    return true;
  }
  bool start_array(std::size_t) override { return true; }
  bool end_array() override {
    if (depth_ == trees_depth_) trees_depth_ = kNowhere - 1;  // after the last tree
    into_ = nullptr;
    return true;
  }
  bool number_integer(std::int64_t x) override { return add(static_cast<double>(x)); }
  bool number_unsigned(std::uint64_t x) override { return add(static_cast<double>(x)); }
  bool number_float(double x, const std::string&) override { return add(x); }
  bool boolean(bool x) override { return add(x ? 1 : 0); }
  bool null() override { return true; }
  bool string(std::string&) override { return true; }
  bool binary(nlohmann::json::binary_t&) override { return true; }
  bool parse_error(std::size_t, const std::string&, const nlohmann::detail::exception&) override {
    return false;
  }

 private:
  static constexpr std::array<std::string_view, 5> kWanted = {
      "left_children", "right_children", "split_indices", "split_conditions", "default_left"};
  static constexpr int kNowhere = -2;

  bool add(double x) {
    if (into_ != nullptr) into_->push_back(x);
    return true;
  }

  std::vector<LibraryTree> trees_;
  std::vector<double>* into_ = nullptr;
  int depth_ = 0;               ///< of the object that is open
  int trees_depth_ = kNowhere;  ///< of the object whose list the trees are
};

}  // namespace

TreeEnsemble GradientBoosting::trees() const {
  bst_ulong length = 0;
  const char* bytes = nullptr;
  xgboost::check(
      XGBoosterSaveModelToBuffer(library_->booster.get(), R"({"format": "ubj"})", &length, &bytes),
      "XGBoosterSaveModelToBuffer");
  TreeReader reader;
  if (!nlohmann::json::sax_parse(bytes, bytes + length, &reader,
                                 nlohmann::json::input_format_t::ubjson)) {
    throw std::runtime_error("XGBoost: a model that is not UBJSON");
  }

  TreeEnsemble out;
  out.depth = library_->depth;
  out.columns = library_->columns;
  const std::size_t leaves = std::size_t{1} << static_cast<unsigned>(out.depth);
  for (const LibraryTree& tree : reader.trees()) {
    const std::vector<double>& left = tree.at("left_children");
    const std::vector<double>& right = tree.at("right_children");
    const std::vector<double>& feature = tree.at("split_indices");
    // For a leaf: its value.
    const std::vector<double>& condition = tree.at("split_conditions");
    const std::vector<double>& missing_left = tree.at("default_left");
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
        out.test.push_back(2 * static_cast<int>(feature[node]) + (missing_left[node] != 0 ? 0 : 1));
        out.threshold.push_back(static_cast<float>(condition[node]));
        place.push_back(static_cast<std::size_t>(left[node]));
        place.push_back(static_cast<std::size_t>(right[node]));
      }
    }
    for (std::size_t n = leaves - 1; n < place.size(); ++n) {
      out.leaf.push_back(static_cast<float>(condition[place[n]]));
    }
  }
  return out;
}

}  // namespace corun::inline models
