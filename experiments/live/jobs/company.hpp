#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "experiments/live/jobs/live_config.hpp"

/// Which workloads are measured together, and in which order.
namespace corun::live {

/// Workloads that are to run at the same time: one or more positions in LiveConfig::workloads.
using Company = std::vector<std::size_t>;

/// "gemm+stream".
std::string company_name(const Company& members, const LiveConfig& config);

/// All pairs of different workloads.
std::vector<Company> all_pairs(std::size_t workloads);
/// "gemm+stream,gemm+gemm"; InputError at `place` for a name that is none.
std::vector<Company> parse_pairs(const std::string& text, const LiveConfig& config,
                                 const std::string& place);

/// In which order companies are measured: shuffled once by `seed`, then forwards and backwards in turn, so
/// that a drift over the session (heat, clocks) weighs on all of them alike.
std::vector<Company> balanced_order(std::vector<Company> companies, int repeats,
                                    std::uint64_t seed);

}  // namespace corun::live
