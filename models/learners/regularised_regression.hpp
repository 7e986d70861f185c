#pragma once

#include <array>
#include <span>
#include <vector>

#include "models/learners/cross_validation.hpp"
#include "models/learners/matrix_view.hpp"
#include "models/learners/standardiser.hpp"

/// Ridge and lasso regression as tools of feature selection (PriRecT section III-B).
///
/// With Z the standardised predictors (n rows; mean 0 and population deviation 1 per column), y the
/// target less its mean, in its own unit, and a > 0 the penalty, in scikit-learn's parametrisation:
///
///   ridge   minimise |y - Zw|^2 + a |w|_2^2              solution (Z'Z + aI) w = Z'y, by LDLT
///   lasso   minimise |y - Zw|^2 / (2n) + a |w|_1         coordinate descent, then an
///                                                            active set for the last digits
///
/// The paper has one grid for both, but equal numbers are not equal strengths: on the scale of ridge, the
/// term of the lasso is 2na |w|_1, and its penalty has the unit of the target, while that of ridge has none.
/// With a penalty of max_j |z_j'y/n| or more, all coefficients of the lasso are zero. The intercept is not
/// penalised.
///
/// A coefficient is the change of the target, in its unit, per standard deviation of the attribute, so
/// absolute values can be compared across attributes. If attributes are correlated, ridge shares the weight
/// among them and lasso gives it to one; for identical columns, which one depends only on their order.
namespace corun::inline models {

enum class Penalty {
  kRidge,  ///< squares of the coefficients
  kLasso,  ///< absolute values of the coefficients
};

/// The grid in which PriRecT searches "the best fit L2 and L1 multipliers".
inline constexpr std::array<double, 7> kPenaltyGrid{1e-3, 1e-2, 1e-1, 1, 10, 100, 1000};

/// A fitted line through standardised attributes.
struct LinearModel {
  Standardiser standardiser;
  double intercept = 0;              ///< the target's mean, in its unit
  std::vector<double> coefficients;  ///< one per column; target's unit per standard deviation

  /// One prediction per row. std::invalid_argument for other columns than those fitted.
  std::vector<double> predict(const MatrixView& predictors) const;
};

/// Fits one model per penalty, in the order of `penalties`; each is positive and finite.
/// Columns that are constant get coefficient 0. The lasso ends when no optimality condition
///
///   z_j'(y - Zw)/n = a sign(w_j) where w_j != 0,   |z_j'(y - Zw)/n| <= a elsewhere
///
/// is missed by more than 1e-9 of max_j |z_j'y/n|; std::runtime_error if it does not converge.
/// std::invalid_argument as check_regression(), and for a penalty not positive and finite.
std::vector<LinearModel> fit_path(Penalty kind, const MatrixView& predictors,
                                  std::span<const double> target,
                                  std::span<const double> penalties);

/// The same for one penalty.
LinearModel fit_linear(Penalty kind, const MatrixView& predictors, std::span<const double> target,
                       double penalty);

/// A penalty chosen by cross-validation, and the model of all rows with it.
struct PenaltyChoice {
  double penalty = 0;
  std::vector<double> errors;  ///< mean squared error of the held-out rows, by grid penalty
  double error = 0;            ///< that of the chosen penalty
  LinearModel model;
};

/// The penalty with the smallest cross-validated error, of equals the larger one. Each fold standardises the
/// attributes by its training rows. std::invalid_argument for an empty grid, and as fit_path() and
/// assign_folds().
PenaltyChoice choose_penalty(Penalty kind, const MatrixView& predictors,
                             std::span<const double> target, std::span<const double> grid,
                             const CrossValidation& options);

}  // namespace corun::inline models
