#include "runner/experiment/policy_instances.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <string_view>
#include <utility>
#include <variant>

#include <fmt/format.h>

#include "policies/plugin.hpp"
#include "sim/base/text.hpp"
#include "sim/error.hpp"

namespace corun::inline runner {

namespace {

using ClusterPairs = std::vector<std::pair<int, int>>;
using Words = std::vector<std::string>;

/// Job names as JobIds. InputError at `place`, the parameter's, for unknown or repeated names.
std::vector<JobId> jobs_named(const Words& names, const Trace& trace, const std::string& place) {
  std::vector<JobId> jobs;
  for (const std::string& name : names) {
    const auto at = std::ranges::find(trace.jobs, name, &TraceJob::name);
    if (at == trace.jobs.end()) {
      throw InputError(place, "no job '" + printable(name) +
                                  "' in the workload: " + did_you_mean(name, names_of(trace)));
    }
    const JobId id{static_cast<std::uint32_t>(at - trace.jobs.begin())};
    if (std::find(jobs.begin(), jobs.end(), id) != jobs.end()) {
      throw InputError(place, "job '" + printable(name) + "' is named twice");
    }
    jobs.push_back(id);
  }
  return jobs;
}

void check_clusters(const ClusterPairs& pairs, int clusters, const std::string& place) {
  for (const auto& [a, b] : pairs) {
    if (std::max(a, b) < clusters) continue;
    throw InputError(place, "found cluster " + std::to_string(std::max(a, b)) +
                                ", expected clusters 0 to " + std::to_string(clusters - 1));
  }
}

}  // namespace

std::vector<PolicyInstance> policy_instances(const Config& config) {
  std::map<std::string, int> times;
  for (const PolicyConfig& p : config.policies) ++times[p.label.value_or(p.name)];
  std::map<std::string, int> number;
  for (const auto& [key, kind] :
       {std::pair{"estimates.memory", config.estimates.memory},
        std::pair{"estimates.utilisation", config.estimates.utilisation}}) {
    if (kind == EstimateKind::kShuffled) {
      throw InputError(config.place(key),
                       fmt::format("{}: shuffled is for estimates.duration; expected none, exact "
                                   "or lognormal",
                                   key));
    }
  }
  std::set<std::string> labels;
  std::vector<PolicyInstance> policies;
  for (std::size_t i = 0; i < config.policies.size(); ++i) {
    const PolicyConfig& p = config.policies[i];
    PolicyInstance instance;
    instance.entry = p.entry != nullptr ? p.entry : find_policy(p.name);
    instance.config = p;
    instance.key = "policies[" + std::to_string(i) + "]";
    instance.place = config.place(instance.key);
    const Parameters parameters = given_parameters(instance);
    instance.needs = instance.entry->needs_for(parameters);
    instance.traits = instance.entry->traits_for(parameters);
    if (instance.traits.needs_estimates && config.estimates.duration == EstimateKind::kNone) {
      throw InputError(instance.place,
                       "policy '" + p.name +
                           "' goes by estimates of run time, found "
                           "estimates.duration: none; set it to exact or lognormal");
    }
    const ProfilingMode mode = config.profiling.mode;
    if (instance.traits.measures_profiles && mode != ProfilingMode::kMinute &&
        mode != ProfilingMode::kEpoch) {
      throw InputError(instance.place,
                       fmt::format("policy '{}' goes by profiles measured on a GPU, found "
                                   "profiling.mode: {}; set it to minute or epoch",
                                   p.name, name_of(mode)));
    }
    instance.granted_truth =
        instance.needs == PolicyNeeds::kTruth || instance.needs == PolicyNeeds::kAllocations ||
        (instance.needs == PolicyNeeds::kBelief && config.belief.model == BeliefKind::kTruth);
    instance.label = p.label.value_or(p.name);
    if (times[instance.label] > 1) {
      instance.label += "#" + std::to_string(++number[instance.label]);
    }
    if (!labels.insert(instance.label).second) {
      throw InputError(instance.place, "two policies are labelled '" + instance.label +
                                           "'; give one of them another label");
    }
    policies.push_back(std::move(instance));
  }
  return policies;
}

std::vector<std::string> libraries_of(const std::vector<PolicyInstance>& policies) {
  std::vector<std::string> paths;
  for (const PolicyLibrary& library : policy_libraries()) {
    const auto is_there = [&](const PolicyInstance& policy) {
      return std::ranges::find(library.policies, policy.entry->name, &PolicyEntry::name) !=
             library.policies.end();
    };
    if (std::ranges::any_of(policies, is_there)) paths.push_back(library.path);
  }
  return paths;
}

Parameters given_parameters(const PolicyInstance& policy) {
  Parameters parameters(policy.entry->parameters);
  for (const auto& [name, value] : policy.config.settings) parameters.set(name, value);
  return parameters;
}

Parameters parameters_of(const PolicyInstance& policy, const Config& config, const Trace& trace,
                         int clusters) {
  Parameters parameters = given_parameters(policy);
  for (const auto& [name, value] : policy.config.settings) {
    const auto spec = std::ranges::find(policy.entry->parameters, name, &ParameterSpec::name);
    const std::string place = config.place(policy.key + "." + name);
    if (const auto* pairs = std::get_if<ClusterPairs>(&value)) {
      check_clusters(*pairs, clusters, place);
    }
    const auto* const names = std::get_if<Words>(&value);
    if (spec->kind == ParameterKind::kJobs && names != nullptr) {
      parameters.set_jobs(name, jobs_named(*names, trace, place));
    }
  }
  for (const ParameterSpec& spec : policy.entry->parameters) {
    if (spec.kind != ParameterKind::kTexts || !parameters.texts(spec.name).empty()) continue;
    throw InputError(policy.place, "policy '" + std::string(policy.entry->name) + "' needs " +
                                       std::string(spec.name) + ": " +
                                       std::string(spec.description));
  }
  return parameters;
}

}  // namespace corun::inline runner
