#include "traces/tables/apply_solo_table.hpp"

#include <algorithm>
#include <cmath>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

#include "sim/base/nan.hpp"

namespace corun::inline traces {
namespace {

/// Solo time [s] of so much work on a type; NaN if a time is not measured.
double solo_on(double work_s, double time_s, std::optional<double> reference_s) {
  if (!reference_s || !std::isfinite(*reference_s)) return kNaN;
  return std::isfinite(time_s) ? scaled_solo_s(work_s, time_s / *reference_s) : time_s;
}

/// Sets an unknown value; returns whether it is known now and was not before.
bool fill(double& value, double found) {
  if (!std::isnan(value) || std::isnan(found)) return false;
  value = found;
  return true;
}

}  // namespace

std::size_t apply_solo_table(Trace& trace, const SoloTable& table, std::string_view reference,
                             const SameType& same_type) {
  std::unordered_map<WorkloadKey, std::size_t> workload_of;
  for (std::size_t w = 0; w < table.keys.size(); ++w) workload_of.emplace(table.keys[w], w);
  const auto reference_type = std::ranges::find_if(
      table.types, [&](const std::string& type) { return same_type(type, reference); });

  const std::size_t jobs = trace.jobs.size();
  std::vector<bool> filled(jobs);
  for (std::size_t t = 0; t < table.types.size(); ++t) {
    const auto known = std::ranges::find_if(trace.measured_types, [&](const MeasuredType& type) {
      return same_type(type.name, table.types[t]);
    });
    const auto place = static_cast<std::size_t>(known - trace.measured_types.begin());
    bool any = false;
    for (std::size_t j = 0; j < jobs; ++j) {
      TraceJob& job = trace.jobs[j];
      const auto at = workload_of.find(job.key);
      if (job.key == kUnknownWorkload || at == workload_of.end()) continue;
      const std::size_t w = at->second;
      std::optional<double> reference_s;
      if (reference_type != table.types.end()) {
        reference_s = table.time(w, static_cast<std::size_t>(reference_type - table.types.begin()));
      }
      const double work_s = to_seconds(job.spec.work);
      JobOnType on = on_type(job, place);
      const bool solo = fill(on.solo_s, solo_on(work_s, table.time(w, t), reference_s));
      const bool memory = fill(on.memory_mib, table.memory(w, t));
      if (!solo && !memory) continue;
      job.on_types.resize(std::max(job.on_types.size(), place + 1));
      job.on_types[place] = on;
      any = true;
      filled[j] = true;
    }
    if (any && place == trace.measured_types.size()) {
      trace.measured_types.push_back({table.types[t]});
    }
  }
  return static_cast<std::size_t>(std::ranges::count(filled, true));
}

}  // namespace corun::inline traces
