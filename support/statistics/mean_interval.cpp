#include "support/statistics/mean_interval.hpp"

#include <algorithm>
#include <cmath>

#include <boost/math/distributions/students_t.hpp>

#include "sim/base/nan.hpp"
#include "sim/base/summary.hpp"

namespace corun::inline support {

namespace {

/// Standard error of the mean; 0 if the values are equal up to rounding.
double error_of(std::span<const double> values, double mean) {
  const double error = standard_error(values);
  return error <= 1e-12 * std::abs(mean) ? 0 : error;
}

/// More than half of the values are one number, as with counts that are mostly 0.
bool mostly_equal(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::ranges::nth_element(values, middle);
  return 2 * static_cast<std::size_t>(std::ranges::count(values, *middle)) > values.size();
}

bool is_approximate(std::span<const double> values, double mean) {
  constexpr double kFewest = 10;
  constexpr double kFewestEqual = 100;  // then another value has a probability below 3 %
  const auto n = static_cast<double>(values.size());
  double squares = 0;
  double cubes = 0;
  for (const double x : values) {
    const double d = x - mean;
    squares += d * d;
    cubes += d * d * d;
  }
  if (squares <= 1e-24 * mean * mean * n) return n < kFewestEqual;
  // 25 g^2 > n, where g = (cubes / n) / (squares / n)^1.5.
  return n < kFewest || 25 * cubes * cubes > squares * squares * squares ||
         mostly_equal({values.begin(), values.end()});
}

/// 97.5 % quantile of Student's t with n - 1 degrees of freedom.
double t_of(std::size_t n) {
  const boost::math::students_t distribution(static_cast<double>(n) - 1);
  return boost::math::quantile(distribution, 0.975);
}

/// `t` is t_of(values.size()), NaN if that is too few.
Interval interval_of(std::span<const double> values, double t) {
  Interval out;
  out.mean = mean(values);
  if (values.size() < kFewestReplications) return out;
  const double error = error_of(values, out.mean);
  out.lo = out.mean - t * error;
  out.hi = out.mean + t * error;
  out.approximate = is_approximate(values, out.mean);
  return out;
}

/// Intervals of many samples, most of which have the same size.
class Intervals {
 public:
  Interval operator()(std::span<const double> values) {
    if (values.size() != size_) {
      size_ = values.size();
      t_ = size_ < kFewestReplications ? kNaN : t_of(size_);
    }
    return interval_of(values, t_);
  }

 private:
  std::size_t size_ = 0;
  double t_ = kNaN;
};

}  // namespace

Interval mean_interval(std::span<const double> values) { return Intervals()(values); }

double t_test(std::span<const double> values) {
  if (values.size() < kFewestReplications) return kNaN;
  const double m = mean(values);
  const double error = error_of(values, m);
  if (error == 0) return m == 0 ? 1 : 0;
  const boost::math::students_t distribution(static_cast<double>(values.size()) - 1);
  return 2 * boost::math::cdf(boost::math::complement(distribution, std::abs(m) / error));
}

Comparison compare(const std::vector<std::vector<MetricValues>>& values) {
  const std::size_t policies = values.size();
  Comparison result;
  result.policies.resize(policies);
  result.versus.assign(policies, std::vector<MetricIntervals>(policies));
  Intervals interval;
  std::vector<double> sample;
  const auto add_if_known = [&](double x) {
    if (!std::isnan(x)) sample.push_back(x);
  };
  for (std::size_t m = 0; m < kMetricCount; ++m) {
    for (std::size_t p = 0; p < policies; ++p) {
      sample.clear();
      for (const MetricValues& run : values[p]) add_if_known(run[m]);
      result.policies[p][m] = interval(sample);
      for (std::size_t q = 0; q < p; ++q) {
        sample.clear();
        for (std::size_t r = 0; r < values[p].size(); ++r) {
          add_if_known(values[p][r][m] - values[q][r][m]);
        }
        const Interval difference = interval(sample);
        result.versus[p][q][m] = difference;
        result.versus[q][p][m] = difference.negated();
      }
    }
  }
  return result;
}

}  // namespace corun::inline support
