#include "models/learners/matrix_view.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <string>

namespace corun::inline models {
namespace {

bool all_finite(std::span<const double> values) {
  return std::ranges::all_of(values, [](double v) { return std::isfinite(v); });
}

}  // namespace

void check_finite(const MatrixView& matrix, const char* what) {
  const std::string begin = std::string(what) + ": ";
  if (matrix.rows == 0 || matrix.columns == 0) {
    throw std::invalid_argument(begin + "a matrix without rows or columns");
  }
  if (matrix.values.size() != matrix.rows * matrix.columns) {
    throw std::invalid_argument(begin + std::to_string(matrix.values.size()) +
                                " values, expected " + std::to_string(matrix.rows) + " x " +
                                std::to_string(matrix.columns));
  }
  if (!all_finite(matrix.values)) {
    throw std::invalid_argument(begin + "a value is not a finite number");
  }
}

void check_regression(const MatrixView& predictors, std::span<const double> target,
                      const char* what) {
  check_finite(predictors, what);
  const std::string begin = std::string(what) + ": ";
  if (target.size() != predictors.rows) {
    throw std::invalid_argument(begin + std::to_string(target.size()) + " target values for " +
                                std::to_string(predictors.rows) + " rows");
  }
  if (!all_finite(target)) {
    throw std::invalid_argument(begin + "a target value is not a finite number");
  }
}

}  // namespace corun::inline models
