#include "services/latency_record.hpp"

#include <algorithm>
#include <cmath>

namespace corun::inline services {

void LatencyRecord::add(const LatencyRecord& other) {
  bins_.resize(std::max(bins_.size(), other.bins_.size()), 0);
  for (std::size_t bin = 0; bin < other.bins_.size(); ++bin) bins_[bin] += other.bins_[bin];
  first_ = std::min(first_, other.first_);
  count_ += other.count_;
  sum_ += other.sum_;
  max_ = std::max(max_, other.max_);
}

void LatencyRecord::add_scaled(const LatencyRecord& other, std::uint64_t requests, Duration delay) {
  if (other.count_ == 0 || requests == 0) return;
  std::uint64_t seen = 0;
  std::uint64_t added = 0;
  // After `seen` requests of `other`, seen x requests / count of these, rounded down, are added. This grows when `seen`
  // reaches the next multiple of count / requests: most bins need no division.
  const auto scaled = [](std::uint64_t x, std::uint64_t by, std::uint64_t over) {
    std::uint64_t product = 0;
    if (!__builtin_mul_overflow(x, by, &product)) return product / over;  // the quicker division
    return static_cast<std::uint64_t>(static_cast<Wide>(x) * by / over);
  };
  const auto next_of = [&](std::uint64_t wanted) {
    const std::uint64_t down = scaled(wanted, other.count_, requests);
    return scaled(down, requests, other.count_) >= wanted ? down : down + 1;
  };
  std::uint64_t next = next_of(1);
  for (std::size_t bin = other.first_; bin < other.bins_.size(); ++bin) {
    seen += other.bins_[bin];
    if (seen < next) continue;
    const std::uint64_t until = scaled(seen, requests, other.count_);
    next = next_of(until + 1);
    const Duration begin = begin_of(bin);
    const Duration middle = begin + (begin_of(bin + 1) - begin) / 2;
    const Wide sum = sum_;
    add(std::min(middle, other.max_) + delay, until - added);
    sum_ = sum;
    added = until;
  }
  // Neither product overflows: sums of 10^10 requests of 292 years are below 2^127.
  sum_ +=
      other.sum_ / other.count_ * requests + other.sum_ % other.count_ * requests / other.count_;
  sum_ += static_cast<Wide>(delay.count()) * requests;
}

void LatencyRecord::correct_mean(double mean_s) {
  sum_ = static_cast<Wide>(mean_s * 1e9 * static_cast<double>(count_));
}

double LatencyRecord::mean_s() const {
  if (count_ == 0) return 0;
  return static_cast<double>(sum_) * 1e-9 / static_cast<double>(count_);
}

Duration LatencyRecord::begin_of(std::size_t bin) {
  constexpr std::size_t kPerDoubling = std::size_t{1} << kBits;
  if (bin < 2 * kPerDoubling) return Duration{static_cast<std::int64_t>(bin)};
  const std::size_t shift = (bin >> kBits) - 1;
  return Duration{static_cast<std::int64_t>((kPerDoubling + bin % kPerDoubling) << shift)};
}

double LatencyRecord::quantile_s(double share) const {
  if (count_ == 0) return 0;
  const double wanted = std::max(1.0, std::ceil(share * static_cast<double>(count_)));
  double seen = 0;
  for (std::size_t bin = 0; bin < bins_.size(); ++bin) {
    seen += static_cast<double>(bins_[bin]);
    if (seen < wanted) continue;
    const Duration last = begin_of(bin + 1) - Duration{1};
    return to_seconds(std::min(max_, begin_of(bin) + (last - begin_of(bin)) / 2));
  }
  return to_seconds(max_);
}

double LatencyRecord::share_within(Duration limit) const {
  if (count_ == 0 || limit >= max_) return 1;
  if (limit < Duration::zero()) return 0;
  const std::size_t last = bin_of(limit);
  std::uint64_t within = 0;
  for (std::size_t bin = 0; bin < std::min(last, bins_.size()); ++bin) within += bins_[bin];
  const Duration begin = begin_of(last);
  const double part = static_cast<double>((limit - begin).count() + 1) /
                      static_cast<double>((begin_of(last + 1) - begin).count());
  const double of_last = last < bins_.size() ? part * static_cast<double>(bins_[last]) : 0;
  return (static_cast<double>(within) + of_last) / static_cast<double>(count_);
}

}  // namespace corun::inline services
