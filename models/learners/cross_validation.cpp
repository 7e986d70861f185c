#include "models/learners/cross_validation.hpp"

#include <stdexcept>
#include <string>

#include "sim/rng.hpp"

namespace corun::inline models {

std::vector<int> assign_folds(std::size_t rows, const CrossValidation& options) {
  if (options.folds < 2) throw std::invalid_argument("cross-validation: fewer than 2 folds");
  const auto folds = static_cast<std::size_t>(options.folds);
  if (rows < folds) {
    throw std::invalid_argument("cross-validation: " + std::to_string(rows) + " rows for " +
                                std::to_string(folds) + " folds");
  }
  std::vector<int> fold(rows);
  for (std::size_t r = 0; r < rows; ++r) fold[r] = static_cast<int>(r % folds);
  Rng rng(options.seed, Stream::kFolds, folds);
  rng.shuffle(std::span<int>(fold));
  return fold;
}

std::vector<Split> split(const MatrixView& predictors, std::span<const double> target,
                         const CrossValidation& options) {
  check_regression(predictors, target, "cross-validation");
  const std::vector<int> fold = assign_folds(predictors.rows, options);
  std::vector<Split> splits(static_cast<std::size_t>(options.folds));
  for (std::size_t f = 0; f < splits.size(); ++f) {
    Split& s = splits[f];
    s.columns = predictors.columns;
    for (std::size_t r = 0; r < predictors.rows; ++r) {
      const auto row = predictors.values.subspan(r * predictors.columns, predictors.columns);
      const bool held_out = fold[r] == static_cast<int>(f);
      std::vector<double>& values = held_out ? s.test : s.train;
      values.insert(values.end(), row.begin(), row.end());
      (held_out ? s.test_target : s.train_target).push_back(target[r]);
    }
  }
  return splits;
}

double squared_error(std::span<const double> predicted, std::span<const double> actual) {
  if (predicted.size() != actual.size()) {
    throw std::invalid_argument("squared_error: lists of different lengths");
  }
  double sum = 0;
  for (std::size_t i = 0; i < actual.size(); ++i) {
    sum += (predicted[i] - actual[i]) * (predicted[i] - actual[i]);
  }
  return sum;
}

}  // namespace corun::inline models
