#include "models/interference/factors/job_regressions.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <stdexcept>
#include <type_traits>

#include "sim/base/vector_clones.hpp"

namespace corun::inline models::factors {

namespace {

/// Calls of_block(width, i) for the blocks of 8, then 4, 2 and 1 elements that `first` .. `end` has.
template <typename OfBlock>
[[gnu::always_inline]] inline void by_blocks(std::size_t first, std::size_t end,
                                             const OfBlock& of_block) {
  std::size_t i = first;
  for (; i + 8 <= end; i += 8) of_block(std::integral_constant<std::size_t, 8>{}, i);
  for (; i + 4 <= end; i += 4) of_block(std::integral_constant<std::size_t, 4>{}, i);
  for (; i + 2 <= end; i += 2) of_block(std::integral_constant<std::size_t, 2>{}, i);
  if (i < end) of_block(std::integral_constant<std::size_t, 1>{}, i);
}

/// kWide elements, wherever they are.
template <std::size_t kWide>
struct Block {
  using Vector [[gnu::vector_size(kWide * sizeof(double))]] = double;
  Vector sum{};

  /// Adds a x.
  [[gnu::always_inline]] void add(double a, const double* x) {
    Vector term;
    std::memcpy(&term, x, sizeof term);
    sum += a * term;
  }
  [[gnu::always_inline]] void read(const double* from) { std::memcpy(&sum, from, sizeof sum); }
  [[gnu::always_inline]] void write(double* to) const { std::memcpy(to, &sum, sizeof sum); }
};

/// Triangles are solved in panels of so many columns.
constexpr std::size_t kPanel = 8;

/// The number of coefficients of the default options, for which loops are unrolled.
constexpr std::size_t kUsual = 8;

}  // namespace

JobRegressions::JobRegressions(std::size_t coefficients)
    : size_(coefficients),
      h_(kTogether * size_ * size_, 0),
      g_(kTogether * size_, 0),
      root_(size_ * size_),
      solved_(size_),
      deviation_(size_),
      sums_(size_) {}

/// `size`: size_, a constant where the caller knows it.
[[gnu::always_inline]] inline void JobRegressions::set_of(std::size_t size, std::size_t lane,
                                                          const double* precision,
                                                          std::span<const double> mean,
                                                          std::span<const Row> rows) {
  constexpr std::size_t kWide = 8;
  for (std::size_t c = 0; c < size; ++c) {
    const double* const from = precision + c * size;
    double* const to = h_.data() + (lane * size + c) * size;
    // Whole vectors, which may begin above the triangle.
    const std::size_t whole = (size - c + kWide - 1) / kWide * kWide;
    by_blocks(
        whole <= size ? size - whole : c,
        size, [&](auto wide, std::size_t i) __attribute__((always_inline)) {
          Block<wide()> block;
          block.read(from + i);
          for (const Row& row : rows) block.add(row.weight * row.x[c], row.x + i);
          block.write(to + i);
        });
  }
  double* const g = g_.data() + lane * size;
  by_blocks(
      0, size, [&](auto wide, std::size_t i) __attribute__((always_inline)) {
        Block<wide()> block;
        for (std::size_t c = 0; c < size; ++c) block.add(mean[c], precision + c * size + i);
        for (const Row& row : rows) block.add(row.weight * row.y, row.x + i);
        block.write(g + i);
      });
}

CORUN_VECTOR_CLONES void JobRegressions::set(std::size_t lane, const double* precision,
                                             std::span<const double> mean,
                                             std::span<const Row> rows) {
  if (size_ == kUsual) {
    set_of(kUsual, lane, precision, mean, rows);
  } else {
    set_of(size_, lane, precision, mean, rows);
  }
}

// The parts of draw() are inlined, so that each of its versions has them for its vector unit.

/// R' of H with `help` on its diagonal, and squares_least_.
[[gnu::always_inline]] inline void JobRegressions::factorise(std::size_t size, const Lanes& help) {
  for (std::size_t c = 0; c < size; ++c) {
    Lanes* const root = root_.data() + c * size;
    for (std::size_t l = 0; l < kTogether; ++l) {
      const double* const h = h_.data() + (l * size + c) * size;
      for (std::size_t r = c; r < size; ++r) root[r][l] = h[r];
    }
    std::ranges::fill(sums_, Lanes{});
    Lanes squares{};
    for (std::size_t j = 0; j < c; ++j) {
      const Lanes* const earlier = root_.data() + j * size;
      const Lanes here = earlier[c];
      squares += here * here;
      for (std::size_t r = c + 1; r < size; ++r) sums_[r] += earlier[r] * here;
    }
    const Lanes square = root[c] + help - squares;
    squares_least_ = c == 0 || square < squares_least_ ? square : squares_least_;
    for (std::size_t l = 0; l < kTogether; ++l) root[c][l] = std::sqrt(square[l]);
    for (std::size_t r = c + 1; r < size; ++r) root[r] = (root[r] - sums_[r]) / root[c];
  }
}

[[gnu::always_inline]] inline void JobRegressions::solve_lower(std::size_t size) {
  AllLanes& v = solved_;
  for (std::size_t begin = 0; begin < size; begin += kPanel) {
    const std::size_t end = std::min(begin + kPanel, size);
    for (std::size_t c = begin; c < end; ++c) {
      const Lanes* const root = root_.data() + c * size;
      v[c] /= root[c];
      for (std::size_t r = c + 1; r < end; ++r) v[r] -= v[c] * root[r];
    }
    for (std::size_t r = end; r < size; ++r) {
      Lanes sum{};
      for (std::size_t c = begin; c < end; ++c) sum += root_[c * size + r] * v[c];
      v[r] -= sum;
    }
  }
}

[[gnu::always_inline]] inline void JobRegressions::solve_upper(std::size_t size,
                                                               AllLanes& v) const {
  for (std::size_t end = size; end > 0; end -= std::min(kPanel, end)) {
    const std::size_t begin = end - std::min(kPanel, end);
    for (std::size_t r = end; r-- > begin;) {
      const Lanes* const root = root_.data() + r * size;
      // Sums of every second term, beyond the panel, and of every fourth within it.
      Lanes even{};
      Lanes odd{};
      std::size_t i = end;
      for (; i + 2 <= size; i += 2) {
        even += root[i] * v[i];
        odd += root[i + 1] * v[i + 1];
      }
      even += odd;
      if (i < size) even += root[i] * v[i];
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

[[gnu::always_inline]] inline void JobRegressions::draw_of(std::size_t size, std::size_t lanes,
                                                           std::span<const double> z) {
  Lanes help{};
  Lanes share{};
  for (bool again = true; again;) {
    factorise(size, help);
    again = false;
    for (std::size_t l = 0; l < lanes; ++l) {
      if (!(squares_least_[l] <= 0)) continue;
      again = true;
      double largest = 0;
      for (std::size_t c = 0; c < size; ++c) {
        largest = std::max(largest, std::abs(h_[(l * size + c) * size + c]));
      }
      share[l] = share[l] == 0 ? 1e-12 : share[l] * 100;
      if (share[l] > 1) {
        throw std::logic_error("factor model: a matrix that is not positive definite");
      }
      help[l] = share[l] * largest;
    }
  }
  for (std::size_t c = 0; c < size; ++c) {
    for (std::size_t l = 0; l < kTogether; ++l) {
      solved_[c][l] = g_[l * size + c];
      deviation_[c][l] = l < lanes ? z[l * size + c] : 0;
    }
  }
  solve_lower(size);
  solve_upper(size, solved_);
  solve_upper(size, deviation_);
  for (std::size_t c = 0; c < size; ++c) solved_[c] += deviation_[c];
}

CORUN_VECTOR_CLONES void JobRegressions::draw(std::size_t lanes, std::span<const double> z) {
  if (size_ == kUsual) {
    draw_of(kUsual, lanes, z);
  } else {
    draw_of(size_, lanes, z);
  }
}

}  // namespace corun::inline models::factors
