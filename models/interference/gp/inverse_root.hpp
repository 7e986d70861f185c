#pragma once

#include <cstddef>
#include <vector>

/// The inverse of the Cholesky factor of a covariance matrix that grows by one row and column at a time.
///
/// K = L L'. The rows of inv(L) are stored; row r has r + 1 numbers. With the covariances k of a new variable
/// with those before it, the new row (l', d) of L and the new row of inv(L) are
///
///   l = inv(L) k       d^2 = variance - l'l       new row of inv(L) = (-l' inv(L), 1) / d
///
/// A new row costs O(size^2). Source: Golub and Van Loan, "Matrix Computations", section 4.2.
namespace corun::inline models::gp {

/// Added to the noise variance of every observation, so that no covariance matrix is singular.
inline constexpr double kLeastNoise = 1e-4;

class InverseRoot {
 public:
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
