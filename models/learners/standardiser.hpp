#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "models/learners/matrix_view.hpp"

/// Centring and scaling of attributes: z = (x - mean) / deviation, per column.
///
/// Mean and standard deviation (of the population: divisor n) are those of a model's training rows and are
/// applied to any row, so that no held-out row influences the model. A column that is constant in the
/// training rows has deviation 0 and becomes 0 everywhere.
namespace corun::inline models {

struct Standardiser {
  std::vector<double> mean;
  std::vector<double> deviation;  ///< exactly 0 for a constant column

  /// std::invalid_argument as check_finite().
  static Standardiser of(const MatrixView& matrix);

  /// The standardised values, rows x columns, row-major. std::invalid_argument as check_finite(), and for
  /// another number of columns.
  std::vector<double> apply(const MatrixView& matrix) const;
};

}  // namespace corun::inline models
