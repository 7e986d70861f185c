#include "traces/generated/solo_workload.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <string_view>
#include <vector>

#include "sim/base/text.hpp"
#include "sim/error.hpp"
#include "traces/generated/drawn_jobs.hpp"
#include "traces/tables/apply_solo_table.hpp"

namespace corun::inline traces {
namespace {

/// Column of the reference type.
std::size_t find_reference(const SoloTable& table, const std::optional<std::string>& reference) {
  if (!reference) return 0;
  const auto at = std::ranges::find(table.types, *reference);
  if (at != table.types.end()) return static_cast<std::size_t>(at - table.types.begin());
  const std::vector<std::string_view> known(table.types.begin(), table.types.end());
  throw InputError(table.source, "has no solo times on '" + printable(*reference) +
                                     "', expected one of its GPU types; " +
                                     did_you_mean(*reference, known));
}

}  // namespace

Trace solo_workload_trace(const SoloTable& table, const std::optional<std::string>& reference,
                          int jobs, std::optional<double> interarrival_mean_s, std::uint64_t seed) {
  const std::size_t type = find_reference(table, reference);
  std::vector<std::size_t> pool;
  for (std::size_t w = 0; w < table.names.size(); ++w) {
    if (std::isfinite(table.time(w, type))) pool.push_back(w);
  }
  if (pool.empty()) {
    throw InputError(table.source, "no workload is measured on " + printable(table.types[type]) +
                                       ", expected some to draw jobs from; name another GPU type");
  }
  Trace trace;
  trace.source = "solo times of " + table.source;
  trace.reference_type = table.types[type];
  for (DrawnJob& drawn : draw_jobs(jobs, pool.size(), interarrival_mean_s, seed)) {
    const std::size_t w = pool[drawn.choice];
    drawn.spec.profile = table.profiles[w];
    const double demand_mib = table.memory(w, type);
    if (!std::isnan(demand_mib)) drawn.spec.profile.mem_used_mib = demand_mib;
    trace.jobs.push_back({.spec = drawn.spec,
                          .name = table.names[w] + "#" + std::to_string(trace.jobs.size()),
                          .key = table.keys[w]});
  }
  apply_solo_table(trace, table, trace.reference_type,
                   [](std::string_view a, std::string_view b) { return a == b; });
  return trace;
}

}  // namespace corun::inline traces
