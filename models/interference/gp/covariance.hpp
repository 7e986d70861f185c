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
/// of targets that are standardised, so without unit. x and phi: features.hpp; automatic relevance:
/// Rasmussen and Williams, "Gaussian Processes for Machine Learning", 2006, section 5.1.
namespace corun::gp {

/// The parameters are logarithms of a1, a2, b1, b2, p, r1, r2, c, w2, noise, then of the lengths of A and
/// of B, one for every number of x.
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

/// Log-parameters beyond this are out of all reason.
inline constexpr double kLargestParameter = 30;

/// How many parameters there are for places of `width` numbers.
inline std::size_t parameter_count(std::size_t width) { return kLengths + 2 * width; }

double dot(const Pressures& x, const Pressures& y);

class Covariance {
 public:
  Covariance() = default;
  /// parameter_count() of them.
  explicit Covariance(std::span<const double> parameters);

  /// A variance or ratio: exp of the parameter.
  double operator[](Parameter p) const { return scales_[p]; }
  /// Of an observation: kNoise and kLeastNoise.
  double noise() const { return scales_[kNoise] + kLeastNoise; }
  /// Length of x.
  std::size_t width() const { return (scales_.size() - kLengths) / 2; }
  /// Inverse lengths of A and of B.
  std::span<const double> own_rates() const {
    return std::span(scales_).subspan(kLengths, width());
  }
  std::span<const double> co_runner_rates() const {
    return std::span(scales_).subspan(kLengths + width());
  }

  /// A and B between two jobs.
  double own(const Place& x, const Place& y) const { return kernel(x, y, own_rates()); }
  double co_runner(const Place& x, const Place& y) const { return kernel(x, y, co_runner_rates()); }
  /// Between a job and each of `places`.
  std::vector<double> own(const Place& place, const std::vector<Place>& places) const;
  std::vector<double> co_runner(const Place& place, const std::vector<Place>& places) const;

  /// What two observations have of each other.
  struct Pair {
    double own;  ///< A between the jobs slowed
    bool same_own;
    double co_runner;  ///< B between those beside
    bool same_co_runner;
    double pressures;  ///< phi . phi
  };
  /// Without the noise.
  double of(const Pair& pair) const;
  /// Variance of t before anything is seen, without the noise.
  double prior(const Pressures& phi) const { return of({1, true, 1, true, dot(phi, phi)}); }

 private:
  static double kernel(const Place& x, const Place& y, std::span<const double> rates);

  std::vector<double> scales_;  ///< exp of the parameters: variances and ratios, inverse lengths
};

}  // namespace corun::gp
