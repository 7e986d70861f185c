#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "models/interference/gp/covariance.hpp"
#include "models/interference/gp/covariance_matrix.hpp"
#include "models/interference/gp/panels.hpp"
#include "models/interference/gp/training_set.hpp"

/// The negative log evidence of parameters, with analytic derivatives. For n targets y and K = L L':
///
///   value = y' inv(K) y / 2 + log det L + sum_p ((theta_p - m_p) / s_p)^2 / 2
///   d value / d theta = tr(W dK/dtheta) + (theta_p - m_p) / s_p^2,   W = (inv(K) - w w') / 2, w = inv(K) y
///
/// This is minus the logarithm of the marginal likelihood times wide log-normal priors (m, s), without
/// constants; it has no unit. Source: Rasmussen and Williams, "Gaussian Processes for Machine Learning",
/// 2006, section 5.4.1. Cost: O(n^3) + O(jobs^2 width).
namespace corun::inline models::gp {

/// At some parameters. The value is infinite and the gradient 0 if the modulus of a log-parameter exceeds kLargestParameter.
class Evidence {
 public:
  /// `rows` must outlive it.
  Evidence(const Rows& rows, std::span<const double> parameters);

  double value() const { return value_; }
  /// One entry per log-parameter. Computed in each call.
  std::vector<double> gradient() const;

 private:
  /// K, factored.
  struct Solution {
    Covariance covariance;
    JobKernels kernels;
    Panels root;
    std::vector<double> weights;  ///< inv(K) y
  };

  const Rows& rows_;
  std::vector<double> parameters_;
  std::optional<Solution> solution_;
  double value_ = 0;
};

/// Logarithms of the medians of the priors of the first `parameters` parameters.
std::vector<double> prior_medians(std::size_t parameters);

}  // namespace corun::inline models::gp
