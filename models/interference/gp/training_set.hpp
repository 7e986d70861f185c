#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "models/interference/fits/moments.hpp"
#include "models/interference/gp/features.hpp"
#include "sim/measurement.hpp"
#include "sim/speed_table.hpp"

/// The data that a Gaussian process is fitted on: the measured directions of a table as standardised targets.
///
///   t = -log(speed)       target = (t - mean) / deviation       (log_slowdown_moments())
namespace corun::inline models::gp {

inline constexpr std::size_t kMostFeatures = 32;

struct Rows {
  struct Observation {
    std::uint32_t own = 0;        ///< position of the slowed job
    std::uint32_t co_runner = 0;  ///< position of its co-runner
    double target = 0;            ///< standardised
  };
  std::vector<Place> places;  ///< standardised, one per job
  std::vector<Observation> observations;
  std::vector<Pressures> phi;  ///< standardised, one per observation

  /// At most `most` observations, drawn by the seed, and the jobs in them.
  Rows some(std::size_t most, std::uint64_t seed) const;
};

struct TrainingSet {
  Features features;
  std::vector<WorkloadKey> keys;  ///< one per job
  Moments target;                 ///< of t
  Rows rows;

  /// The standardised target of a normalised speed above 0.
  double target_of(double speed) const;
  /// Adds an observation of jobs that the rows have.
  void add(std::uint32_t slowed, std::uint32_t co_runner, double target);
};

/// At most `most` measured directions of the table, drawn by the seed, and the jobs in them.
/// std::invalid_argument for more than kMostFeatures features, and as observations_of() and
/// expand_features().
TrainingSet training_set_of(const SpeedTable& table, std::size_t most, std::uint64_t seed);

}  // namespace corun::inline models::gp
