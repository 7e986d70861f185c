#pragma once

#include <Eigen/Dense>

namespace corun::inline models::factors {

/// The basis of the fitted jobs turned to its principal axes, in which the posterior of the coefficients given the factors
/// of the jobs has a diagonal precision: one factorisation serves all sweeps of all chains of a fit.
///
/// Of a basis (1, X) with X - mean = P diag(sqrt(square)) D', (1, X) beta is the same as [1/sqrt(n), P] gamma; the prior
/// N(0, 1/ridge) of the slopes on every direction is N(0, square/ridge) of gamma. Directions along which the jobs hardly differ
/// have no axis: the jobs say nothing about the coefficients there, and the prior holds. Numbers have no unit. Source: ridge
/// regression in principal components (Hastie, Tibshirani and Friedman, "The Elements of Statistical Learning", 2009, 3.4.1).
struct Axes {
  /// `basis`: jobs x (1 + features), with a column of 1 first. std::logic_error if the eigenvalue solver fails.
  explicit Axes(const Eigen::MatrixXd& basis);

  /// beta, (1 + features) x d, of coefficients of the axes, axes x d, and of the directions without an axis, others() x d.
  Eigen::MatrixXd beta_of(const Eigen::MatrixXd& of_axes, const Eigen::MatrixXd& of_others) const;
  /// The number of directions without an axis.
  Eigen::Index others() const { return loadings.cols() + 1 - squares.size(); }

  Eigen::MatrixXd scores;    ///< jobs x axes, orthonormal columns; the first is constant
  Eigen::VectorXd squares;   ///< of the length of the jobs along each axis, above 0
  Eigen::MatrixXd loadings;  ///< D, then the directions without an axis; features x features
  Eigen::RowVectorXd mean;   ///< of X over the jobs
};

}  // namespace corun::inline models::factors
