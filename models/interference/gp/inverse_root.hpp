#pragma once

#include <cstddef>
#include <vector>

/// The Cholesky factor of a covariance matrix that grows by a row and a column at a time.
///
/// K = L L'; kept are the rows of inv(L), row r of r + 1 numbers, one behind the other. Of a new row
/// (l', d) of L, where k are the covariances with those before:
///
///   l = inv(L) k       d^2 = variance - l'l       new row of inv(L) = (-l' inv(L), 1) / d
///
/// One more row costs O(size^2). Source: Golub and Van Loan, "Matrix Computations", section 4.2.
namespace corun::gp {

/// Added to the noise of every observation: no covariance matrix is singular.
inline constexpr double kLeastNoise = 1e-4;

class InverseRoot {
 public:
  std::size_t size() const { return size_; }
  const double* row(std::size_t r) const { return packed_.data() + r * (r + 1) / 2; }
  /// One more variable: covariances with those before, and its variance, which holds kLeastNoise.
  void append(const double* covariance, double variance);

 private:
  std::size_t size_ = 0;
  std::vector<double> packed_;  ///< the lower triangle, row by row
  std::vector<double> white_;   ///< l, of the row that is appended
};

}  // namespace corun::gp
