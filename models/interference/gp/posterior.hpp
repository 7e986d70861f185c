#pragma once

#include <array>
#include <cstddef>
#include <vector>

#include "models/interference/gp/covariance.hpp"
#include "models/interference/gp/inverse_root.hpp"
#include "models/interference/gp/training_set.hpp"

/// The posterior of the targets y, of mean k' inv(K) y and variance prior - k' inv(K) k for covariances k
/// with the observations: what predictions and calibration need of K, which grows observation by
/// observation, O(observations^2) for each, so that a model read from a file is the same as one that has
/// learnt. Rows in the order of the observations; targets are standardised, without unit. Source: Rasmussen
/// and Williams, "Gaussian Processes for Machine Learning", 2006, section 2.2.
namespace corun::gp {

class Posterior {
 public:
  Posterior() = default;
  explicit Posterior(Covariance covariance) : covariance_(std::move(covariance)) {}

  /// The next observation: all before it have been taken in.
  void take_in(const Rows& rows);

  const Covariance& covariance() const { return covariance_; }
  const InverseRoot& root() const { return root_; }
  /// inv(K) y.
  const std::vector<double>& weights() const { return weights_; }
  /// inv(K) phi, by pressure.
  const std::array<std::vector<double>, kPressureCount>& weighted_pressures() const {
    return weighted_pressures_;
  }

 private:
  Covariance covariance_;
  InverseRoot root_;
  std::vector<double> weights_;
  std::array<std::vector<double>, kPressureCount> weighted_pressures_;
};

}  // namespace corun::gp
