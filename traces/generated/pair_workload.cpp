#include "traces/generated/pair_workload.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "sim/error.hpp"
#include "traces/generated/drawn_jobs.hpp"
#include "traces/tables/lucid_pairs.hpp"

namespace corun::inline traces {
namespace {

/// Positions in the table, ascending.
std::vector<std::size_t> measured_jobs(const Measurements& table) {
  std::vector<bool> measured(table.names.size());
  for (std::size_t r = 0; r < table.speeds.rows.size(); ++r) {
    if (!table.scored[r]) continue;
    measured[table.speeds.rows[r].a] = true;
    measured[table.speeds.rows[r].b] = true;
  }
  for (const SpeedTable::Group& group : table.speeds.groups) {
    for (const std::uint32_t job : group.jobs) measured[job] = true;
  }
  std::vector<std::size_t> jobs;
  for (std::size_t i = 0; i < measured.size(); ++i) {
    if (measured[i]) jobs.push_back(i);
  }
  return jobs;
}

std::optional<double> feature(const Measurements& table, std::size_t job, std::string_view name) {
  for (std::size_t f = 0; f < table.speeds.features.size(); ++f) {
    const double value = table.speeds.of(job)[f];
    if (table.speeds.features[f].name == name && !std::isnan(value)) return value;
  }
  return std::nullopt;
}

Profile profile_of(const Measurements& table, std::size_t job) {
  Profile profile;
  profile.gpu_util_pct = feature(table, job, "gpu_util_pct");
  profile.mem_time_pct = feature(table, job, "mem_time_pct");
  profile.mem_alloc_pct = feature(table, job, "mem_alloc_pct");
  const std::optional<double> used = feature(table, job, "mem_used_mib");
  if (!profile.mem_alloc_pct && used && table.gpu == kLucidGpuType) {
    profile.mem_alloc_pct = std::min(100.0, 100 * *used / kLucidMemoryMib);
  }
  return profile;
}

}  // namespace

Trace pair_workload_trace(const Measurements& table, int jobs,
                          std::optional<double> interarrival_mean_s, std::uint64_t seed) {
  const std::vector<std::size_t> pool = measured_jobs(table);
  if (pool.empty()) {
    throw InputError(table.source,
                     "found no pair of which both speeds were measured, expected some to draw jobs "
                     "from; give a table with norm_a and norm_b or co-run measurements");
  }
  Trace trace;
  trace.source = "pairs of " + table.source;
  trace.feature_list = table.speeds.features;
  for (DrawnJob& drawn : draw_jobs(jobs, pool.size(), interarrival_mean_s, seed)) {
    const std::size_t job = pool[drawn.choice];
    drawn.spec.profile = profile_of(table, job);
    const double* features = table.speeds.of(job);
    trace.jobs.push_back({.spec = drawn.spec,
                          .name = table.names[job] + "#" + std::to_string(trace.jobs.size()),
                          .key = table.speeds.jobs[job],
                          .features = {features, features + table.speeds.features.size()}});
  }
  return trace;
}

}  // namespace corun::inline traces
