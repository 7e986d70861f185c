#include "models/interference/fits/moments.hpp"

#include <algorithm>
#include <cmath>

namespace corun::inline models {

Moments moments_of(const std::vector<double>& values, double least_scale) {
  double sum = 0;
  double count = 0;
  double largest = least_scale;
  for (const double x : values) {
    if (std::isnan(x)) continue;
    sum += x;
    count += 1;
    largest = std::max(largest, std::fabs(x));
  }
  if (count == 0) return {};
  Moments out{sum / count, 0};
  double squares = 0;
  for (const double x : values) {
    if (!std::isnan(x)) squares += (x - out.mean) * (x - out.mean);
  }
  constexpr double kSame = 1e-9;
  const double deviation = std::sqrt(squares / count);
  if (deviation > kSame * largest) out.deviation = deviation;
  return out;
}

Moments log_slowdown_moments(const std::vector<double>& log_slowdowns) {
  constexpr double kPriorDeviation = 0.3;
  constexpr double kPriorCount = 2;
  const auto count = static_cast<double>(log_slowdowns.size());
  double sum = 0;
  for (const double t : log_slowdowns) sum += t;
  const double mean = sum / count;
  double squares = kPriorCount * kPriorDeviation * kPriorDeviation;
  for (const double t : log_slowdowns) squares += (t - mean) * (t - mean);
  return {mean, std::sqrt(squares / (count + kPriorCount))};
}

}  // namespace corun::inline models
