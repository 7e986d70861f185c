#include "sim/base/correlation.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <numeric>
#include <stdexcept>

#include "sim/base/summary.hpp"

namespace corun::inline sim {
namespace {

constexpr double kUndefined = std::numeric_limits<double>::quiet_NaN();

void check(std::span<const double> x, std::span<const double> y) {
  if (x.size() != y.size()) throw std::invalid_argument("correlation: lists of different lengths");
  if (x.size() < 3) throw std::invalid_argument("correlation: fewer than 3 rows");
  for (const auto list : {x, y}) {
    if (!std::ranges::all_of(list, [](double v) { return std::isfinite(v); })) {
      throw std::invalid_argument("correlation: a value is not a finite number");
    }
  }
}

bool constant(std::span<const double> values) {
  return std::ranges::all_of(values, [&](double v) { return v == values[0]; });
}

int sign(double v) { return (v > 0) - (v < 0); }

}  // namespace

double pearson(std::span<const double> x, std::span<const double> y) {
  check(x, y);
  if (constant(x) || constant(y)) return kUndefined;
  const double mx = mean(x);
  const double my = mean(y);
  double xy = 0;
  double xx = 0;
  double yy = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    xy += (x[i] - mx) * (y[i] - my);
    xx += (x[i] - mx) * (x[i] - mx);
    yy += (y[i] - my) * (y[i] - my);
  }
  // Two roots: the root of the product could overflow. Rounding may leave the interval.
  return std::clamp(xy / (std::sqrt(xx) * std::sqrt(yy)), -1.0, 1.0);
}

double spearman(std::span<const double> x, std::span<const double> y) {
  check(x, y);
  return pearson(midranks(x), midranks(y));
}

double kendall(std::span<const double> x, std::span<const double> y) {
  check(x, y);
  std::int64_t score = 0;
  std::int64_t untied_x = 0;
  std::int64_t untied_y = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      const int sx = sign(x[i] - x[j]);
      const int sy = sign(y[i] - y[j]);
      score += sx * sy;
      untied_x += sx != 0;
      untied_y += sy != 0;
    }
  }
  if (untied_x == 0 || untied_y == 0) return kUndefined;
  // One root of the product: exactly 1 for a list and itself, with any ties.
  const double pairs = std::sqrt(static_cast<double>(untied_x) * static_cast<double>(untied_y));
  return std::clamp(static_cast<double>(score) / pairs, -1.0, 1.0);
}

std::vector<double> midranks(std::span<const double> values) {
  std::vector<std::size_t> order(values.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::sort(order, {}, [&](std::size_t i) { return values[i]; });
  std::vector<double> rank(values.size());
  for (std::size_t begin = 0; begin < order.size();) {
    std::size_t end = begin + 1;
    while (end < order.size() && values[order[end]] == values[order[begin]]) ++end;
    // Ranks begin + 1 to end, whose mean is a half-integer: exact.
    for (std::size_t i = begin; i < end; ++i) {
      rank[order[i]] = 0.5 * static_cast<double>(begin + 1 + end);
    }
    begin = end;
  }
  return rank;
}

}  // namespace corun::inline sim
