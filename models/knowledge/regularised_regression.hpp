#pragma once

#include <array>
#include <span>
#include <vector>

#include "models/knowledge/cross_validation.hpp"
#include "models/knowledge/matrix_view.hpp"
#include "models/knowledge/standardiser.hpp"

/// Ridge and lasso regression as tools of feature selection (PriRecT section III-B).
///
/// With Z the standardised predictors (n rows; mean 0 and population deviation 1 per column), y the
/// target less its mean, in its own unit, and a > 0 the penalty, in scikit-learn's parametrisation:
///
///   ridge   minimise |y - Zw|^2 + a |w|_2^2              solution (Z'Z + aI) w = Z'y, by LDLT
///   lasso   minimise |y - Zw|^2 / (2n) + a |w|_1         coordinate descent, then an
///                                                            active set for the last digits
///
/// The paper names one grid for both, but equal numbers are not equal strengths: scaled like ridge's,
/// the lasso's term is 2na |w|_1, and its penalty has the target's unit where ridge's has none. At
/// max_j |z_j'y/n| and above the lasso is all zeros. The intercept is never penalised.
///
/// A coefficient is the change of the target, in its unit, per deviation of the attribute: absolute
/// values can be compared across attributes, which is what a ranking needs. Among attributes that
/// say the same, ridge shares the weight and lasso gives it to one; which of two identical columns
/// that is depends on their order and is no evidence against the other.
namespace corun {

enum class Penalty {
  kRidge,  ///< squares of the coefficients
  kLasso,  ///< absolute values of the coefficients
};

/// PriRecT's exploration of "the best fit L2 and L1 multipliers".
inline constexpr std::array<double, 7> kPenaltyGrid{1e-3, 1e-2, 1e-1, 1, 10, 100, 1000};

/// A fitted line through standardised attributes.
struct LinearModel {
  Standardiser standardiser;
  double intercept = 0;              ///< the target's mean, in its unit
  std::vector<double> coefficients;  ///< per column; target's unit per deviation

  /// One prediction per row. std::invalid_argument for other columns than those fitted.
  std::vector<double> predict(const MatrixView& predictors) const;
};

/// Fits one model per penalty, in the order of `penalties`; each is positive and finite.
/// Columns that are constant get coefficient 0. The lasso ends when no optimality condition
///
///   z_j'(y - Zw)/n = a sign(w_j) where w_j != 0,   |z_j'(y - Zw)/n| <= a elsewhere
///
/// is missed by more than 1e-9 of max_j |z_j'y/n|; std::runtime_error if it does not get there.
/// std::invalid_argument as check_regression(), or for a bad penalty.
std::vector<LinearModel> fit_path(Penalty kind, const MatrixView& predictors,
                                  std::span<const double> target,
                                  std::span<const double> penalties);

/// One penalty.
LinearModel fit_linear(Penalty kind, const MatrixView& predictors, std::span<const double> target,
                       double penalty);

/// A penalty chosen by cross-validation, and the model of all rows under it.
struct PenaltyChoice {
  double penalty = 0;
  std::vector<double> errors;  ///< mean squared error of the held-out rows, per grid penalty
  double error = 0;            ///< the chosen one's
  LinearModel model;
};

/// The penalty of the smallest cross-validated error; the larger penalty of equals. Attributes are
/// standardised within each fold, by its learning rows. std::invalid_argument for an empty grid and
/// as fit_path() and assign_folds().
PenaltyChoice choose_penalty(Penalty kind, const MatrixView& predictors,
                             std::span<const double> target, std::span<const double> grid,
                             const CrossValidation& options);

}  // namespace corun
