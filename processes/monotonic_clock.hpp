#pragma once

#include "sim/time.hpp"

namespace corun::inline processes {

/// The clock of all live times: CLOCK_MONOTONIC.
Time monotonic_now();

}  // namespace corun::inline processes
