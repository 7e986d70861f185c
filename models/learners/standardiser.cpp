#include "models/learners/standardiser.hpp"

#include <cmath>
#include <stdexcept>

namespace corun::inline models {

Standardiser Standardiser::of(const MatrixView& matrix) {
  check_finite(matrix, "Standardiser");
  const auto n = static_cast<double>(matrix.rows);
  Standardiser result;
  result.mean.assign(matrix.columns, 0);
  result.deviation.assign(matrix.columns, 0);
  for (std::size_t c = 0; c < matrix.columns; ++c) {
    // By comparing the values: the rounded mean of equal numbers may differ from them.
    bool constant = true;
    double sum = 0;
    for (std::size_t r = 0; r < matrix.rows; ++r) {
      constant = constant && matrix(r, c) == matrix(0, c);
      sum += matrix(r, c);
    }
    result.mean[c] = constant ? matrix(0, c) : sum / n;
    if (constant) continue;
    double square = 0;
    for (std::size_t r = 0; r < matrix.rows; ++r) {
      const double d = matrix(r, c) - result.mean[c];
      square += d * d;
    }
    result.deviation[c] = std::sqrt(square / n);
  }
  return result;
}

std::vector<double> Standardiser::apply(const MatrixView& matrix) const {
  check_finite(matrix, "Standardiser");
  if (matrix.columns != mean.size()) {
    throw std::invalid_argument("Standardiser: the matrix has other columns");
  }
  std::vector<double> z(matrix.values.size(), 0.0);
  for (std::size_t r = 0; r < matrix.rows; ++r) {
    for (std::size_t c = 0; c < matrix.columns; ++c) {
      if (deviation[c] > 0) z[r * matrix.columns + c] = (matrix(r, c) - mean[c]) / deviation[c];
    }
  }
  return z;
}

}  // namespace corun::inline models
