#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

/// Counts of positive values in bins of equal ratio, so that memory does not grow with the number of
/// values. Counts are exact; a value is known up to the ratio of its bin. Sums of histograms do not
/// depend on their order.
namespace corun::inline support {

class LogHistogram {
 public:
  /// Bins of ratio 2^(1/per_doubling). The first begins at `least` and also counts all below.
  LogHistogram(double least, double per_doubling) : least_(least), per_doubling_(per_doubling) {}

  /// `value` is finite.
  void add(double value);
  /// `other` must have the same bins.
  void add(const LogHistogram& other);

  std::size_t count() const { return count_; }
  double max() const { return max_; }  ///< exact; 0 without values
  /// The quantile at `share` (0 to 1), rounded up to the end of its bin but not above max(); 0
  /// without values.
  double quantile(double share) const;

  /// Values per bin, up to the highest bin with values.
  std::span<const std::uint64_t> bins() const { return bins_; }
  /// The value at which this bin begins.
  double begin_of(std::size_t bin) const;

 private:
  double least_;
  double per_doubling_;
  std::vector<std::uint64_t> bins_;
  std::size_t count_ = 0;
  double max_ = 0;
};

}  // namespace corun::inline support
