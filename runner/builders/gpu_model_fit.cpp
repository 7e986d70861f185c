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
  return !trace.gpu_models.empty() ||
         std::ranges::any_of(trace.on_types, [&](const MeasuredOnType& type) {
           return std::ranges::any_of(
                      here,
                      [&](const std::string& t) { return cluster.types.same(t, type.gpu_type); }) &&
                  std::ranges::any_of(type.solo_s, [](double s) { return std::isinf(s); });
         });
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
  for (const std::string& name : trace.gpu_models) bit_of.push_back(bits_of(name));
  std::vector<std::uint32_t> measured;  // by place in trace.on_types
  for (const MeasuredOnType& type : trace.on_types) measured.push_back(bits_of(type.gpu_type));
  const auto all = static_cast<std::uint32_t>((std::uint64_t{1} << here.size()) - 1);
  for (std::size_t j = 0; j < trace.workload.jobs.size(); ++j) {
    std::uint32_t& models = trace.workload.jobs[j].gpu_models;
    const std::uint32_t wanted = any ? 0 : std::exchange(models, 0);
    models = 0;
    for (std::size_t i = 0; i < bit_of.size(); ++i) {
      if ((wanted >> i & 1U) != 0) models |= bit_of[i];
    }
    std::uint32_t impossible = 0;
    for (std::size_t m = 0; m < measured.size(); ++m) {
      if (std::isinf(trace.on_types[m].solo_s[j])) impossible |= measured[m];
    }
    if (wanted == 0 && impossible == 0) continue;
    models = (wanted == 0 ? all : models) & ~impossible;
    if (models != 0) continue;
    std::string names;
    for (std::size_t i = 0; i < bit_of.size(); ++i) {
      if ((wanted >> i & 1U) != 0) names += (names.empty() ? "" : " or ") + trace.gpu_models[i];
    }
    throw InputError(config.place(key),
                     "job '" + printable(trace.names[j]) + "' runs on " +
                         (names.empty() ? "no type of the cluster" : printable(names) + " only") +
                         ", the cluster has " + printable(cluster.gpu_types(), 300) +
                         "; add such nodes or leave the job out");
  }
  trace.gpu_models = here;
}

}  // namespace corun::inline runner
