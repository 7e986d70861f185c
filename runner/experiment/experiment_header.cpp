#include "runner/experiment/experiment_header.hpp"

#include <type_traits>
#include <variant>

#include "runner/config/config_yaml.hpp"
#include "runner/experiment/experiment.hpp"
#include "runner/experiment/real_runs.hpp"
#include "support/build_info.hpp"

namespace corun::inline runner {

Json parameters_json(const PolicyInstance& policy) {
  Json out = Json::object();
  const auto put = [&](const std::string& name, const auto& value) {
    std::visit(
        [&](const auto& v) {
          using T = std::decay_t<decltype(v)>;
          if constexpr (std::is_same_v<T, std::monostate>) {
            out[name] = nullptr;
          } else {
            out[name] = v;
          }
        },
        value);
  };
  for (const ParameterSpec& spec : policy.entry->parameters) {
    const std::string name(spec.name);
    const auto given = policy.config.settings.find(name);
    if (given == policy.config.settings.end()) {
      put(name, spec.fallback);
    } else {
      put(name, given->second);
    }
  }
  return out;
}

namespace {

std::vector<GpuHeader> gpu_headers(const Experiment& experiment) {
  std::vector<std::string> owners;  // by node
  for (const VirtualCluster& owner : experiment.virtual_clusters()) {
    owners.insert(owners.end(), static_cast<std::size_t>(owner.nodes), owner.name);
  }
  const std::vector<NodeSpec>& nodes = experiment.cluster().nodes;
  owners.resize(nodes.size());
  std::vector<GpuHeader> gpus;
  for (std::size_t n = 0; n < nodes.size(); ++n) {
    for (int g = 0; g < nodes[n].gpus; ++g) {
      gpus.push_back(
          {nodes[n].gpu.name, nodes[n].gpu.memory_mib, n, static_cast<std::size_t>(g), owners[n]});
    }
  }
  return gpus;
}

}  // namespace

ResultsHeader results_header(const Experiment& experiment) {
  ResultsHeader header;
  header.corun_version = version();
  header.commit = commit();
  header.config = dump_yaml(experiment.config());
  header.seed = experiment.config().seed;
  header.inputs = experiment.inputs();
  for (const PolicyInstance& policy : experiment.policies()) {
    header.policies.push_back({policy.label, std::string(policy.entry->name),
                               parameters_json(policy).dump(), policy.granted_truth});
  }
  header.gpus = gpu_headers(experiment);
  header.warnings = texts_of(experiment.notes());
  header.real_runs = real_runs_text(experiment.policies(), experiment.cluster());
  return header;
}

}  // namespace corun::inline runner
