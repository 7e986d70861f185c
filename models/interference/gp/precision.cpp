#include "models/interference/gp/precision.hpp"

#include <algorithm>

#include "models/interference/gp/vector_view.hpp"

namespace corun::inline models::gp {

namespace {

/// Adds to row `a` of P the products of number `a` of a row of inv(L) with its numbers 0 .. a.
void add(double* row, std::size_t a, const double* root_row) {
  const double twice = 2 * root_row[a];
  view(row, a) += twice * view(root_row, a);
  row[a] += root_row[a] * root_row[a];
}

}  // namespace

Precision::Precision(const Panels& precision, const std::vector<std::uint32_t>& order)
    : size_(order.size()) {
  packed_.reserve(size_ * (size_ + 1) / 2);
  for (std::size_t a = 0; a < size_; ++a) {
    for (std::size_t b = 0; b <= a; ++b) {
      const auto [low, high] = std::minmax(order[a], order[b]);
      packed_.push_back((a == b ? 1 : 2) * precision.at(high, low));
    }
  }
}

void Precision::insert(std::size_t at, const std::vector<double>& root_row) {
  ++size_;
  packed_.resize(size_ * (size_ + 1) / 2);
  // From the last row, because rows move towards the end.
  for (std::size_t a = size_; a-- > 0;) {
    double* const row = packed_.data() + a * (a + 1) / 2;
    if (a > at) {
      const double* const was = row - a;
      std::copy(was + at, was + a, row + at + 1);
      row[at] = 0;
      std::copy(was, was + at, row);
    } else if (a == at) {
      std::fill(row, row + a + 1, 0);
    }
    add(row, a, root_row.data());
  }
}

}  // namespace corun::inline models::gp
