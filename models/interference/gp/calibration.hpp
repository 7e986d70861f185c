#pragma once

#include <array>

#include "models/interference/gp/posterior.hpp"
#include "models/interference/gp/training_set.hpp"

/// Calibration of the intervals by cross-validation. The deviation of a prediction is that of the posterior
/// times a factor, which depends on the share of the prior variance that is left. The factor is linear
/// between three points: single co-runs left out; jobs left out with all their co-runs; jobs left out
/// together with the jobs most like them, an eighth of all. One family of jobs tells little about another, so
/// the third point takes the family predicted worst. A factor is the 90th percentile of |error| / deviation
/// over that of a normal, 1.645, averaged with 1 at the weight of twenty scores.
///
/// Leaving out has a closed form. With P = inv(K), the errors of the rows S when all other rows predict them
/// are inv(P_SS) (P y)_S, with covariance inv(P_SS). Source: Rasmussen and Williams, "Gaussian Processes for
/// Machine Learning", 2006, section 5.4.2, for one row.
namespace corun::inline models::gp {

/// Bounds of the factors.
inline constexpr double kLeastFactor = 0.7;
inline constexpr double kLargestFactor = 3;

struct Calibration {
  /// The factor of the deviation if this share of the prior variance is left.
  struct Factor {
    double share = 0, factor = 1;
  };
  std::array<Factor, 3> factors{};  ///< by rising share
  /// Log-standard deviation of the excesses around their leave-one-out predictions, as in excess_scatter().
  double residual_sigma = 0;
};

/// `target`: mean and deviation by which the targets are standardised; `posterior` has taken in all rows; `precision`: inv(K), by precision_of(). `effort`: of
/// the fit; it scales the number of jobs that are left out.
Calibration calibrate(const Rows& rows, const Moments& target, const Posterior& posterior,
                      const Panels& precision, double effort);

}  // namespace corun::inline models::gp
