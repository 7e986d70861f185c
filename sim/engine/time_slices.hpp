#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <vector>

#include "sim/time.hpp"

/// Integrals of several quantities over time in at most 256 slices of equal length. The end of the time is
/// not known beforehand: when it passes the last slice, each two slices become one.
namespace corun::inline sim {

template <std::size_t kQuantities>
class TimeSlices {
 public:
  using Values = std::array<double, kQuantities>;
  static constexpr std::size_t kMost = 256;

  explicit TimeSlices(Time start) : start_(start) {}

  /// The quantities have these values from `from` to `to`. Times before the start do not count. Intervals may
  /// come in any order and overlap: their integrals add up.
  void add(Time from, Time to, const Values& values) {
    from = std::max(from, start_);
    if (to <= from) return;
    while (static_cast<std::size_t>((to - start_ - Duration{1}) / length_) >= kMost) halve();
    end_ = std::max(end_, to);
    for (auto s = static_cast<std::size_t>((from - start_) / length_); from < to; ++s) {
      const Duration left = length_ - (from - start_) % length_;  // of this slice
      const Time next = to - from <= left ? to : from + left;
      const auto ns = static_cast<double>((next - from).count());
      for (std::size_t q = 0; q < kQuantities; ++q) sums_[s][q] += values[q] * ns;
      from = next;
    }
  }

  struct Slice {
    Time start{0};
    Time end{0};
    Values means{};
  };
  /// The slices up to the latest end of an interval; the last one may be shorter.
  std::vector<Slice> slices() const {
    std::vector<Slice> out;
    for (Time from = start_; from < end_; from = out.back().end) {
      Slice slice{from, end_ - from <= length_ ? end_ : from + length_, sums_[out.size()]};
      const auto ns = static_cast<double>((slice.end - slice.start).count());
      for (double& mean : slice.means) mean /= ns;
      out.push_back(slice);
    }
    return out;
  }

 private:
  void halve() {
    for (std::size_t s = 0; s < kMost; ++s) {
      Values sum{};
      for (std::size_t part = 2 * s; part < std::min(2 * s + 2, kMost); ++part) {
        for (std::size_t q = 0; q < kQuantities; ++q) sum[q] += sums_[part][q];
      }
      sums_[s] = sum;
    }
    length_ *= 2;
  }

  Time start_;
  Time end_ = Time::min();
  Duration length_{1};
  std::vector<Values> sums_ = std::vector<Values>(kMost);
};

}  // namespace corun::inline sim
