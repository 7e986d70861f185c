#pragma once

#include <chrono>
#include <cmath>
#include <cstdint>

#include "sim/error.hpp"

/// Simulated time: an integer count of nanoseconds from the start of the trace (DESIGN 4.1).
namespace corun::inline sim {

using Duration = std::chrono::nanoseconds;
using Time = std::chrono::nanoseconds;

/// Later than all events; not an operand of arithmetic.
inline constexpr Time kNever = Time::max();

/// Least duration of work above 0, for any GPU speed.
inline constexpr Duration kShortestRun{1};

/// Nearest whole number of nanoseconds; saturates at kNever (about 292 years). NaN and negative values are
/// refused by readers and must not get here.
inline Duration from_nanoseconds(double ns) {
  if (!(ns < 9.2e18)) return kNever;
  return Duration{std::llround(ns)};
}
inline Duration from_seconds(double seconds) { return from_nanoseconds(seconds * 1e9); }

inline double to_seconds(Duration d) { return static_cast<double>(d.count()) * 1e-9; }

/// `now` + `wait`, both 0 or more. Throws InputError if the sum is not before kNever.
inline Time later(Time now, Duration wait) {
  if (now >= kNever - wait) {
    throw InputError(
        "simulated time would pass 292 years; make the jobs shorter, the GPUs faster or fewer jobs "
        "wait for one GPU, or lower the tick, the round or the OOM ramp");
  }
  return now + wait;
}

/// The first multiple of `step` at or after `t`; `t` itself if step is 0 (no rounding). Throws as later().
inline Time round_up(Time t, Duration step) {
  if (step <= Duration::zero() || t == kNever) return t;
  const auto over = t % step;
  return over == Duration::zero() ? t : later(t, step - over);
}

/// GPU time summed over GPUs or jobs: exact nanoseconds far beyond the 292 GPU-years of a Duration (10'000
/// GPUs reach them in eleven days).
class GpuTime {
 public:
  constexpr GpuTime() = default;
  template <typename Rep, typename Period>
  constexpr GpuTime(std::chrono::duration<Rep, Period> d)  // NOLINT: a Duration is one
      : ns_(std::chrono::nanoseconds(d).count()) {}

  /// Saturates at kNever; for display.
  constexpr operator Duration() const {  // NOLINT: see above
    constexpr Wide kMax = kNever.count();
    if (ns_ > kMax) return kNever;
    if (ns_ < -kMax) return -kNever;
    return Duration{static_cast<std::int64_t>(ns_)};
  }

  /// As a double, rounded once.
  constexpr double nanoseconds() const {
    const auto narrow = static_cast<std::int64_t>(ns_);  // quicker, and nearly always enough
    return narrow == ns_ ? static_cast<double>(narrow) : static_cast<double>(ns_);
  }

  constexpr GpuTime& operator+=(GpuTime o) {
    ns_ += o.ns_;
    return *this;
  }
  friend constexpr GpuTime operator-(GpuTime a, GpuTime b) {
    a.ns_ -= b.ns_;
    return a;
  }
  friend constexpr bool operator==(GpuTime a, GpuTime b) { return a.ns_ == b.ns_; }

 private:
  __extension__ typedef __int128 Wide;
  Wide ns_ = 0;
};

inline double to_seconds(GpuTime t) { return t.nanoseconds() * 1e-9; }

}  // namespace corun::inline sim
