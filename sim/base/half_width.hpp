#pragma once

/// Half-widths of intervals of a normal distribution, in standard deviations.
namespace corun {

/// Of 90 %: the 95 % quantile of the standard normal.
inline constexpr double kHalfWidth90 = 1.6448536269514722;

/// The same, rounded, as `measured` (lookup.cpp) and the models on observations.cpp have it: their
/// predictions keep these bits.
inline constexpr double kHalfWidth90Rounded = 1.645;

}  // namespace corun
