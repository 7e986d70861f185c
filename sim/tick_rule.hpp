#pragma once

#include <cstdint>

namespace corun {

/// What a tick does, in closed form: nothing here goes from tick to tick.
enum class TickRule : std::uint8_t {
  kNotice,  ///< work goes on between ticks; a completion is noticed at the first tick after it
  /// Simulators that loop over ticks (Lucid's among them): at each tick every running job, in order of
  /// start, ends if it has no work left and else does one tick of work at its speed of then. So whoever
  /// starts at tick s with work d and keeps the speed v ends at s + ceil(d / v) + 1 ticks. When a job
  /// ends, those that started before it have had their tick already, those after it have not.
  kProgress,
};

}  // namespace corun
