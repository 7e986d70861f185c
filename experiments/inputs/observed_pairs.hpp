#pragma once

#include <cstdint>

#include "sim/speed_table.hpp"

namespace corun {

/// What was known of a table of measured pairs before anything ran: `share` (0 to 1) of its rows with a
/// measured speed, rounded, drawn by `seed`, and the jobs that these are about. The rows of a smaller
/// share of the same seed are among those of a larger one. Jobs and rows stay in the table's order.
SpeedTable observed_pairs(const SpeedTable& table, double share, std::uint64_t seed);

}  // namespace corun
