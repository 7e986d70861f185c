#pragma once

#include <cstddef>
#include <vector>

#include "models/interference/gp/panels.hpp"

/// The inverse of the Cholesky factor of a covariance matrix that grows by one row and column at a time.
///
/// K = L L'. The rows of inv(L) are stored; row r has r + 1 numbers. With the covariances k of a new variable
/// with those before it, the new row (l', d) of L and the new row of inv(L) are
///
///   l = inv(L) k       d^2 = variance - l'l       new row of inv(L) = (-l' inv(L), 1) / d
///
/// A new row costs O(size^2). Source: Golub and Van Loan, "Matrix Computations", section 4.2. inverse_root_of() makes many
/// rows at once, in blocks, so that most of the work is products of matrices: a tenth of the time. Each sum is over the
/// same terms in the same order, so both give the same bits.
namespace corun::inline models::gp {

/// Added to the noise variance of every observation, so that no covariance matrix is singular.
inline constexpr double kLeastNoise = 1e-4;

/// inv(L) of a covariance matrix of `size` variables; the upper triangle of the result is 0. Of `covariance` the upper
/// triangle and the diagonal, which includes kLeastNoise, are read.
Panels inverse_root_of(const Panels& covariance, std::size_t size);
/// inv(K) = inv(L)' inv(L): the lower triangle, and above it what is in the diagonal's blocks. Each element sums over the
/// rows of inv(L) in ascending order.
Panels precision_of(const Panels& root, std::size_t size);

class InverseRoot {
 public:
  InverseRoot() = default;
  /// Of inverse_root_of().
  InverseRoot(const Panels& root, std::size_t size);
  std::size_t size() const { return size_; }
  const double* row(std::size_t r) const { return packed_.data() + r * (r + 1) / 2; }
  /// Adds a variable. `covariance`: size() numbers, with the variables before it; `variance` includes
  /// kLeastNoise.
  void append(const double* covariance, double variance);

 private:
  std::size_t size_ = 0;
  std::vector<double> packed_;  ///< the lower triangle, row by row
  std::vector<double> white_;   ///< l of the new row
};

}  // namespace corun::inline models::gp
