#pragma once

#include <array>
#include <cstddef>
#include <span>
#include <vector>

#include "models/formulas/gp_formula.hpp"
#include "sim/speed_table.hpp"

/// What a Gaussian process sees of a job and of a pair.
///
/// Of a job its place x: the features, those on a log scale as logarithms and beside them the difference of
/// every two of these (ratios of rates), standardised over the jobs fitted on, at most kFarthest deviations
/// from the mean; NaN is the mean. And its load: the fractions gpu_util_pct / 100 (u), mem_time_pct / 100
/// (t) and mem_alloc_pct / 100 (m) where the table has such features, else 0; NaN is the mean.
///
/// Of job i beside job j the pressures phi_ij of contention.hpp and one more, standardised alike:
///
///   (1-m_i) u_i (1-m_j) u_j,  t_i u_j,  max(0, 1 - u_i/0.10) u_j,  max(0, t_i + t_j - 0.5),
///   max(0, u_i + u_j - 1)
namespace corun::gp {

/// Standardised features and pressures further out than this count as this far.
inline constexpr double kFarthest = 10;

using Pressures = std::array<double, kPressureCount>;

struct Place {
  std::vector<double> x;
  Load load;
};

/// The pressures of `own` under `co-runner` as they are.
Pressures raw_pressures(const Load& slowed, const Load& co_runner);

struct Features {
  std::vector<SpeedTable::Feature> given;
  std::vector<double> mean, deviation;  ///< of x; deviation 0: the same for all, says nothing
  Load mean_load;
  Pressures pressure_mean{}, pressure_deviation{};

  /// Before it is standardised; NaN stays. std::invalid_argument as expand_features().
  Place raw_place(std::span<const double> features) const;
  Place standardised(Place place) const;
  Place place(std::span<const double> features) const { return standardised(raw_place(features)); }
  Pressures pressures(const Load& slowed, const Load& co_runner) const;
  /// How pressures are standardised, for the formula.
  void set_pressures(Model& formula) const;

  /// Means and deviations of x and of the loads, over these.
  void learn_places(const std::vector<Place>& raw);
  /// Of the pressures, over these; each as raw_pressures() has it.
  void learn_pressures(const std::vector<Pressures>& raw);
};

}  // namespace corun::gp
