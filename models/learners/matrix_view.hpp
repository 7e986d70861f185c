#pragma once

#include <cstddef>
#include <span>

/// A view of a table of numbers: rows are jobs, columns are attributes.
namespace corun::inline models {

struct MatrixView {
  std::span<const double> values;  ///< rows x columns, row-major
  std::size_t rows = 0;
  std::size_t columns = 0;

  double operator()(std::size_t row, std::size_t column) const {
    return values[row * columns + column];
  }
};

/// std::invalid_argument, with a message that begins with `what`: a shape that does not fit the values, no
/// rows or no columns, or a value that is not finite.
void check_finite(const MatrixView& matrix, const char* what);

/// The same for a predictor matrix and its target, which must have one finite value per row.
void check_regression(const MatrixView& predictors, std::span<const double> target,
                      const char* what);

}  // namespace corun::inline models
