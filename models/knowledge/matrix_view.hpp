#pragma once

#include <cstddef>
#include <span>

/// A table of numbers that somebody else owns: rows are jobs, columns are attributes, row-major.
namespace corun {

struct MatrixView {
  std::span<const double> values;  ///< rows x columns; value (r, c) stands at r * columns + c
  std::size_t rows = 0;
  std::size_t columns = 0;

  double operator()(std::size_t row, std::size_t column) const {
    return values[row * columns + column];
  }
};

/// Refuses, with std::invalid_argument, a view whose shape is not that of its values, one without
/// rows or columns, and values that are not finite. `what` begins the message.
void check_finite(const MatrixView& matrix, const char* what);

/// The same for a predictor matrix and the target beside it: one finite target per row.
void check_regression(const MatrixView& predictors, std::span<const double> target,
                      const char* what);

}  // namespace corun
