#pragma once

#include <cstddef>
#include <span>
#include <vector>

/// The smoothing spline of order 2 (parabolic pieces, one continuous derivative) by which PriRecT's
/// "Spline, order=2" row of Table II and its MobileNet utilisation samples were made.
///
/// After P. Dierckx, "An algorithm for smoothing, differentiation and integration of experimental
/// data using spline functions" (J. Comp. Appl. Math. 1, 1975) and "Curve and Surface Fitting with
/// Splines" (1993), chapters 4 and 5: of all splines on certain knots t whose residual
///
///   F = sum_r (y_r - S(x_r))^2
///
/// equals `smoothing`, the one with the least sum of squared jumps of S'' at the inner knots.
///
/// 1. Knots. Start with none inside: the least-squares parabola. If its F is small enough, that is
///    the answer. Otherwise add knots, and fit by least squares again, until F <= smoothing. A knot
///    goes to the middle data point of the piece with the largest squared residuals; how many at
///    once follows from what the last ones gained, at most twice and at least half as many.
/// 2. Smoothness. Of the final knots, minimise F + sum_l (jump_l / p)^2; F(p) falls from the
///    parabola's F at p = 0 to that of step 1 at infinity. p with F(p) = smoothing is found by a
///    rational function (u p + v) / (p + w) through three values, to 0.1 % of `smoothing`.
///
/// Values agree with the library the authors used to the tolerance of step 2, and mostly to
/// rounding: the order in which knots are tried is its order, a first stop at half as many knots as
/// data points included.
namespace corun {

class SmoothingSpline {
 public:
  /// x strictly increasing and finite, at least three points, smoothing > 0, else
  /// std::invalid_argument.
  SmoothingSpline(std::span<const double> x, std::span<const double> y, double smoothing);

  /// Outside the data, the outermost parabola carries on.
  double operator()(double t) const;
  /// All knots, each end threefold.
  std::span<const double> knots() const { return knots_; }
  /// F of the spline that was found.
  double residual() const { return residual_; }

 private:
  std::vector<double> knots_;
  std::vector<double> coefficients_;  ///< one per B-spline: knots - 3
  double residual_ = 0;
};

}  // namespace corun
