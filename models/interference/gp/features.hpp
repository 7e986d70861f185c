#pragma once

#include <array>
#include <cstddef>
#include <span>
#include <vector>

#include "models/formulas/gp_formula.hpp"
#include "sim/speed_table.hpp"

/// The features of a job and of a pair in the Gaussian process.
///
/// A job has a place x: its features, those on a log scale as logarithms, and the difference of every two
/// logarithms (ratios). They are standardised over the fitted jobs and limited to kFarthest deviations from
/// the mean; NaN becomes the mean. A job also has a load: the fractions gpu_util_pct / 100 (u), mem_time_pct
/// / 100 (t) and mem_alloc_pct / 100 (m), limited to [0, 1]. A feature that the table does not have counts as
/// 0, NaN as the mean.
///
/// Job i beside job j has the pressures phi_ij of contention.hpp and one more, standardised in the same way:
///
///   (1-m_i) u_i (1-m_j) u_j,  t_i u_j,  max(0, 1 - u_i/0.10) u_j,  max(0, t_i + t_j - 0.5),
///   max(0, u_i + u_j - 1)
namespace corun::inline models::gp {

/// Bound of the modulus of standardised features and pressures.
inline constexpr double kFarthest = 10;

using Pressures = std::array<double, kPressureCount>;

struct Place {
  std::vector<double> x;
  Load load;
};

/// The pressures on `slowed` beside `co_runner`, not standardised.
Pressures raw_pressures(const Load& slowed, const Load& co_runner);

struct Features {
  std::vector<SpeedTable::Feature> given;
  std::vector<double> mean, deviation;  ///< of x; deviation 0: constant over the jobs, left out
  Load mean_load;
  Pressures pressure_mean{}, pressure_deviation{};

  /// The place and the load of a job, not standardised; NaN stays. `features`: in the order and units of
  /// `given`. std::invalid_argument as expand_features().
  Place raw_place(std::span<const double> features) const;
  Place standardised(Place place) const;
  Place place(std::span<const double> features) const { return standardised(raw_place(features)); }
  /// Standardised.
  Pressures pressures(const Load& slowed, const Load& co_runner) const;
  /// Copies the moments of the pressures into the formula.
  void set_pressures(Model& formula) const;

  /// Sets the moments of x and the mean load, from the raw_place() of each fitted job.
  void learn_places(const std::vector<Place>& raw);
  /// Sets the moments of the pressures, from the raw_pressures() of each fitted row.
  void learn_pressures(const std::vector<Pressures>& raw);
};

}  // namespace corun::inline models::gp
