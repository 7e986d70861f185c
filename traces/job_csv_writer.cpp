#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <ostream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sim/base/csv_text.hpp"
#include "traces/job_csv.hpp"

namespace corun::inline traces {

namespace {

std::string model_names(const Trace& trace, std::uint32_t bits) {
  std::string names;
  for (std::size_t i = 0; i < trace.gpu_model_names.size(); ++i) {
    if ((bits >> i & 1U) == 0) continue;
    names += (names.empty() ? "" : "|") + trace.gpu_model_names[i];
  }
  return names;
}

/// Which of the rare columns are written.
struct RareColumns {
  bool gpu_milli = false;
  bool gpu_models = false;
  bool virtual_cluster = false;
  bool steps = false;
  bool packing_label = false;
  bool zoo = false;      ///< both columns
  bool elastic = false;  ///< all three columns
  bool run_nodes = false;
  bool message = false;
  std::vector<bool> solo_on;    ///< by type of Trace::measured_types
  std::vector<bool> memory_on;  ///< the same

  bool writes(std::string_view column) const {
    if (column == "gpu_milli") return gpu_milli;
    if (column == "gpu_models") return gpu_models;
    if (column == "virtual_cluster") return virtual_cluster;
    if (column == "steps") return steps;
    if (column == "packing_label") return packing_label;
    if (column == "zoo" || column == "batch") return zoo;
    if (column == "gpus_min" || column == "gpus_max" || column == "parallel_share") {
      return elastic;
    }
    if (column == "run_nodes") return run_nodes;
    if (column == "message_mib") return message;
    return column != "state";  // all have run
  }
};

}  // namespace

void write_job_csv(std::ostream& out, const Trace& trace, const WorkloadKeys& keys) {
  const auto any_job = [&](const auto& test) { return std::ranges::any_of(trace.jobs, test); };
  RareColumns rare;
  rare.gpu_milli = any_job([](const TraceJob& j) { return j.spec.gpu_milli < 1000; });
  rare.gpu_models = any_job([](const TraceJob& j) { return j.spec.gpu_models != 0; });
  rare.virtual_cluster = !trace.virtual_clusters.empty();
  rare.steps = any_job([](const TraceJob& j) { return j.spec.steps != 0; });
  rare.packing_label =
      any_job([](const TraceJob& j) { return j.spec.profile.packing_label.has_value(); });
  rare.elastic =
      any_job([](const TraceJob& j) { return j.spec.gpus_max > 0 || j.parallel_share < 1; });
  rare.run_nodes = any_job([](const TraceJob& j) { return j.run_nodes > 0; });
  rare.message = any_job([](const TraceJob& j) { return j.message_mib > 0; });
  rare.zoo = any_job([](const TraceJob& j) { return j.zoo_run != nullptr; });
  const std::size_t types = trace.measured_types.size();
  for (std::size_t t = 0; t < types; ++t) {
    rare.solo_on.push_back(
        any_job([&](const TraceJob& j) { return !std::isnan(on_type(j, t).solo_s); }));
    rare.memory_on.push_back(
        any_job([&](const TraceJob& j) { return !std::isnan(on_type(j, t).memory_mib); }));
  }
  std::string separator;
  for (const std::string_view column : job_csv_columns()) {
    if (rare.writes(column)) out << std::exchange(separator, ",") << column;
  }
  for (std::size_t t = 0; t < types; ++t) {
    const std::string& type = trace.measured_types[t].name;
    if (rare.solo_on[t]) out << ',' << csv_text(std::string(kSoloOn) + type);
    if (rare.memory_on[t]) out << ',' << csv_text(std::string(kMemoryOn) + type);
  }
  out << '\n';
  for (const TraceJob& found : trace.jobs) {
    const JobSpec& job = found.spec;
    const Profile& profile = job.profile;
    out << csv_text(found.name) << ',' << csv_seconds(job.submit) << ',' << csv_seconds(job.work)
        << ',' << std::to_string(job.gpus) << ',' << std::to_string(job.priority) << ','
        << csv_number(profile.gpu_util_pct) << ',' << csv_number(profile.mem_alloc_pct) << ','
        << csv_number(profile.mem_time_pct) << ',' << csv_number(profile.mem_used_mib) << ','
        << std::to_string(job.request.cpu_milli) << ',' << std::to_string(job.request.memory_mib)
        << ',' << (job.epoch ? csv_seconds(*job.epoch) : std::string()) << ','
        << csv_text(keys.text(found.key)) << ','
        << (found.cluster == kUnknownCluster ? std::string() : std::to_string(found.cluster)) << ','
        << csv_number(found.uncertainty) << ',' << (profile.imputed ? '1' : '0');
    if (rare.gpu_milli) {
      out << ',' << (job.gpu_milli < 1000 ? std::to_string(job.gpu_milli) : std::string());
    }
    if (rare.gpu_models) out << ',' << csv_text(model_names(trace, job.gpu_models));
    if (rare.virtual_cluster) out << ',' << csv_text(trace.virtual_clusters[job.virtual_cluster]);
    if (rare.steps) out << ',' << std::to_string(job.steps);
    if (rare.packing_label) {
      out << ','
          << (profile.packing_label ? std::to_string(*profile.packing_label) : std::string());
    }
    if (rare.zoo) {
      const ZooRun* run = found.zoo_run.get();
      out << ',' << (run == nullptr ? std::string() : csv_text(run->model)) << ','
          << (run == nullptr ? std::string() : csv_number(run->batch));
    }
    if (rare.elastic) {
      const bool elastic = job.gpus_max > 0;
      out << ',' << (elastic ? std::to_string(job.gpus_min) : std::string()) << ','
          << (elastic ? std::to_string(job.gpus_max) : std::string()) << ','
          << (found.parallel_share < 1 ? csv_number(found.parallel_share) : std::string());
    }
    if (rare.run_nodes) {
      out << ',' << (found.run_nodes > 0 ? std::to_string(found.run_nodes) : std::string());
    }
    if (rare.message) {
      out << ',' << (found.message_mib > 0 ? csv_number(found.message_mib) : std::string());
    }
    for (std::size_t t = 0; t < types; ++t) {
      const JobOnType on = on_type(found, t);
      if (rare.solo_on[t]) {
        out << ',' << (std::isinf(on.solo_s) ? std::string(kDoesNotRun) : csv_number(on.solo_s));
      }
      if (rare.memory_on[t]) out << ',' << csv_number(on.memory_mib);
    }
    out << '\n';
  }
}

}  // namespace corun::inline traces
