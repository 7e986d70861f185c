#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "models/learners/matrix_view.hpp"

/// k-fold cross-validation: every row is predicted once, by a model that was fitted without it.
namespace corun::inline models {

struct CrossValidation {
  int folds = 5;           ///< 2 to the number of rows, which is leave-one-out
  std::uint64_t seed = 0;  ///< of the assignment of rows to folds
};

/// The fold, 0 to folds - 1, of each row. Sizes differ by at most one; the assignment is a permutation drawn
/// from (seed, Stream::kFolds, folds). std::invalid_argument for fewer than two folds or fewer rows than
/// folds.
std::vector<int> assign_folds(std::size_t rows, const CrossValidation& options);

/// One fold of a regression: the rows to learn from and the rows to predict.
struct Split {
  std::vector<double> train;         ///< train_rows x columns, row-major
  std::vector<double> train_target;  ///< train_rows
  std::vector<double> test;          ///< test_rows x columns, row-major
  std::vector<double> test_target;   ///< test_rows
  std::size_t columns = 0;

  MatrixView train_view() const { return {train, train_target.size(), columns}; }
  MatrixView test_view() const { return {test, test_target.size(), columns}; }
};

/// The folds of (predictors, target), in order. std::invalid_argument as check_regression() and
/// assign_folds().
std::vector<Split> split(const MatrixView& predictors, std::span<const double> target,
                         const CrossValidation& options);

/// Sum of the squared differences, in the unit of the target squared. std::invalid_argument for lists of different lengths.
double squared_error(std::span<const double> predicted, std::span<const double> actual);

}  // namespace corun::inline models
