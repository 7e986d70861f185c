#include "models/interference/factors/job_regressions.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <stdexcept>

#include "sim/base/vector_clones.hpp"

namespace corun::inline models::factors {

namespace {

/// y += a x for so many elements, from i on as long as there are kWide.
template <std::size_t kWide>
[[gnu::always_inline]] inline void add_vectors(double* y, double a, const double* x,
                                               std::size_t count, std::size_t& i) {
  using Vector [[gnu::vector_size(kWide * sizeof(double))]] = double;
  for (; i + kWide <= count; i += kWide) {
    Vector sum;
    Vector term;
    std::memcpy(&sum, y + i, sizeof sum);
    std::memcpy(&term, x + i, sizeof term);
    sum += a * term;
    std::memcpy(y + i, &sum, sizeof sum);
  }
}

/// y += a x.
[[gnu::always_inline]] inline void add_multiple(double* y, double a, const double* x,
                                                std::size_t count) {
  std::size_t i = 0;
  add_vectors<4>(y, a, x, count, i);
  add_vectors<2>(y, a, x, count, i);
  if (i < count) y[i] += a * x[i];
}

/// Triangles are solved in panels of so many columns.
constexpr std::size_t kPanel = 8;

}  // namespace

JobRegressions::JobRegressions(std::size_t coefficients)
    : size_(coefficients),
      h_(kTogether * size_ * size_, 0),
      g_(kTogether * size_, 0),
      root_(size_ * size_),
      solved_(size_),
      deviation_(size_),
      sums_(size_) {}

CORUN_VECTOR_CLONES void JobRegressions::begin(std::size_t lane, const double* precision,
                                               std::span<const double> mean) {
  std::copy_n(precision, size_ * size_, column(lane, 0));
  double* const g = g_.data() + lane * size_;
  std::fill_n(g, size_, 0);
  for (std::size_t c = 0; c < size_; ++c) add_multiple(g, mean[c], precision + c * size_, size_);
}

CORUN_VECTOR_CLONES void JobRegressions::add(std::size_t lane, std::span<const double> x,
                                             double weight, double y) {
  for (std::size_t c = 0; c < size_; ++c) {
    add_multiple(column(lane, c) + c, weight * x[c], x.data() + c, size_ - c);
  }
  add_multiple(g_.data() + lane * size_, weight * y, x.data(), size_);
}

/// R' of H with `help` on its diagonal, and squares_least_.
void JobRegressions::factorise(const Lanes& help) {
  for (std::size_t c = 0; c < size_; ++c) {
    Lanes* const root = root_.data() + c * size_;
    for (std::size_t l = 0; l < kTogether; ++l) {
      const double* const h = column(l, c);
      for (std::size_t r = c; r < size_; ++r) root[r][l] = h[r];
    }
    std::ranges::fill(sums_, Lanes{});
    Lanes squares{};
    for (std::size_t j = 0; j < c; ++j) {
      const Lanes* const earlier = root_.data() + j * size_;
      const Lanes here = earlier[c];
      squares += here * here;
      for (std::size_t r = c + 1; r < size_; ++r) sums_[r] += earlier[r] * here;
    }
    const Lanes square = root[c] + help - squares;
    squares_least_ = c == 0 || square < squares_least_ ? square : squares_least_;
    for (std::size_t l = 0; l < kTogether; ++l) root[c][l] = std::sqrt(square[l]);
    for (std::size_t r = c + 1; r < size_; ++r) root[r] = (root[r] - sums_[r]) / root[c];
  }
}

void JobRegressions::solve_lower() {
  std::vector<Lanes>& v = solved_;
  for (std::size_t begin = 0; begin < size_; begin += kPanel) {
    const std::size_t end = std::min(begin + kPanel, size_);
    for (std::size_t c = begin; c < end; ++c) {
      const Lanes* const root = root_.data() + c * size_;
      v[c] /= root[c];
      for (std::size_t r = c + 1; r < end; ++r) v[r] -= v[c] * root[r];
    }
    for (std::size_t r = end; r < size_; ++r) {
      Lanes sum{};
      for (std::size_t c = begin; c < end; ++c) sum += root_[c * size_ + r] * v[c];
      v[r] -= sum;
    }
  }
}

void JobRegressions::solve_upper(std::vector<Lanes>& v) const {
  for (std::size_t end = size_; end > 0; end -= std::min(kPanel, end)) {
    const std::size_t begin = end - std::min(kPanel, end);
    for (std::size_t r = end; r-- > begin;) {
      const Lanes* const root = root_.data() + r * size_;
      // Sums of every second term, beyond the panel, and of every fourth within it.
      Lanes even{};
      Lanes odd{};
      std::size_t i = end;
      for (; i + 2 <= size_; i += 2) {
        even += root[i] * v[i];
        odd += root[i + 1] * v[i + 1];
      }
      even += odd;
      if (i < size_) even += root[i] * v[i];
      v[r] -= even;
      std::array<Lanes, 4> sums{};
      i = r + 1;
      for (; i + 4 <= end; i += 4) {
        for (std::size_t k = 0; k < 4; ++k) sums[k] += root[i + k] * v[i + k];
      }
      sums[0] += sums[2];
      sums[1] += sums[3];
      if (i + 2 <= end) {
        sums[0] += root[i] * v[i];
        sums[1] += root[i + 1] * v[i + 1];
        i += 2;
      }
      sums[0] += sums[1];
      if (i < end) sums[0] += root[i] * v[i];
      v[r] -= sums[0];
      v[r] /= root[r];
    }
  }
}

void JobRegressions::draw(std::size_t lanes, std::span<const double> z) {
  Lanes help{};
  Lanes share{};
  for (bool again = true; again;) {
    factorise(help);
    again = false;
    for (std::size_t l = 0; l < lanes; ++l) {
      if (!(squares_least_[l] <= 0)) continue;
      again = true;
      double largest = 0;
      for (std::size_t c = 0; c < size_; ++c) {
        largest = std::max(largest, std::abs(column(l, c)[c]));
      }
      share[l] = share[l] == 0 ? 1e-12 : share[l] * 100;
      if (share[l] > 1) {
        throw std::logic_error("factor model: a matrix that is not positive definite");
      }
      help[l] = share[l] * largest;
    }
  }
  for (std::size_t c = 0; c < size_; ++c) {
    for (std::size_t l = 0; l < kTogether; ++l) {
      solved_[c][l] = g_[l * size_ + c];
      deviation_[c][l] = l < lanes ? z[l * size_ + c] : 0;
    }
  }
  solve_lower();
  solve_upper(solved_);
  solve_upper(deviation_);
  for (std::size_t c = 0; c < size_; ++c) solved_[c] += deviation_[c];
}

}  // namespace corun::inline models::factors
