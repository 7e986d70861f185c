#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "models/interference/gp/features.hpp"
#include "models/interference/moments.hpp"
#include "sim/measurement.hpp"
#include "sim/speed_table.hpp"

/// What a Gaussian process is fitted on: the measured directions of a table as standardised targets.
///
///   t = -log(speed)       target = (t - mean) / deviation       (log_slowdown_moments())
namespace corun::gp {

inline constexpr std::size_t kMostFeatures = 32;

struct Rows {
  struct Observation {
    std::uint32_t own = 0;  ///< positions of the jobs
    std::uint32_t co_runner = 0;
    double target = 0;
  };
  std::vector<Place> places;  ///< of the jobs
  std::vector<Observation> observations;
  std::vector<Pressures> phi;  ///< of the observations

  /// So many observations at most, drawn by the seed, and the jobs in them.
  Rows some(std::size_t most, std::uint64_t seed) const;
};

struct TrainingSet {
  Features features;
  std::vector<WorkloadKey> keys;  ///< of the jobs
  Moments target;                 ///< of t
  Rows rows;

  double target_of(double speed) const;
  /// One more observation; its jobs are there.
  void add(std::uint32_t slowed, std::uint32_t co_runner, double target);
};

/// Of `most` measured directions of the table, drawn by the seed, and the jobs in them.
/// std::invalid_argument: more than kMostFeatures features, and as observations_of() and
/// expand_features().
TrainingSet training_set_of(const SpeedTable& table, std::size_t most, std::uint64_t seed);

}  // namespace corun::gp
