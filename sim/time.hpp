#pragma once

#include <chrono>
#include <cmath>
#include <cstdint>

/// Simulated time: an integer count of nanoseconds from the start of the trace (DESIGN 4.1).
namespace corun {

using Duration = std::chrono::nanoseconds;
using Time = std::chrono::nanoseconds;

/// Later than anything that happens; arithmetic never starts from it.
inline constexpr Time kNever = Time::max();

/// Nearest whole number of nanoseconds; saturates at kNever (about 292 years).
/// NaN and negative values are the caller's mistake: readers refuse them before they come here.
inline Duration from_seconds(double seconds) {
  const double ns = seconds * 1e9;
  if (!(ns < 9.2e18)) return kNever;
  return Duration{std::llround(ns)};
}

inline double to_seconds(Duration d) { return static_cast<double>(d.count()) * 1e-9; }

/// The first multiple of `step` at or after `t`; `t` itself when step is zero (no rounding asked).
inline Time round_up(Time t, Duration step) {
  if (step <= Duration::zero() || t == kNever) return t;
  const auto over = t % step;
  return over == Duration::zero() ? t : t + (step - over);
}

}  // namespace corun
