#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "models/learners/matrix_view.hpp"
#include "models/learners/tree_ensemble.hpp"

/// Regression of a number on the features of a row: the forms that the papers compare.
namespace corun::inline predictors {

enum class RegressorForm : std::uint8_t {
  kLinear,      ///< least squares
  kPolynomial,  ///< least squares of the features and all products of two, with ridge 1
  kForest,  ///< 200 trees of depth 12 at most, each on 63 % of the rows and a third of the features
  kBoosting,  ///< 300 trees of depth 4, learning rate 0.05, each on 70 % of the rows
  kVoting,    ///< the mean of the last three
};
inline constexpr int kRegressorForms = 5;

class Regressor {
 public:
  Regressor() = default;
  /// Features are standardised; a constant one has no effect. std::invalid_argument as check_regression().
  Regressor(RegressorForm form, const MatrixView& rows, std::span<const double> values,
            std::uint64_t seed);

  /// One prediction per row; std::invalid_argument for another number of columns.
  std::vector<double> predict(const MatrixView& rows) const;

  nlohmann::json save() const;
  /// std::invalid_argument if it is not a possible state.
  static Regressor load(const nlohmann::json& state);

 private:
  std::vector<double> standardised(const MatrixView& rows) const;

  std::vector<double> mean_, deviation_;  ///< of each feature
  double middle_ = 0;                     ///< mean of the values
  double spread_ = 1;                     ///< standard deviation of the values
  // The parts of the form; each predicts (value - middle) / spread.
  std::vector<double> line_;        ///< slopes of the features; empty: not part of the form
  std::vector<double> polynomial_;  ///< slopes of the features and their products
  std::vector<double> product_mean_;
  TreeEnsemble forest_, boosting_;
};

/// Trees as a tree of values for files, and back; std::invalid_argument if they are not possible.
nlohmann::json save_trees(const TreeEnsemble& trees);
TreeEnsemble load_trees(const nlohmann::json& state);

}  // namespace corun::inline predictors
