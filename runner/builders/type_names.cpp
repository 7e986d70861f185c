#include "runner/builders/type_names.hpp"

#include <algorithm>
#include <vector>

#include "sim/base/text.hpp"
#include "sim/error.hpp"

namespace corun::inline runner {

namespace {

bool is_described(std::string_view name, const Cluster& cluster) {
  const auto has_name = [&](const NodeSpec& node) { return node.gpu.name == name; };
  return cluster.types.find(name) != nullptr || std::ranges::any_of(cluster.spec.nodes, has_name);
}

std::string unknown(std::string_view name, const Cluster& cluster) {
  return "unknown GPU type '" + printable(name) + "', expected one of the catalogue, of " +
         "cluster.gpu_types or of the cluster; " + cluster.types.advice(name);
}

}  // namespace

void check_type_names(std::span<const TypeName> names, const Cluster& cluster) {
  for (auto type = names.begin(); type != names.end(); ++type) {
    const std::string place(type->place);
    if (!is_described(type->name, cluster)) throw InputError(place, unknown(type->name, cluster));
    for (auto other = names.begin(); other != type; ++other) {
      if (other->name == type->name || !cluster.types.same(type->name, other->name)) continue;
      throw InputError(place, "'" + printable(type->name) + "' and '" + printable(other->name) +
                                  "' (" + std::string(other->place) +
                                  ") are one GPU type, expected each type under one name; give "
                                  "both the same name, or leave one of them out");
    }
  }
}

void check_gpu_models(const Trace& trace, const Cluster& cluster, const std::string& place) {
  for (std::size_t i = 0; i < trace.gpu_model_names.size(); ++i) {
    if (is_described(trace.gpu_model_names[i], cluster)) continue;
    const auto names_it = [&](const TraceJob& j) { return (j.spec.gpu_models >> i & 1U) != 0; };
    const auto job = std::ranges::find_if(trace.jobs, names_it);
    if (job == trace.jobs.end()) continue;
    throw InputError(place, "job '" + printable(job->name) + "' of " + printable(trace.source) +
                                " runs on an " + unknown(trace.gpu_model_names[i], cluster));
  }
}

}  // namespace corun::inline runner
