#include "experiments/results/results_header.hpp"

#include <type_traits>
#include <variant>

#include "experiments/base/build_info.hpp"
#include "experiments/config/config_yaml.hpp"
#include "experiments/experiment/experiment.hpp"

namespace corun {

Json parameters_json(const PolicyInstance& policy) {
  Json out = Json::object();
  const auto put = [&](const std::string& name, const auto& value) {
    std::visit(
        [&](const auto& v) {
          using T = std::decay_t<decltype(v)>;
          if constexpr (std::is_same_v<T, std::monostate>) {
            out[name] = nullptr;
          } else if constexpr (std::is_same_v<T, std::vector<JobId>>) {
            out[name] = Json::array();
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
  for (const NodeSpec& node : experiment.cluster().nodes) {
    header.gpu_types.insert(header.gpu_types.end(), static_cast<std::size_t>(node.gpus),
                            node.gpu.name);
  }
  return header;
}

}  // namespace corun
