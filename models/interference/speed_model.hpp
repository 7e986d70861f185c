#pragma once

#include <span>

#include "sim/profile.hpp"

/// An interference model: profiles of the residents in, expected normalised speeds out.
namespace corun {

class SpeedModel {
 public:
  virtual ~SpeedModel() = default;

  /// out[i] in (0, 1] is the expected speed of residents[i] beside all the others; 1 when alone.
  virtual void speeds(std::span<const Profile* const> residents, std::span<double> out) const = 0;

  /// Log-standard deviation of the mean-one factor by which the excess 1/s - 1 of single co-runs
  /// scatters around the model.
  virtual double residual_sigma() const = 0;
};

}  // namespace corun
