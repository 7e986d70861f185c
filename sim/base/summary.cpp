#include "sim/base/summary.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

#include "sim/base/nan.hpp"

namespace corun::inline sim {

double mean(std::span<const double> x) {
  if (x.empty()) return kNaN;
  return std::accumulate(x.begin(), x.end(), 0.0) / static_cast<double>(x.size());
}

double standard_error(std::span<const double> x) {
  if (x.size() < 2) return kNaN;
  const double center = mean(x);
  double square = 0;
  for (const double v : x) square += (v - center) * (v - center);
  const auto n = static_cast<double>(x.size());
  return std::sqrt(square / (n - 1) / n);
}

double RunningMean::value() const { return count_ > 0 ? sum_ / static_cast<double>(count_) : kNaN; }

double median(std::vector<double> x) {
  if (x.empty()) return kNaN;
  std::ranges::sort(x);
  const std::size_t half = x.size() / 2;
  return x.size() % 2 == 1 ? x[half] : std::midpoint(x[half - 1], x[half]);
}

double quantile(std::span<const double> sorted, double p) {
  if (sorted.empty()) return kNaN;
  const double position = p * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<std::size_t>(position);
  if (below + 1 >= sorted.size()) return sorted.back();
  const double part = position - static_cast<double>(below);
  return sorted[below] + part * (sorted[below + 1] - sorted[below]);
}

double quantile_by_selection(std::span<double> x, double p, std::size_t& from) {
  if (x.empty()) return kNaN;
  const double position = p * static_cast<double>(x.size() - 1);
  const auto below = x.begin() + static_cast<std::ptrdiff_t>(position);
  std::nth_element(x.begin() + static_cast<std::ptrdiff_t>(from), below, x.end());
  from = static_cast<std::size_t>(below - x.begin());
  if (below + 1 == x.end()) return *below;
  const std::array neighbours{*below, *std::min_element(below + 1, x.end())};
  return quantile(neighbours, position - std::floor(position));
}

double jain_index(std::span<const double> x, double mean_of_x) {
  if (x.empty()) return kNaN;
  double square = 0;
  for (const double v : x) square += v * v;
  const double sum = mean_of_x * static_cast<double>(x.size());
  return sum * sum / (static_cast<double>(x.size()) * square);
}

}  // namespace corun::inline sim
