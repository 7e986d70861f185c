#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include <boost/align/aligned_allocator.hpp>

/// Draws of the factors of jobs, for the Gibbs sampler of the factor model, which makes hundreds of thousands
/// of them in a fit.
namespace corun::inline models::factors {

/// Bayesian linear regressions of k coefficients c on observations y = x . c + e, e ~ N(0, 1 / weight), with
/// the prior N(m, inv(P)), of up to kTogether jobs side by side. The posterior of each is N(inv(H) g, inv(H))
/// with H = P + sum weight x x' and g = P m + sum weight y x.
///
/// For 5 to 20 coefficients a general library spends most of its time on calls and allocations, and a single
/// solution waits for each of its divisions. Numbers are added in the order of Eigen 3.4 (up to 31
/// coefficients), so recorded fits stay the same to the bit.
class JobRegressions {
 public:
  static constexpr std::size_t kTogether = 8;

  explicit JobRegressions(std::size_t coefficients);

  /// An observation.
  struct Row {
    const double* x;  ///< k numbers
    double weight, y;
  };

  /// Sets the regression of job `lane`, below kTogether. `precision`: P, k x k, column by column. `mean`: m.
  void set(std::size_t lane, const double* precision, std::span<const double> mean,
           std::span<const Row> rows);
  /// Draws from the posteriors of the first `lanes` jobs: inv(H) g + inv(R) z with H = R' R and R an upper
  /// triangle. `z`: independent standard normals, k of each job. Should rounding make an H indefinite, the
  /// smallest sufficient share of its largest diagonal element is added to the diagonal. std::logic_error if
  /// that does not help.
  void draw(std::size_t lanes, std::span<const double> z);
  /// A coefficient as drawn.
  double drawn(std::size_t lane, std::size_t coefficient) const {
    return solved_[coefficient][lane];
  }

 private:
  using Lanes [[gnu::vector_size(kTogether * sizeof(double))]] = double;
  /// draw() reads them by the widest vector unit, which takes them to be aligned.
  using AllLanes = std::vector<Lanes, boost::alignment::aligned_allocator<Lanes, sizeof(Lanes)>>;

  void set_of(std::size_t size, std::size_t lane, const double* precision,
              std::span<const double> mean, std::span<const Row> rows);
  void draw_of(std::size_t size, std::size_t lanes, std::span<const double> z);
  void factorise(std::size_t size, const Lanes& help);
  void solve_lower(std::size_t size);
  void solve_upper(std::size_t size, AllLanes& v) const;

  std::size_t size_;
  /// Of each job: the lower triangle of H, column by column (anything above it), and g.
  std::vector<double> h_, g_;
  /// Of all jobs side by side: R', column by column; g, then the draw; z.
  AllLanes root_, solved_, deviation_;
  AllLanes sums_;
  alignas(sizeof(Lanes)) Lanes
      squares_least_{};  ///< the least square on the diagonal of R', not positive if H is indefinite
};

}  // namespace corun::inline models::factors
