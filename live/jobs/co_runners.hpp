#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "live/jobs/live_config.hpp"

/// Which workloads are measured together, and in which order.
namespace corun::live {

/// Workloads that are to run at the same time: one or more positions in LiveConfig::workloads.
using CoRunners = std::vector<std::size_t>;

/// The names, joined: "gemm+stream".
std::string co_runner_names(const CoRunners& members, const LiveConfig& config);

/// Whether one of them is a service.
bool has_service(const CoRunners& members, const LiveConfig& config);

/// All pairs of different workloads.
std::vector<CoRunners> all_pairs(std::size_t workloads);
/// Reads "gemm+stream,gemm+gemm". Throws InputError at `place` for an unknown name, a set of fewer than two
/// names and an empty text.
std::vector<CoRunners> parse_pairs(const std::string& text, const LiveConfig& config,
                                   const std::string& place);
/// The pairs of a CSV with columns job_a and job_b, names of workloads, such as `corun model suggest --out` writes;
/// other columns are ignored. InputError "FILE:LINE:COLUMN: ..." for an unknown name, a pair that is there twice in
/// either order and a file without pairs.
std::vector<CoRunners> read_pair_list(const std::string& path, const LiveConfig& config);

/// The order of measurement, `repeats` times as long as `sets`: shuffled once by `seed`, then forwards and
/// backwards in turn, so that a drift over the session (heat, clocks) affects all sets alike.
std::vector<CoRunners> balanced_order(std::vector<CoRunners> sets, int repeats, std::uint64_t seed);

}  // namespace corun::live
