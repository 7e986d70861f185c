#include "models/interference/fits/few_speeds.hpp"

#include <cmath>
#include <cstdint>
#include <limits>
#include <set>
#include <vector>

#include <boost/math/distributions/students_t.hpp>

#include "sim/base/half_width.hpp"
#include "sim/base/math.hpp"

namespace corun::inline models {

namespace {

constexpr double kTypicalDeviation = 0.3;
constexpr double kLogDeviation = 0.6;
constexpr std::size_t kEffectsPerJob = 2;
/// Ends between which the mode is sought.
constexpr double kLeast = 1e-4;
constexpr double kMost = 1e2;

/// The mode of the deviation of `count` values with this sum of squares around their mean.
double mode(double squares, double count) {
  double lo = kLeast;
  double hi = kMost;
  for (int step = 0; step < 60; ++step) {
    const double middle = std::sqrt(lo * hi);
    // The slope of minus the log posterior over the log of the deviation; it grows with the deviation.
    const double slope = count - 1 - squares / (middle * middle) +
                         math::log(middle / kTypicalDeviation) / (kLogDeviation * kLogDeviation);
    (slope > 0 ? hi : lo) = middle;
  }
  return std::sqrt(lo * hi);
}

}  // namespace

double constant_deviation_of_few(const SpeedTable& table) {
  std::set<std::uint32_t> jobs;
  std::vector<double> t;
  for (const SpeedTable::Row& row : table.rows) {
    for (const double speed : {row.speed_a, row.speed_b}) {
      if (std::isnan(speed)) continue;
      t.push_back(-math::log(speed));
      jobs.insert({row.a, row.b});
    }
  }
  if (jobs.size() < 2 || t.size() >= kEffectsPerJob * jobs.size()) {
    return std::numeric_limits<double>::infinity();
  }
  const auto count = static_cast<double>(t.size());
  double mean = 0;
  for (const double x : t) mean += x / count;
  double squares = 0;
  for (const double x : t) squares += (x - mean) * (x - mean);
  const auto m = static_cast<double>(jobs.size());
  const double quantile = boost::math::quantile(boost::math::students_t(m - 1), 0.95);
  return mode(squares, count) * std::sqrt(1 + 1 / m) * quantile / kHalfWidth90;
}

}  // namespace corun::inline models
