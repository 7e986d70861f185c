#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "models/interference/gp/training_set.hpp"

/// The evidence of parameters and its derivatives, analytic. Of n targets y with K = L L':
///
///   value = y' inv(K) y / 2 + log det L + sum_p ((theta_p - m_p) / s_p)^2 / 2
///   d value / d theta = tr(W dK/dtheta) + (theta_p - m_p) / s_p^2,   W = (inv(K) - w w') / 2, w = inv(K) y
///
/// minus the logarithm of marginal likelihood times log-normal priors (m, s: wide, for targets that are
/// standardised), constants left out. Without unit. Source: Rasmussen and Williams, "Gaussian Processes for
/// Machine Learning", 2006, section 5.4.1. Cost: O(n^3) + O(jobs^2 width).
namespace corun::gp {

struct Evidence {
  double value = 0;
  std::vector<double> gradient;  ///< by parameter
};

/// Infinite, with derivatives 0, where a parameter is beyond kLargestParameter.
Evidence evidence_of(const Rows& rows, std::span<const double> parameters);

/// The medians of so many parameters' priors.
std::vector<double> prior_medians(std::size_t parameters);

}  // namespace corun::gp
