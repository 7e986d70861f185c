#pragma once

#include "sim/time.hpp"

namespace corun {

/// The clock of all live times: CLOCK_MONOTONIC.
Time monotonic_now();

}  // namespace corun
