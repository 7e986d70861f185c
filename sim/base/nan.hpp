#pragma once

#include <limits>

namespace corun {

/// What a figure is that is undefined or was not measured.
inline constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

}  // namespace corun
