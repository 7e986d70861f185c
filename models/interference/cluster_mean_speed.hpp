#pragma once

#include <span>
#include <vector>

#include "models/interference/speed_model.hpp"
#include "sim/measurement.hpp"

/// The papers' view as a world: a job beside a job of another cluster runs at the mean speed that was
/// measured for that ordered pair of clusters (mean excess 1/s - 1; pairs of clusters never measured
/// take the overall mean). More residents: excesses add up. Clusters by nearest centre.
namespace corun {

class ClusterMeanSpeed final : public SpeedModel {
 public:
  /// Fits on the pairs among `rows`; at least one (std::invalid_argument).
  static ClusterMeanSpeed fit(std::span<const CorunMeasurement> rows);

  void speeds(std::span<const Profile* const> residents, std::span<double> out) const override;
  double residual_sigma() const override { return sigma_; }

 private:
  std::vector<double>
      excess_;  ///< ordered cluster pairs, row-major, one per ordered pair of paper_clusters()
  double sigma_ = 0;
};

}  // namespace corun
