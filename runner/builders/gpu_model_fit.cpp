#include "runner/builders/gpu_model_fit.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "sim/base/text.hpp"
#include "sim/error.hpp"

namespace corun::inline runner {

bool restricts_gpu_models(const Cluster& cluster, const Trace& trace) {
  const std::vector<std::string> here = cluster.spec.models();
  if (!trace.gpu_model_names.empty()) return true;
  for (std::size_t m = 0; m < trace.measured_types.size(); ++m) {
    const auto is_measured = [&](const std::string& type) {
      return cluster.types.same(type, trace.measured_types[m].name);
    };
    const auto does_not_run = [&](const TraceJob& j) { return std::isinf(on_type(j, m).solo_s); };
    if (std::ranges::any_of(here, is_measured) && std::ranges::any_of(trace.jobs, does_not_run)) {
      return true;
    }
  }
  return false;
}

void fit_gpu_models(const Config& config, const Cluster& cluster, Trace& trace) {
  const std::vector<std::string> here = cluster.spec.models();
  const bool any = !config.cluster.path && !config.cluster.machines;
  const std::string key = config.cluster.path       ? "cluster.path"
                          : config.cluster.machines ? "cluster.machines"
                                                    : "cluster.gpu_type";
  const auto bits_of = [&](const std::string& name) {
    std::uint32_t bits = 0;
    for (std::size_t t = 0; t < here.size(); ++t) {
      if (cluster.types.same(name, here[t])) bits |= std::uint32_t{1} << t;
    }
    return bits;
  };
  std::vector<std::uint32_t> bit_of;
  for (const std::string& name : trace.gpu_model_names) bit_of.push_back(bits_of(name));
  std::vector<std::uint32_t> measured;  // by place in trace.measured_types
  for (const MeasuredType& type : trace.measured_types) measured.push_back(bits_of(type.name));
  const auto all = static_cast<std::uint32_t>((std::uint64_t{1} << here.size()) - 1);
  for (TraceJob& job : trace.jobs) {
    std::uint32_t& models = job.spec.gpu_models;
    const std::uint32_t wanted = any ? 0 : std::exchange(models, 0);
    models = 0;
    for (std::size_t i = 0; i < bit_of.size(); ++i) {
      if ((wanted >> i & 1U) != 0) models |= bit_of[i];
    }
    std::uint32_t impossible = 0;
    for (std::size_t m = 0; m < measured.size(); ++m) {
      if (std::isinf(on_type(job, m).solo_s)) impossible |= measured[m];
    }
    if (wanted == 0 && impossible == 0) continue;
    models = (wanted == 0 ? all : models) & ~impossible;
    if (models != 0) continue;
    std::string names;
    for (std::size_t i = 0; i < bit_of.size(); ++i) {
      if ((wanted >> i & 1U) != 0)
        names += (names.empty() ? "" : " or ") + trace.gpu_model_names[i];
    }
    throw InputError(config.place(key),
                     "job '" + printable(job.name) + "' runs on " +
                         (names.empty() ? "no type of the cluster" : printable(names) + " only") +
                         ", the cluster has " + printable(cluster.gpu_types(), 300) +
                         "; add such nodes or leave the job out");
  }
  trace.gpu_model_names = here;
}

}  // namespace corun::inline runner
