#pragma once

#include <cstdint>

namespace corun::inline sim {

/// Effects of a clock tick, computed in closed form without a loop over ticks.
enum class TickRule : std::uint8_t {
  kNotice,  ///< work goes on between ticks; a completion is noticed at the first tick after it
  /// Simulators that loop over ticks (Lucid's among them): at each tick every running job, in order of
  /// start, ends if it has no work left and else does one tick of work at its present speed. A job that
  /// starts at tick s with work d and keeps the speed v thus ends at tick s + ceil(d / v) + 1. When a job
  /// ends, jobs that started before it have had their tick already, and jobs that started after it have
  /// not.
  kProgress,
};

}  // namespace corun::inline sim
