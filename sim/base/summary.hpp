#pragma once

#include <cmath>
#include <cstddef>
#include <span>
#include <vector>

/// Summaries of samples. Sums are taken in the order of the sample with one accumulator: equal
/// samples, equal bits. NaN for an empty sample unless stated otherwise; the sample itself must not
/// contain NaN.
namespace corun::inline sim {

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
  /// NaN stands for an unknown value: it is not counted.
  void add_if_known(double x) {
    if (!std::isnan(x)) add(x);
  }
  std::size_t count() const { return count_; }
  double value() const;  ///< NaN if nothing was added

 private:
  double sum_ = 0;
  std::size_t count_ = 0;
};

/// The middle value, or the midpoint of the two in the middle.
double median(std::vector<double> x);

/// Quantile by linear interpolation between order statistics (type 7 of Hyndman and Fan 1996).
/// `sorted` is ascending, 0 <= p <= 1.
double quantile(std::span<const double> sorted, double p);

/// quantile() of a sample in any order, in linear time; reorders the sample. For several quantiles
/// of one sample call it with ascending p and one `from`, which is 0 at first: no value from
/// position `from` on is smaller than one before it.
double quantile_by_selection(std::span<double> x, double p, std::size_t& from);

/// Jain's fairness index, (sum x)^2 / (n sum x^2); `mean_of_x` is mean(x). NaN if all values are 0.
double jain_index(std::span<const double> x, double mean_of_x);

}  // namespace corun::inline sim
