#pragma once

#include <array>

#include "models/interference/gp/posterior.hpp"
#include "models/interference/gp/training_set.hpp"

/// How far out are co-runs that the rest has to predict? The deviation of a prediction is the posterior's
/// times a factor that depends on the share of the prior variance that is left, by straight lines between
/// three: of co-runs of jobs that are known beside others; of jobs left out with all their co-runs; and of
/// jobs left out with those most like them, an eighth of all. What one such kind does says little about the
/// next, so there the kind predicted worst counts. A factor is the 90th percentile of |off| / deviation over
/// a normal's, 1.645, held near 1 by a few scores that behave.
///
/// Leaving out is in closed form: with P = inv(K), what is left of the targets of the rows S when all others
/// predict them is inv(P_SS) (P y)_S, of covariance inv(P_SS). Source: Rasmussen and Williams, "Gaussian
/// Processes for Machine Learning", 2006, section 5.4.2, for one row.
namespace corun::gp {

/// Factors are kept between these.
inline constexpr double kLeastFactor = 0.7;
inline constexpr double kLargestFactor = 3;

struct Calibration {
  /// What the deviation is multiplied by where that share of the prior variance is left.
  struct Factor {
    double share = 0, factor = 1;
  };
  std::array<Factor, 3> factors{};  ///< by rising share
  /// Log-deviation of the excesses around what was expected of them, as excess_scatter() has it.
  double residual_sigma = 0;
};

/// `target`: of which the rows' targets are standardised; all rows have been taken in.
Calibration calibrate(const Rows& rows, const Moments& target, const Posterior& posterior);

}  // namespace corun::gp
