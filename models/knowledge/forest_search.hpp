#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "models/knowledge/cross_validation.hpp"
#include "models/knowledge/forest.hpp"

/// The exploration of forests of PriRecT section III-B: depth x candidate attributes x trees, judged
/// by cross-validation. (Out-of-bag error would cost a fifth, but the library does not tell which
/// rows a tree saw.)
namespace corun {

struct ForestGrid {
  std::vector<int> depths{3, 4, 6, 8, 10, 15, 20};
  std::vector<int> features{3, 4, 6, 8, 10, 15, 20};
  std::vector<int> trees{50, 100, 150};
};

struct ForestChoice {
  int depth = 0;
  int features = 0;
  int trees = 0;
  double error = 0;            ///< mean squared error of the held-out rows
  std::vector<double> errors;  ///< of the whole grid: [(depth * features) + feature] * trees + tree
  std::vector<double> importance;  ///< of the chosen shape, fitted on all rows; sums to 1
};

/// The point of the grid with the smallest cross-validated error; of equals the first, depth before
/// features before trees. Forests with the same depth and features share trees: one of 100 is the one
/// of 50 and 50 more. `threads` (1 or more) work on different points; the result does not depend on
/// their number. std::invalid_argument as RegressionForest and assign_folds(), or for an empty axis
/// or less than one thread.
ForestChoice choose_forest(const MatrixView& predictors, std::span<const double> target,
                           const ForestGrid& grid, const CrossValidation& options, int threads);

}  // namespace corun
