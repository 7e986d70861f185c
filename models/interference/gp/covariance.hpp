#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "models/interference/gp/features.hpp"
#include "models/interference/gp/inverse_root.hpp"

/// The covariance of two observations, job i beside job j and job k beside job l:
///
///   K[(i,j),(k,l)] = c + (a1 A_ik + a2 [i = k]) + (b1 B_jl + b2 [j = l])
///                  + p (A_ik + r1 [i = k]) (B_jl + r2 [j = l])
///                  + w2 phi_ij . phi_kl + noise [same row]
///
///   A_ik = exp(-sum_f ((x_if - x_kf) / l_f)^2 / 2)     B_jl likewise, with lengths of its own
///
/// Targets are standardised, so K has no unit. x and phi: features.hpp. One length per feature (automatic
/// relevance determination): Rasmussen and Williams, "Gaussian Processes for Machine Learning", 2006, section
/// 5.1.
namespace corun::inline models::gp {

/// The parameters are the logarithms of a1, a2, b1, b2, p, r1, r2, c, w2 and noise, then of the lengths of A,
/// then of those of B, one for every number of x.
enum Parameter : std::uint8_t {
  kOwn,
  kOwnIdentity,
  kCoRunner,
  kCoRunnerIdentity,
  kProduct,
  kProductOwn,
  kProductCoRunner,
  kConstant,
  kPressures,
  kNoise,
  kLengths,
};

/// Bound of the modulus of a log-parameter.
inline constexpr double kLargestParameter = 30;

/// The number of parameters if x has `width` numbers.
inline std::size_t parameter_count(std::size_t width) { return kLengths + 2 * width; }

double dot(const Pressures& x, const Pressures& y);

class Covariance {
 public:
  Covariance() = default;
  /// parameter_count() log-parameters.
  explicit Covariance(std::span<const double> parameters);

  /// A variance or ratio: exp of the parameter. For p < kLengths.
  double operator[](Parameter p) const { return scales_[p]; }
  /// Noise variance of an observation: that of kNoise plus kLeastNoise.
  double noise() const { return scales_[kNoise] + kLeastNoise; }
  /// Length of x.
  std::size_t width() const { return (scales_.size() - kLengths) / 2; }
  /// 1 / length of each number of x, for A and for B.
  std::span<const double> own_rates() const {
    return std::span(scales_).subspan(kLengths, width());
  }
  std::span<const double> co_runner_rates() const {
    return std::span(scales_).subspan(kLengths + width());
  }

  /// A and B between two jobs.
  double own(const Place& x, const Place& y) const { return kernel(x, y, own_rates()); }
  double co_runner(const Place& x, const Place& y) const { return kernel(x, y, co_runner_rates()); }
  /// The same between a job and each of `places`, one entry per place.
  std::vector<double> own(const Place& place, const std::vector<Place>& places) const;
  std::vector<double> co_runner(const Place& place, const std::vector<Place>& places) const;

  /// Two observations.
  struct Pair {
    double own;  ///< A between the slowed jobs
    bool same_own;
    double co_runner;  ///< B between the co-runners
    bool same_co_runner;
    double pressures;  ///< phi . phi
  };
  /// Their covariance, without noise.
  double of(const Pair& pair) const;
  /// Prior variance of the target of a pair with pressures phi, without noise.
  double prior(const Pressures& phi) const { return of({1, true, 1, true, dot(phi, phi)}); }

 private:
  static double kernel(const Place& x, const Place& y, std::span<const double> rates);

  std::vector<double> scales_;  ///< variances and ratios, then inverse lengths
};

}  // namespace corun::inline models::gp
