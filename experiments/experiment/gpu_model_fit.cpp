#include "experiments/experiment/gpu_model_fit.hpp"

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "sim/base/text.hpp"
#include "sim/error.hpp"

namespace corun {

void fit_gpu_models(const Config& config, const Cluster& cluster, Trace& trace) {
  const std::vector<std::string> here = cluster.spec.models();
  const bool any = !config.cluster.path;
  std::vector<std::uint32_t> bit_of(trace.gpu_models.size(), 0);
  for (std::size_t i = 0; i < bit_of.size(); ++i) {
    const auto at = std::ranges::find(here, trace.gpu_models[i]);
    if (at != here.end()) bit_of[i] = std::uint32_t{1} << (at - here.begin());
  }
  for (std::size_t j = 0; j < trace.workload.jobs.size(); ++j) {
    std::uint32_t& models = trace.workload.jobs[j].gpu_models;
    const std::uint32_t wanted = std::exchange(models, 0);
    for (std::size_t i = 0; i < bit_of.size() && !any; ++i) {
      if ((wanted >> i & 1U) != 0) models |= bit_of[i];
    }
    if (any || wanted == 0 || models != 0) continue;
    std::string names;
    for (std::size_t i = 0; i < bit_of.size(); ++i) {
      if ((wanted >> i & 1U) != 0) names += (names.empty() ? "" : " or ") + trace.gpu_models[i];
    }
    throw InputError(config.place("cluster.path"),
                     "job '" + printable(trace.names[j]) + "' runs on " + printable(names) +
                         " only, the cluster has " + printable(cluster.gpu_types(), 300) +
                         "; add such nodes or leave the job out");
  }
  trace.gpu_models = here;
}

}  // namespace corun
