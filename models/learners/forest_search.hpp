#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "models/learners/cross_validation.hpp"
#include "models/learners/forest.hpp"

/// The search among forests of PriRecT section III-B: depth x candidate attributes x trees, by
/// cross-validation. (The out-of-bag error would cost a fifth, but the library does not tell which rows a
/// tree was fitted on.)
namespace corun::inline models {

struct ForestGrid {
  std::vector<int> depths{3, 4, 6, 8, 10, 15, 20};
  std::vector<int> features{3, 4, 6, 8, 10, 15, 20};
  std::vector<int> trees{50, 100, 150};
};

struct ForestChoice {
  int depth = 0;
  int features = 0;
  int trees = 0;
  double error = 0;                ///< mean squared error of the held-out rows
  std::vector<double> errors;      ///< depths x features x trees, row-major: mean squared errors
  std::vector<double> importance;  ///< of the chosen shape, fitted on all rows; sums to 1
};

/// The point of the grid with the smallest cross-validated error; of equals the first in the order of
/// `errors`. Forests with the same depth and features share trees: a forest of 100 is one of 50 and 50 more
/// trees. The result does not depend on the number of `threads`. std::invalid_argument as RegressionForest
/// and assign_folds(), for an empty axis and for less than one thread.
ForestChoice choose_forest(const MatrixView& predictors, std::span<const double> target,
                           const ForestGrid& grid, const CrossValidation& options, int threads);

}  // namespace corun::inline models
