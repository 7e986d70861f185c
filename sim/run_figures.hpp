#pragma once

#include <cstddef>

#include "sim/host_device.hpp"

/// The formulas of sim/metrics.hpp that need neither a library nor memory of their own: for the
/// processor and for the GPU, where thousands of runs are evaluated at once. `List` is anything with
/// operator[] that gives a double. Sums go in ascending order with one accumulator, so that everybody
/// gets the same bits.
namespace corun::figures {

/// NaN for an empty list.
template <typename List>
CORUN_HOST_DEVICE double mean(const List& x, std::size_t n) {
  if (n == 0) return __builtin_nan("");
  double sum = 0;
  for (std::size_t i = 0; i < n; ++i) sum += x[i];
  return sum / static_cast<double>(n);
}

/// Quantile by linear interpolation between order statistics (type 7); NaN for an empty list. `sorted`
/// ascending, 0 <= p <= 1.
template <typename List>
CORUN_HOST_DEVICE double quantile(const List& sorted, std::size_t n, double p) {
  if (n == 0) return __builtin_nan("");
  const double position = p * static_cast<double>(n - 1);
  const auto below = static_cast<std::size_t>(position);
  if (below + 1 >= n) return sorted[n - 1];
  const double part = position - static_cast<double>(below);
  return sorted[below] + part * (sorted[below + 1] - sorted[below]);
}

/// Jain's fairness index, (sum x)^2 / (n sum x^2); NaN for an empty list.
template <typename List>
CORUN_HOST_DEVICE double jain(const List& x, std::size_t n, double mean_of_x) {
  if (n == 0) return __builtin_nan("");
  double square = 0;
  for (std::size_t i = 0; i < n; ++i) square += x[i] * x[i];
  const double sum = mean_of_x * static_cast<double>(n);
  return sum * sum / (static_cast<double>(n) * square);
}

/// Sums over a run, in seconds and GPU-seconds.
struct Totals {
  double solo_s = 0;   ///< of all J_a
  double saved_s = 0;  ///< sum of J_a - busy GPU time, exact before it was rounded
  double busy_s = 0;   ///< at least one resident
  double util_s = 0;
  double util_known_s = 0;
  double mem_s = 0;
  double mem_known_s = 0;
  double span_s = 0;  ///< first submit to last departure
  int gpus = 0;
};

/// 1 - busy / sum of J_a, from the exact difference.
CORUN_HOST_DEVICE inline double ps_total(const Totals& t) {
  return t.solo_s > 0 ? t.saved_s / t.solo_s : __builtin_nan("");
}

CORUN_HOST_DEVICE inline double occupancy(const Totals& t) {
  return t.busy_s / (t.span_s * t.gpus);
}

/// GPUs without a resident count as idle; busy time of unknown utilisation is left out.
CORUN_HOST_DEVICE inline double gpu_util(const Totals& t) {
  const double capacity = t.span_s * t.gpus;
  const double unknown = t.busy_s - t.util_known_s;
  const bool known = t.util_known_s > 0 || t.busy_s == 0;
  return known && capacity - unknown > 0 ? t.util_s / (capacity - unknown) : __builtin_nan("");
}

CORUN_HOST_DEVICE inline double mem_util(const Totals& t) {
  return t.mem_known_s > 0 ? t.mem_s / t.mem_known_s : __builtin_nan("");
}

}  // namespace corun::figures
