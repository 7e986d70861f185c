#pragma once

#include <array>
#include <cstddef>
#include <vector>

#include "models/interference/gp/covariance.hpp"
#include "models/interference/gp/inverse_root.hpp"
#include "models/interference/gp/training_set.hpp"

/// The posterior given targets y: for covariances k with the observations, its mean is k' inv(K) y and its
/// variance prior - k' inv(K) k. This class holds what predictions and calibration need of K. It grows by one
/// observation at a time, O(observations^2) each, so that a model read from a file equals one that has
/// learnt. Rows are in the order of the observations; targets are standardised, without unit. Source:
/// Rasmussen and Williams, "Gaussian Processes for Machine Learning", 2006, section 2.2.
namespace corun::inline models::gp {

class Posterior {
 public:
  Posterior() = default;
  /// Of all observations of `rows`, which take_in() would add one after the other. `root`: inverse_root_of() their
  /// covariance matrix.
  Posterior(Covariance covariance, const Rows& rows, const Panels& root);

  /// Adds the next observation of `rows`, in the order of their numbers from 0.
  void take_in(const Rows& rows);

  const Covariance& covariance() const { return covariance_; }
  const InverseRoot& root() const { return root_; }
  /// inv(K) y.
  const std::vector<double>& weights() const { return weights_; }
  /// inv(K) phi: for each pressure one entry per observation.
  const std::array<std::vector<double>, kPressureCount>& weighted_pressures() const {
    return weighted_pressures_;
  }

 private:
  /// Adds what row `a` of the root contributes to the products with inv(K).
  void weigh(const Rows& rows, std::size_t a);

  Covariance covariance_;
  InverseRoot root_;
  std::vector<double> weights_;
  std::array<std::vector<double>, kPressureCount> weighted_pressures_;
};

}  // namespace corun::inline models::gp
