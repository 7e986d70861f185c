#pragma once

#include <array>
#include <span>

#include "models/interference/speed_model.hpp"
#include "sim/measurement.hpp"

/// Contention: a physical model of few parameters for any number of residents.
///
/// Per job, as fractions: u = maximum GPU utilisation, m = memory allocated, t = time accessing
/// memory. The excess x = 1/s - 1 of job i beside the jobs j is a sum of four pressures:
///
///   x_i = c1 (1 - m_i) u_i  sum_j (1 - m_j) u_j              arithmetic units, symmetric; jobs that
///                                                            hold much memory run long kernels and
///                                                            interfere less
///       + c2 t_i  sum_j u_j                                  own memory traffic delayed by others
///       + c3 max(0, 1 - u_i / 0.10)  sum_j u_j               launch latency of a light job that has
///                                                            to wait for busy ones
///       + c4 [max(0, t_i + sum_j t_j - 0.5) - max(0, t_i - 0.5)]   memory time over capacity, the
///                                                            part that the others add
///
/// with c >= 0, so 0 < s <= 1 and s = 1 alone. More than two residents: sums over j as written.
///
/// Fit: non-negative least squares over both directions of every measured pair, weight s^2 (that is
/// least squares on the relative error of the time under overlap), then one common factor so that the
/// mean excess of the fitted rows is met: a world whose level is right on average.
///
/// Fitted on JRS Tables II to VII and PriRecT III, IV (profiles from T4 and P100, co-runs from V100).
/// How good it is: `corun model eval` prints it; docs/models.md says what it means. u, m and t that a
/// profile lacks take the mean of the fitted rows.
namespace corun {

class ContentionModel final : public SpeedModel {
 public:
  static constexpr std::size_t kTerms = 4;

  /// Fits on the pairs among `rows`; larger groups are passed over. Needs at least one pair
  /// (std::invalid_argument).
  static ContentionModel fit(std::span<const CorunMeasurement> rows);

  void speeds(std::span<const Profile* const> residents, std::span<double> out) const override;
  double residual_sigma() const override { return sigma_; }

  const std::array<double, kTerms>& coefficients() const { return coefficients_; }

 private:
  struct Features {
    double u, m, t;  ///< fractions
  };
  Features features(const Profile& profile) const;
  /// The four pressures on one job; the others only through their sums.
  static std::array<double, kTerms> pressures(const Features& own, double others_free_u,
                                              double others_u, double others_t);

  std::array<double, kTerms> coefficients_{};
  Features mean_{};
  double sigma_ = 0;
};

}  // namespace corun
