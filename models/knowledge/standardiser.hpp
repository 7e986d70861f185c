#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "models/knowledge/matrix_view.hpp"

/// Centring and scaling of attributes: z = (x - mean) / deviation, per column.
///
/// Mean and deviation (of the population: divisor n) come from the rows that a model learns from and
/// are then applied to any row, so that nothing of a held-out row reaches the model. A column that is
/// constant among the learning rows has deviation 0 and becomes 0 everywhere: it carries no
/// information there.
namespace corun {

struct Standardiser {
  std::vector<double> mean;
  std::vector<double> deviation;  ///< 0 exactly for a constant column

  /// std::invalid_argument as check_finite().
  static Standardiser of(const MatrixView& matrix);

  /// The standardised values, rows x columns, row-major. The columns must be those of `of`.
  std::vector<double> apply(const MatrixView& matrix) const;
};

}  // namespace corun
