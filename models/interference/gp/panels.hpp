#pragma once

#include <cstddef>
#include <vector>

/// A square matrix in panels of eight columns, and products of such panels.
namespace corun::inline models::gp {

/// Element (r, c) is number c % 8 of row r of panel c / 8; the rows of a panel are contiguous. Sizes are rounded up to a
/// multiple of kBlock, with zeros.
class Panels {
 public:
  static constexpr std::size_t kWidth = 8;
  static constexpr std::size_t kBlock = 64;

  /// Zeros, rows x columns.
  Panels(std::size_t rows, std::size_t columns)
      : rows_(rounded(rows)), values_(rows_ * rounded(columns), 0) {}

  double* row(std::size_t r, std::size_t panel) {
    return values_.data() + (panel * rows_ + r) * kWidth;
  }
  const double* row(std::size_t r, std::size_t panel) const {
    return values_.data() + (panel * rows_ + r) * kWidth;
  }
  double& at(std::size_t r, std::size_t c) { return row(r, c / kWidth)[c % kWidth]; }
  double at(std::size_t r, std::size_t c) const { return row(r, c / kWidth)[c % kWidth]; }

 private:
  static std::size_t rounded(std::size_t n) { return (n + kBlock - 1) / kBlock * kBlock; }

  std::size_t rows_;
  std::vector<double> values_;
};

/// out(i, j) = sum over k in [from, to) of a(k, i) b(k, j) for the columns i of panel `of_a` and j of panel `of_b`, into
/// the rows 8 `row_panel` .. of panel `out_panel` of `out`. Each sum is taken in the order of k, without fused operations:
/// the same bits on every processor.
struct PanelProduct {
  const Panels& a;
  std::size_t of_a;
  const Panels& b;
  std::size_t of_b;
  std::size_t from, to;
};
void multiply(const PanelProduct& product, Panels& out, std::size_t row_panel,
              std::size_t out_panel);

/// For the panels p in [first, last): out(row, columns of p) += sum over k in [from, to) of factors[k stride] b(k, columns of p),
/// in the order of k. `factors` points to that of k = 0.
struct RowProduct {
  const double* factors;
  std::size_t stride;
  const Panels& b;
  std::size_t from, to;
};
void add_row(const RowProduct& product, std::size_t first, std::size_t last, Panels& out,
             std::size_t row);

}  // namespace corun::inline models::gp
