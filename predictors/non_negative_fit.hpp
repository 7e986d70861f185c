#pragma once

#include <span>
#include <vector>

#include "models/learners/matrix_view.hpp"

/// Linear sums of physical terms, whose coefficients cannot be negative.
namespace corun::inline predictors {

/// The coefficients c >= 0 that minimise the sum of ((y - Xc) / y)^2 over the rows: squared relative errors.
/// Lawson and Hanson, "Solving Least Squares Problems", 1974, chapter 23. `terms`: rows x columns, finite and
/// at least 0; `target`: one number above 0 per row. std::invalid_argument otherwise. A column of zeros gets 0.
std::vector<double> fit_non_negative(const MatrixView& terms, std::span<const double> target);

}  // namespace corun::inline predictors
