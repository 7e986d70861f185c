#include "models/interference/gp/panels.hpp"

#include <cstring>

#include "sim/base/vector_clones.hpp"

namespace corun::inline models::gp {

namespace {

using Lanes [[gnu::vector_size(Panels::kWidth * sizeof(double))]] = double;

/// Some columns of a panel, `a`, times a panel, `b`. An accumulator per column: as many as hide the delay of an addition
/// and fit the registers.
template <std::size_t kColumns>
[[gnu::always_inline]] inline void multiply_columns(const double* a, const double* b,
                                                    std::size_t count, double* out) {
  Lanes sums[kColumns] = {};
  for (std::size_t k = 0; k < count; ++k, a += Panels::kWidth, b += Panels::kWidth) {
    Lanes x;
    std::memcpy(&x, b, sizeof x);
#pragma GCC unroll 8
    for (std::size_t i = 0; i < kColumns; ++i) sums[i] += a[i] * x;
  }
  std::memcpy(out, sums, sizeof sums);
}

/// A processor with registers for eight numbers has twice as many of them.
bool has_wide_registers() {
#if defined(__x86_64__) && defined(__GNUC__)
  return __builtin_cpu_supports("avx512f") != 0;
#else
  return false;
#endif
}

/// Adds to four panels at once.
[[gnu::always_inline]] inline void add_four(const RowProduct& p, const double* const b[4],
                                            double* const out[4]) {
  Lanes s0, s1, s2, s3;
  std::memcpy(&s0, out[0], sizeof s0);
  std::memcpy(&s1, out[1], sizeof s1);
  std::memcpy(&s2, out[2], sizeof s2);
  std::memcpy(&s3, out[3], sizeof s3);
  for (std::size_t k = p.from; k < p.to; ++k) {
    const double factor = p.factors[k * p.stride];
    const std::size_t at = k * Panels::kWidth;
    Lanes x0, x1, x2, x3;
    std::memcpy(&x0, b[0] + at, sizeof x0);
    std::memcpy(&x1, b[1] + at, sizeof x1);
    std::memcpy(&x2, b[2] + at, sizeof x2);
    std::memcpy(&x3, b[3] + at, sizeof x3);
    s0 += factor * x0;
    s1 += factor * x1;
    s2 += factor * x2;
    s3 += factor * x3;
  }
  std::memcpy(out[0], &s0, sizeof s0);
  std::memcpy(out[1], &s1, sizeof s1);
  std::memcpy(out[2], &s2, sizeof s2);
  std::memcpy(out[3], &s3, sizeof s3);
}

[[gnu::always_inline]] inline void add_one(const RowProduct& p, const double* b, double* out) {
  Lanes s;
  std::memcpy(&s, out, sizeof s);
  for (std::size_t k = p.from; k < p.to; ++k) {
    Lanes x;
    std::memcpy(&x, b + k * Panels::kWidth, sizeof x);
    s += p.factors[k * p.stride] * x;
  }
  std::memcpy(out, &s, sizeof s);
}

}  // namespace

CORUN_VECTOR_CLONES void multiply(const PanelProduct& product, Panels& out, std::size_t row_panel,
                                  std::size_t out_panel) {
  constexpr std::size_t kHalf = Panels::kWidth / 2;
  static const bool kWide = has_wide_registers();
  const double* const a = product.a.row(product.from, product.of_a);
  const double* const b = product.b.row(product.from, product.of_b);
  const std::size_t count = product.to - product.from;
  double* const to = out.row(row_panel * Panels::kWidth, out_panel);
  if (kWide) {
    multiply_columns<Panels::kWidth>(a, b, count, to);
    return;
  }
  multiply_columns<kHalf>(a, b, count, to);
  multiply_columns<kHalf>(a + kHalf, b, count, to + kHalf * Panels::kWidth);
}

CORUN_VECTOR_CLONES void add_row(const RowProduct& product, std::size_t first, std::size_t last,
                                 Panels& out, std::size_t row) {
  std::size_t p = first;
  for (; p + 4 <= last; p += 4) {
    const double* const b[4] = {product.b.row(0, p), product.b.row(0, p + 1),
                                product.b.row(0, p + 2), product.b.row(0, p + 3)};
    double* const to[4] = {out.row(row, p), out.row(row, p + 1), out.row(row, p + 2),
                           out.row(row, p + 3)};
    add_four(product, b, to);
  }
  for (; p < last; ++p) add_one(product, product.b.row(0, p), out.row(row, p));
}

}  // namespace corun::inline models::gp
