#pragma once

#include <cmath>
#include <cstddef>
#include <span>
#include <vector>

/// Summaries of samples. Sums go in the order of the sample with one accumulator: equal samples, equal
/// bits. NaN for an empty sample, unless another is said; a NaN within a sample is the caller's mistake.
namespace corun {

/// Arithmetic mean.
double mean(std::span<const double> x);

/// sqrt(sum (x - mean)^2 / (n - 1) / n), the standard error of the mean; NaN for fewer than two values.
double standard_error(std::span<const double> x);

/// A mean that is fed one value at a time.
class RunningMean {
 public:
  void add(double x) {
    sum_ += x;
    ++count_;
  }
  /// NaN is a value that nobody knows: it counts as none.
  void add_if_known(double x) {
    if (!std::isnan(x)) add(x);
  }
  std::size_t count() const { return count_; }
  double value() const;  ///< NaN where nothing was added

 private:
  double sum_ = 0;
  std::size_t count_ = 0;
};

/// The middle value, or the midpoint of the two in the middle.
double median(std::vector<double> x);

/// Quantile by linear interpolation between order statistics (type 7 of Hyndman and Fan 1996). `sorted`
/// ascending, 0 <= p <= 1.
double quantile(std::span<const double> sorted, double p);

/// quantile() of a sample in any order, which it reorders; linear in its size. Several quantiles of one
/// sample are asked for in ascending order with one `from`, 0 at first: no value from `from` on is
/// smaller than one before it.
double quantile_by_selection(std::span<double> x, double p, std::size_t& from);

/// Jain's fairness index, (sum x)^2 / (n sum x^2); `mean_of_x` is mean(x). NaN where all values are 0.
double jain_index(std::span<const double> x, double mean_of_x);

}  // namespace corun
