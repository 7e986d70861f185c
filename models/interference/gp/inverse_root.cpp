#include "models/interference/gp/inverse_root.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "models/interference/gp/vector_view.hpp"

namespace corun::inline models::gp {

namespace {

constexpr std::size_t kWidth = Panels::kWidth;
constexpr std::size_t kBlock = Panels::kBlock;

/// 1 / d of a new variable. Without rounding, at least kLeastNoise would be left of its variance.
double inverse_deviation(double variance, double explained) {
  return 1 / std::sqrt(std::max(variance - explained, kLeastNoise / 2));
}

/// The rows of inv(L) from `begin` to `end`, a block, given those before. `transposed`: that of `root`.
class BlockOfRows {
 public:
  BlockOfRows(const Panels& covariance, std::size_t begin, std::size_t end, Panels& root,
              Panels& transposed, Panels& white, Panels& l)
      : covariance_(covariance),
        begin_(begin),
        end_(end),
        root_(root),
        transposed_(transposed),
        white_(white),
        l_(l) {}

  void run() {
    earlier_rows();
    for (std::size_t k = begin_; k < end_; ++k) finish(k);
  }

 private:
  /// l of all rows of the block, and the sums of -d (new row of inv(L)), as far as earlier blocks make them up.
  void earlier_rows() {
    const std::size_t before = begin_ / kWidth;
    const std::size_t panels = (end_ - begin_ + kWidth - 1) / kWidth;
    for (std::size_t p = 0; p < panels; ++p) {
      for (std::size_t r = 0; r < before; ++r) {
        multiply({transposed_, r, covariance_, before + p, 0, (r + 1) * kWidth}, white_, r, p);
      }
      for (std::size_t r = 0; r < begin_; ++r) {
        const double* const l = white_.row(r, p);
        for (std::size_t i = 0; i < kWidth; ++i) explained_[p * kWidth + i] += l[i] * l[i];
      }
      for (std::size_t c = 0; c < before; ++c) {
        multiply({white_, p, root_, c, c * kWidth, begin_}, root_, before + p, c);
      }
    }
  }

  /// Row k, given all rows before it.
  void finish(std::size_t k) {
    const std::size_t at = k - begin_;
    const std::size_t first = begin_ / kWidth;
    const std::size_t last = (k + kWidth - 1) / kWidth;
    for (std::size_t r = begin_; r < last * kWidth; ++r) l_.at(0, r) = 0;
    add_row({column(covariance_, k), kWidth, transposed_, 0, k}, first, last, l_, 0);
    for (std::size_t r = begin_; r < k; ++r) {
      const double l = l_.at(0, r);
      white_.at(r, at) = l;
      explained_[at] += l * l;
    }
    add_row({column(white_, at), kWidth, root_, begin_, k}, 0, last, root_, k);
    const double scale = inverse_deviation(covariance_.at(k, k), explained_[at]);
    for (std::size_t c = 0; c < k; ++c) {
      double& x = root_.at(k, c);
      x *= -scale;
      transposed_.at(c, k) = x;
    }
    root_.at(k, k) = transposed_.at(k, k) = scale;
  }

  /// A column, whose numbers are kWidth apart.
  static const double* column(const Panels& of, std::size_t c) {
    return of.row(0, c / kWidth) + c % kWidth;
  }

  const Panels& covariance_;
  std::size_t begin_, end_;
  Panels& root_;
  Panels& transposed_;
  Panels& white_;                           ///< l of the block's rows, as columns
  Panels& l_;                               ///< l of one row
  std::array<double, kBlock> explained_{};  ///< l'l of the block's rows
};

}  // namespace

Panels inverse_root_of(const Panels& covariance, std::size_t size) {
  Panels root(size, size);
  Panels transposed(size, size);
  Panels white(size, kBlock);
  Panels l(1, size);
  for (std::size_t begin = 0; begin < size; begin += kBlock) {
    BlockOfRows(covariance, begin, std::min(begin + kBlock, size), root, transposed, white, l)
        .run();
  }
  return root;
}

Panels precision_of(const Panels& root, std::size_t size) {
  Panels out(size, size);
  const std::size_t panels = (size + kWidth - 1) / kWidth;
  for (std::size_t b = 0; b < panels; ++b) {
    for (std::size_t a = b; a < panels; ++a) {
      multiply({root, a, root, b, a * kWidth, size}, out, a, b);
    }
  }
  return out;
}

InverseRoot::InverseRoot(const Panels& root, std::size_t size) : size_(size) {
  packed_.reserve(size * (size + 1) / 2);
  for (std::size_t r = 0; r < size; ++r) {
    for (std::size_t c = 0; c <= r; ++c) packed_.push_back(root.at(r, c));
  }
}

void InverseRoot::append(const double* covariance, double variance) {
  white_.assign(size_, 0);
  // Four sums at a time, each in the order of its terms.
  std::size_t r = 0;
  for (; r + 4 <= size_; r += 4) {
    const std::array<const double*, 4> rows{row(r), row(r + 1), row(r + 2), row(r + 3)};
    std::array<double, 4> sum{};
    for (std::size_t c = 0; c <= r; ++c) {
      for (std::size_t i = 0; i < rows.size(); ++i) sum[i] += covariance[c] * rows[i][c];
    }
    for (std::size_t i = 1; i < rows.size(); ++i) {
      for (std::size_t c = r + 1; c <= r + i; ++c) sum[i] += covariance[c] * rows[i][c];
    }
    std::ranges::copy(sum, white_.begin() + static_cast<std::ptrdiff_t>(r));
  }
  for (; r < size_; ++r) {
    for (std::size_t c = 0; c <= r; ++c) white_[r] += covariance[c] * row(r)[c];
  }
  double explained = 0;
  for (const double l : white_) explained += l * l;
  packed_.resize(packed_.size() + size_ + 1, 0);
  double* const added = packed_.data() + packed_.size() - size_ - 1;
  for (r = 0; r < size_; ++r) view(added, r + 1) += white_[r] * view(row(r), r + 1);
  const double scale = inverse_deviation(variance, explained);
  view(added, size_) *= -scale;
  added[size_] = scale;
  ++size_;
}

}  // namespace corun::inline models::gp
