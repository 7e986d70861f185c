#pragma once

#include <cstddef>
#include <span>
#include <vector>

/// The smoothing spline of order 2 (parabolic pieces, one continuous derivative) of the row "Spline, order=2"
/// in PriRecT's Table II and of its MobileNet utilisation samples.
///
/// After P. Dierckx, "An algorithm for smoothing, differentiation and integration of experimental
/// data using spline functions" (J. Comp. Appl. Math. 1, 1975) and "Curve and Surface Fitting with
/// Splines" (1993), chapters 4 and 5: of all splines on certain knots with the residual
///
///   F = sum_r (y_r - S(x_r))^2 = smoothing,
///
/// the one with the least sum of squared jumps of S'' at the inner knots.
///
/// 1. Knots. Start without inner knots: the least-squares parabola. If its F is small enough, it is the
///    result. Otherwise add knots and fit by least squares again, until F <= smoothing. A knot is placed at
///    the middle data point of the piece with the largest squared residuals. The number of knots added at
///    once follows from the gain of the last ones; it is at most twice and at least half the last number.
/// 2. Smoothness. On the final knots, minimise F + sum_l (jump_l / p)^2. F(p) falls from the parabola's F at
///    p = 0 to that of step 1 at infinity. p with F(p) = smoothing is found by a rational function (u p + v)
///    / (p + w) through three values, to 0.1 % of `smoothing`.
///
/// Values agree with the authors' library to the tolerance of step 2, and mostly to rounding, because knots
/// are tried in the same order, including its stop at half as many knots as data points.
namespace corun::inline models {

class SmoothingSpline {
 public:
  /// x strictly increasing, x and y finite and of equal length, at least three points, smoothing > 0 (in the
  /// unit of y squared); else std::invalid_argument.
  SmoothingSpline(std::span<const double> x, std::span<const double> y, double smoothing);

  /// The value at t; outside the data, that of the outermost parabola.
  double operator()(double t) const;
  /// All knots, each end threefold.
  std::span<const double> knots() const { return knots_; }
  /// F of the spline.
  double residual() const { return residual_; }

 private:
  std::vector<double> knots_;
  std::vector<double> coefficients_;  ///< one per B-spline: knots - 3
  double residual_ = 0;
};

}  // namespace corun::inline models
