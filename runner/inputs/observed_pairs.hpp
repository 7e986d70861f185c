#pragma once

#include <cstdint>

#include "sim/speed_table.hpp"

namespace corun::inline runner {

/// The pairs of a table that are known beforehand: `share` (0 to 1, the number rounded) of its rows
/// with a measured speed, drawn by `seed`, and the jobs of these rows. With one seed, a smaller
/// share is a subset of a larger one. Jobs and rows keep the table's order.
SpeedTable observed_pairs(const SpeedTable& table, double share, std::uint64_t seed);

}  // namespace corun::inline runner
