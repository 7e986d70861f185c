#pragma once

/// Half-widths of intervals of a normal distribution, in standard deviations.
namespace corun::inline sim {

/// For a 90 % interval: the 95 % quantile of the standard normal.
inline constexpr double kHalfWidth90 = 1.6448536269514722;

/// The same, rounded to three decimals. `measured` (lookup.cpp) and the models on observations.cpp
/// use it, so that their predictions keep their bits.
inline constexpr double kHalfWidth90Rounded = 1.645;

}  // namespace corun::inline sim
