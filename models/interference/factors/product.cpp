#include "models/interference/factors/product.hpp"

#include <algorithm>
#include <cstddef>
#include <cstring>

#include "sim/base/vector_clones.hpp"

namespace corun::inline models::factors {

namespace {

using Matrix = Eigen::MatrixXd;
using Index = Eigen::Index;

/// From here on Eigen keeps a kernel for products; it sums up smaller ones otherwise.
constexpr Index kLeastSize = 20;

/// Column-major matrices.
struct Product {
  const double* a;
  const double* b;
  double* out;
  Index rows;   ///< of a and out, as they are stored
  Index terms;  ///< columns of a, rows of b
};

/// kRows rows from `row` on of kColumns columns from `column` on.
template <std::size_t kRows, std::size_t kColumns>
[[gnu::always_inline]] inline void multiply_block(const Product& p, Index row, Index column) {
  using Vector [[gnu::vector_size(kRows * sizeof(double))]] = double;
  Vector sums[kColumns] = {};
  const double* a = p.a + row;
  const double* b = p.b + column * p.terms;
  for (Index k = 0; k < p.terms; ++k, a += p.rows, ++b) {
    Vector x;
    std::memcpy(&x, a, sizeof x);
#pragma GCC unroll 8
    for (std::size_t c = 0; c < kColumns; ++c) {
      sums[c] += x * b[static_cast<Index>(c) * p.terms];
    }
  }
  for (std::size_t c = 0; c < kColumns; ++c) {
    std::memcpy(p.out + (column + static_cast<Index>(c)) * p.rows + row, &sums[c], sizeof sums[c]);
  }
}

template <std::size_t kRows>
[[gnu::always_inline]] inline void multiply_rows(const Product& p, Index row, Index columns) {
  Index column = 0;
  for (; column + 6 <= columns; column += 6) multiply_block<kRows, 6>(p, row, column);
  for (; column + 2 <= columns; column += 2) multiply_block<kRows, 2>(p, row, column);
  if (column < columns) multiply_block<kRows, 1>(p, row, column);
}

/// Two of the last rows, where the number of rows is not a multiple of four. In groups of four columns, Eigen sums the even and
/// the odd terms separately here, as far as there are eight terms.
[[gnu::always_inline]] inline void multiply_two_rows(const Product& p, Index row, Index columns) {
  constexpr Index kColumns = 4;
  constexpr Index kTerms = 8;
  const Index whole = p.terms / kTerms * kTerms;
  for (Index column = 0; column < columns / kColumns * kColumns; ++column) {
    for (Index r = row; r < row + 2; ++r) {
      const double* const a = p.a + r;
      const double* const b = p.b + column * p.terms;
      double even = 0;
      double odd = 0;
      for (Index k = 0; k < whole; k += 2) {
        even += a[k * p.rows] * b[k];
        odd += a[(k + 1) * p.rows] * b[k + 1];
      }
      even += odd;
      for (Index k = whole; k < p.terms; ++k) even += a[k * p.rows] * b[k];
      p.out[column * p.rows + r] = even;
    }
  }
  for (Index column = columns / kColumns * kColumns; column < columns; ++column) {
    multiply_block<2, 1>(p, row, column);
  }
}

CORUN_VECTOR_CLONES void multiply(const Product& p, Index columns) {
  Index row = 0;
  for (; row + 8 <= p.rows; row += 8) multiply_rows<8>(p, row, columns);
  for (; row + 4 <= p.rows; row += 4) multiply_rows<4>(p, row, columns);
  for (; row + 2 <= p.rows; row += 2) multiply_two_rows(p, row, columns);
  if (row < p.rows) multiply_rows<1>(p, row, columns);
}

}  // namespace

Matrix product(const Matrix& a, const Matrix& b) {
  const bool is_by_kernel =
      a.rows() > 1 && b.cols() > 1 && a.cols() > 0 && a.rows() + a.cols() + b.cols() >= kLeastSize;
  if (!is_by_kernel || a.cols() > kMostTerms) return a * b;
  Matrix out(a.rows(), b.cols());
  multiply({a.data(), b.data(), out.data(), a.rows(), a.cols()}, b.cols());
  return out;
}

}  // namespace corun::inline models::factors
