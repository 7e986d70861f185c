#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "experiments/live/jobs/live_config.hpp"

/// Which workloads are measured together, and in which order.
namespace corun::live {

/// Workloads that are to run at the same time: one or more positions in LiveConfig::workloads.
using CoRunners = std::vector<std::size_t>;

/// "gemm+stream".
std::string co_runner_names(const CoRunners& members, const LiveConfig& config);

/// All pairs of different workloads.
std::vector<CoRunners> all_pairs(std::size_t workloads);
/// "gemm+stream,gemm+gemm"; InputError at `place` for a name that is none.
std::vector<CoRunners> parse_pairs(const std::string& text, const LiveConfig& config,
                                   const std::string& place);

/// In which order sets are measured: shuffled once by `seed`, then forwards and backwards in turn, so
/// that a drift over the session (heat, clocks) weighs on all of them alike.
std::vector<CoRunners> balanced_order(std::vector<CoRunners> sets, int repeats, std::uint64_t seed);

}  // namespace corun::live
