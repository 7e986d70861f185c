#pragma once

#include <map>
#include <string>

#include "traces/tables/measurements.hpp"

/// What a table of measured co-runs says of its jobs.
namespace corun::inline traces {

/// A slower job beside another was probably timed wrongly.
inline constexpr double kDoubtfulSpeed = 0.05;

/// A note on speeds beside another job below kDoubtfulSpeed, with the least of them; empty if there are none.
std::string slow_speeds_note(const Measurements& table, const WorkloadKeys& keys);

/// The largest memory in use that was measured of each job [MiB], above 0.
std::map<WorkloadKey, double> measured_memory_mib(const Measurements& table);

}  // namespace corun::inline traces
