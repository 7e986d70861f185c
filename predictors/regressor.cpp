#include "predictors/regressor.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include <Eigen/Dense>
#include <nlohmann/json.hpp>

#include "models/learners/boosting.hpp"
#include "models/model_state.hpp"

namespace corun::inline predictors {

namespace {

constexpr BoostingShape kForestShape{.rounds = 1,
                                     .depth = 12,
                                     .learning_rate = 1,
                                     .subsample = 0.632,
                                     .columns = 0.34,
                                     .lambda = 0,
                                     .leaf_weight = 1,
                                     .seed = 0,
                                     .parallel = 200};
constexpr BoostingShape kBoostingShape{.rounds = 300,
                                       .depth = 4,
                                       .learning_rate = 0.05,
                                       .subsample = 0.7,
                                       .columns = 1,
                                       .lambda = 1,
                                       .leaf_weight = 1,
                                       .seed = 0,
                                       .parallel = 1};
constexpr double kTinyRidge = 1e-6;  ///< makes equal columns solvable
constexpr double kPolynomialRidge = 1;
constexpr std::size_t kMostColumns = 1000;

std::size_t products_of(std::size_t columns) { return columns + columns * (columns + 1) / 2; }

/// The features and all products of two of them.
void add_products(std::vector<double>& out, std::span<const double> row) {
  out.insert(out.end(), row.begin(), row.end());
  for (std::size_t a = 0; a < row.size(); ++a) {
    for (std::size_t b = a; b < row.size(); ++b) out.push_back(row[a] * row[b]);
  }
}

std::vector<double> ridge(std::span<const double> rows, std::size_t columns,
                          std::span<const double> values, double penalty) {
  using RowMajor = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
  const auto width = static_cast<Eigen::Index>(columns);
  const auto count = static_cast<Eigen::Index>(values.size());
  const Eigen::Map<const RowMajor> x(rows.data(), count, width);
  const Eigen::Map<const Eigen::VectorXd> y(values.data(), count);
  Eigen::MatrixXd gram = x.transpose() * x;
  gram.diagonal().array() += penalty;
  const Eigen::VectorXd slopes = gram.ldlt().solve(x.transpose() * y);
  return {slopes.data(), slopes.data() + slopes.size()};
}

TreeEnsemble learn_trees(std::span<const double> rows, std::size_t columns,
                         std::span<const double> values, BoostingShape shape, std::uint64_t seed) {
  shape.seed = static_cast<std::uint32_t>(seed & 0x7fffffffU);
  const std::vector<float> single_rows(rows.begin(), rows.end());
  const std::vector<float> single_values(values.begin(), values.end());
  return GradientBoosting(single_rows, columns, single_values, shape).trees();
}

double dot(std::span<const double> a, std::span<const double> b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
  return sum;
}

}  // namespace

nlohmann::json save_trees(const TreeEnsemble& trees) {
  using model_state::packed;
  return {{"depth", trees.depth},
          {"columns", trees.columns},
          {"tests", packed(trees.test)},
          {"thresholds", packed(trees.threshold)},
          {"leaves", packed(trees.leaf)}};
}

TreeEnsemble load_trees(const nlohmann::json& state) {
  using namespace model_state;
  map_of(state, 5, "trees");
  TreeEnsemble trees;
  trees.depth = static_cast<int>(whole_of(state.at("depth"), "depth", 0, TreeEnsemble::kMostDepth));
  trees.columns =
      static_cast<std::size_t>(whole_of(state.at("columns"), "columns", 0, kMostColumns));
  trees.test = integers(state, "tests");
  trees.threshold = floats(state, "thresholds");
  trees.leaf = floats(state, "leaves");
  trees.check();
  return trees;
}

Regressor::Regressor(RegressorForm form, const MatrixView& rows, std::span<const double> values,
                     std::uint64_t seed) {
  check_regression(rows, values, "regressor");
  const std::size_t columns = rows.columns;
  const auto count = static_cast<double>(rows.rows);
  mean_.assign(columns, 0);
  deviation_.assign(columns, 0);
  for (std::size_t c = 0; c < columns; ++c) {
    for (std::size_t r = 0; r < rows.rows; ++r) mean_[c] += rows(r, c) / count;
    for (std::size_t r = 0; r < rows.rows; ++r) {
      deviation_[c] += (rows(r, c) - mean_[c]) * (rows(r, c) - mean_[c]) / count;
    }
    deviation_[c] = std::sqrt(deviation_[c]);
    if (!(deviation_[c] > 1e-9 * std::abs(mean_[c]))) deviation_[c] = 0;
  }
  for (const double value : values) middle_ += value / count;
  double variance = 0;
  for (const double value : values) variance += (value - middle_) * (value - middle_) / count;
  spread_ = variance > 0 ? std::sqrt(variance) : 1;

  const std::vector<double> x = standardised(rows);
  std::vector<double> y;
  for (const double value : values) y.push_back((value - middle_) / spread_);
  const auto is = [&](RegressorForm one) {
    return form == one || (form == RegressorForm::kVoting && one != RegressorForm::kLinear);
  };
  if (is(RegressorForm::kLinear)) line_ = ridge(x, columns, y, kTinyRidge);
  if (is(RegressorForm::kPolynomial)) {
    const std::size_t width = products_of(columns);
    std::vector<double> products;
    for (std::size_t r = 0; r < rows.rows; ++r) {
      add_products(products, std::span(x).subspan(r * columns, columns));
    }
    product_mean_.assign(width, 0);
    for (std::size_t i = 0; i < products.size(); ++i)
      product_mean_[i % width] += products[i] / count;
    for (std::size_t i = 0; i < products.size(); ++i) products[i] -= product_mean_[i % width];
    polynomial_ = ridge(products, width, y, kPolynomialRidge);
  }
  if (is(RegressorForm::kForest)) forest_ = learn_trees(x, columns, y, kForestShape, seed);
  if (is(RegressorForm::kBoosting)) boosting_ = learn_trees(x, columns, y, kBoostingShape, seed);
}

std::vector<double> Regressor::standardised(const MatrixView& rows) const {
  std::vector<double> out;
  out.reserve(rows.values.size());
  for (std::size_t r = 0; r < rows.rows; ++r) {
    for (std::size_t c = 0; c < rows.columns; ++c) {
      out.push_back(deviation_[c] > 0 ? (rows(r, c) - mean_[c]) / deviation_[c] : 0);
    }
  }
  return out;
}

std::vector<double> Regressor::predict(const MatrixView& rows) const {
  if (rows.columns != mean_.size()) throw std::invalid_argument("a row of other features");
  check_finite(rows, "regressor");
  const std::vector<double> x = standardised(rows);
  std::vector<double> sum(rows.rows, 0);
  double parts = 0;
  const auto add = [&](const auto& part) {
    for (std::size_t r = 0; r < rows.rows; ++r) {
      sum[r] += part(r, std::span(x).subspan(r * rows.columns, rows.columns));
    }
    parts += 1;
  };
  if (!line_.empty()) {
    add([&](std::size_t, std::span<const double> row) { return dot(line_, row); });
  }
  if (!polynomial_.empty()) {
    add([&](std::size_t, std::span<const double> row) {
      std::vector<double> products;
      add_products(products, row);
      return dot(polynomial_, products) - dot(polynomial_, product_mean_);
    });
  }
  const std::vector<float> single(x.begin(), x.end());
  for (const TreeEnsemble* trees : {&forest_, &boosting_}) {
    if (trees->trees() == 0) continue;
    const std::vector<double> sums = trees->sums(single);
    add([&](std::size_t r, std::span<const double>) { return sums[r]; });
  }
  for (double& value : sum) value = middle_ + spread_ * value / std::max(parts, 1.0);
  return sum;
}

nlohmann::json Regressor::save() const {
  using model_state::packed;
  return {{"mean", packed(mean_)},
          {"deviation", packed(deviation_)},
          {"middle", packed(std::vector{middle_, spread_})},
          {"line", packed(line_)},
          {"polynomial", packed(polynomial_)},
          {"products", packed(product_mean_)},
          {"forest", save_trees(forest_)},
          {"boosting", save_trees(boosting_)}};
}

Regressor Regressor::load(const nlohmann::json& state) {
  using namespace model_state;
  map_of(state, 8, "a regressor");
  Regressor r;
  r.mean_ = doubles(state, "mean");
  const std::size_t columns = r.mean_.size();
  if (columns == 0 || columns > kMostColumns) throw std::invalid_argument("too many features");
  r.mean_ = finite_doubles(state, "mean", columns);
  r.deviation_ = finite_doubles(state, "deviation", columns);
  const std::vector<double> middle = finite_doubles(state, "middle", 2);
  r.middle_ = middle[0];
  r.spread_ = middle[1];
  const auto either = [&](const char* key, std::size_t count) {
    return doubles(state, key).empty() ? std::vector<double>{} : finite_doubles(state, key, count);
  };
  r.line_ = either("line", columns);
  r.polynomial_ = either("polynomial", products_of(columns));
  r.product_mean_ = either("products", products_of(columns));
  if (r.polynomial_.size() != r.product_mean_.size()) {
    throw std::invalid_argument("products without their means");
  }
  r.forest_ = load_trees(state.at("forest"));
  r.boosting_ = load_trees(state.at("boosting"));
  for (const TreeEnsemble* trees : {&r.forest_, &r.boosting_}) {
    if (trees->trees() > 0 && trees->columns != columns) {
      throw std::invalid_argument("trees of other features");
    }
  }
  return r;
}

}  // namespace corun::inline predictors
