#pragma once

#include <cstdint>
#include <optional>

#include "traces/pair_table.hpp"
#include "traces/trace.hpp"

/// Queues drawn from a table of measured pairs, so that most co-runs in them are measured.
namespace corun {

/// Pair tables have no solo times. A job's solo time is log-normal with this median and this standard
/// deviation of its logarithm, by choice and not by measurement: half of the jobs take between 6 and 16
/// minutes, one in a hundred more than 50.
inline constexpr double kPairSoloMedianS = 600;
inline constexpr double kPairSoloLogDeviation = 0.7;

/// Expected solo time [s], to convert a load into a mean time between arrivals.
double pair_workload_mean_solo_s();

/// `jobs` jobs drawn uniformly, with replacement, from the table's jobs with a pair of which both speeds
/// were measured, named "NAME#17" after the table's name and JobId. With a mean, arrivals are a Poisson
/// process from time 0 with that mean between arrivals [s]; without, all are submitted at 0. A longer trace
/// of the same seed begins with the shorter one.
///
/// The profile has the table's gpu_util_pct, mem_alloc_pct and mem_time_pct; Lucid's memory in use, as a
/// share of its card's, stands for mem_alloc_pct. The memory demand stays unknown, so that no job runs out
/// of memory: all pairs drawn from ran, or count as if they had. All features of the table are in
/// Trace::features.
///
/// InputError if no pair was measured, jobs < 1, the mean is not above 0 or the last arrival lies beyond
/// 4e9 s.
Trace pair_workload_trace(const PairTable& table, int jobs,
                          std::optional<double> interarrival_mean_s, std::uint64_t seed);

}  // namespace corun
