#pragma once

#include <limits>

namespace corun::inline sim {

/// Value of a figure that is undefined or was not measured.
inline constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

}  // namespace corun::inline sim
