#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "traces/tables/solo_table.hpp"
#include "traces/trace.hpp"

/// Queues drawn from a table of solo times, so that the solo times of their jobs on several GPU types
/// are measured.
namespace corun::inline traces {

/// `jobs` jobs drawn uniformly, with replacement, from the table's workloads that are measured on the
/// reference type, `reference` as the table names it or, if empty, the table's first type. They are
/// named "NAME#17" after the workload and JobId. draw_jobs() makes the times of submission and the solo
/// times on the reference type; those on the other types have the table's ratios to it
/// (apply_solo_table()).
///
/// The profile is the table's; its memory demand is that on the reference type. Trace::reference_type
/// is the reference type, and Trace::measured_types has the types of the table on which anything is known of
/// the drawn jobs.
///
/// InputError if the table has no such type, if no workload is measured on it, and as draw_jobs().
Trace solo_workload_trace(const SoloTable& table, const std::optional<std::string>& reference,
                          int jobs, std::optional<double> interarrival_mean_s, std::uint64_t seed);

}  // namespace corun::inline traces
