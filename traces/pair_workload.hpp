#pragma once

#include <cstdint>
#include <optional>

#include "traces/pair_table.hpp"
#include "traces/trace.hpp"

/// Queues drawn from a table of measured pairs, so that what a co-run in them costs was mostly measured.
namespace corun {

/// Pair tables have no solo times. A job's is log-normal with this median and this standard deviation
/// of its logarithm, which is a choice and no measurement: half of the jobs take between 6 and 16
/// minutes, one in a hundred more than 50.
inline constexpr double kPairSoloMedianS = 600;
inline constexpr double kPairSoloLogDeviation = 0.7;

/// Expected solo time [s], for turning a load into a mean between arrivals.
double pair_workload_mean_solo_s();

/// `jobs` jobs drawn uniformly, with replacement, from those of the table that are part of a pair of
/// which both speeds were measured, called "NAME#17" after the table's name and JobId. With a mean, a
/// Poisson process from time 0 with that mean between arrivals [s]; without, all are submitted at 0.
/// A longer trace of the same seed begins with the shorter one.
///
/// The profile has what the table has of gpu_util_pct, mem_alloc_pct and mem_time_pct; Lucid's memory in
/// use, as a share of its card's, stands for mem_alloc_pct. True memory demand stays unknown: all pairs
/// drawn from ran, or count as if they had, so that nothing runs out of memory. All features of the
/// table are in Trace::features.
///
/// InputError if no pair was measured, jobs < 1, the mean is not above 0 or the last arrival lies beyond
/// 4e9 s.
Trace pair_workload_trace(const PairTable& table, int jobs,
                          std::optional<double> interarrival_mean_s, std::uint64_t seed);

}  // namespace corun
