#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "sim/time.hpp"

/// Latencies of requests, in memory that does not grow with their number.
///
/// A latency is counted in a bin of integer nanoseconds: 256 bins of equal width between a power of two and the
/// next one. Count, mean and maximum are exact; a quantile is the middle of its bin, within 1/512 = 0.2 % of the
/// exact one (exact below 512 ns). Records add up exactly, in any order.
namespace corun::inline services {

class LatencyRecord {
 public:
  /// `latency` is 0 or more; `requests` have it.
  void add(Duration latency, std::uint64_t requests = 1) {
    const std::size_t bin = bin_of(latency);
    if (bin >= bins_.size()) bins_.resize(bin + 1, 0);
    if (bin < first_) first_ = bin;
    bins_[bin] += requests;
    count_ += requests;
    sum_ += static_cast<Wide>(latency.count()) * static_cast<Wide>(requests);
    if (latency > max_) max_ = latency;
  }
  void add(const LatencyRecord& other);
  /// Adds `requests` that are distributed as those of `other`, each later by `delay`. Bins are rounded so that the
  /// number is exact; the mean is that of `other`, to a nanosecond.
  void add_scaled(const LatencyRecord& other, std::uint64_t requests, Duration delay = Duration{0});
  /// Replaces the mean by one that is known better than the latencies.
  void correct_mean(double mean_s);

  std::uint64_t count() const { return count_; }
  double mean_s() const;  ///< [s]; 0 without requests
  Duration max() const { return max_; }
  /// The latency [s] that this share (0 to 1) of the requests does not exceed; 0 without requests.
  double quantile_s(double share) const;
  /// Share of the requests whose latency is `limit` or less; a bin that holds `limit` counts in proportion. 1
  /// without requests.
  double share_within(Duration limit) const;

  /// Bins begin where the one before ends: bin i has the latencies from begin_of(i) to begin_of(i + 1) - 1 ns.
  static std::size_t bin_of(Duration latency) {
    const auto ns = static_cast<std::uint64_t>(latency.count());
    const int shift = static_cast<int>(std::bit_width(ns)) - kBits - 1;
    return shift <= 0 ? ns : (static_cast<std::size_t>(shift) << kBits) + (ns >> shift);
  }
  static Duration begin_of(std::size_t bin);

 private:
  static constexpr int kBits = 8;
  __extension__ typedef __int128 Wide;
  std::vector<std::uint64_t> bins_;
  std::size_t first_ = std::numeric_limits<std::size_t>::max();  ///< no bin below it has requests
  std::uint64_t count_ = 0;
  Wide sum_ = 0;  ///< [ns]
  Duration max_{0};
};

}  // namespace corun::inline services
