#pragma once

#include <cstdint>
#include <optional>

#include "traces/tables/measurements.hpp"
#include "traces/trace.hpp"

/// Queues drawn from a table of measured pairs, so that most co-runs in them are measured.
namespace corun::inline traces {

/// `jobs` jobs drawn uniformly, with replacement, from the table's jobs with a pair of which both
/// speeds were measured, named "NAME#17" after the table's name and JobId. Pair tables have no solo
/// times: draw_jobs() makes them, and arrivals with that mean between them [s].
///
/// The profile has the table's gpu_util_pct, mem_alloc_pct and mem_time_pct; Lucid's memory in use, as a
/// share of its card's, stands for mem_alloc_pct. The memory demand stays unknown, so that no job runs out
/// of memory: all pairs drawn from ran, or count as if they had. All features of the table are in
/// Trace::features.
///
/// InputError if no pair was measured, and as draw_jobs().
Trace pair_workload_trace(const Measurements& table, int jobs,
                          std::optional<double> interarrival_mean_s, std::uint64_t seed);

}  // namespace corun::inline traces
