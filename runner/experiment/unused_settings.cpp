#include "runner/experiment/unused_settings.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>

#include <fmt/format.h>

#include "policies/groups/recommender.hpp"
#include "policies/kube_default.hpp"
#include "runner/config/config_keys.hpp"
#include "runner/config/config_writer.hpp"
#include "runner/experiment/engine_options.hpp"
#include "traces/trace_statistics.hpp"

namespace corun::inline runner {

// The folder is compiled as one file: the short names of the rules are in a namespace of their own.
namespace setting_rules {
namespace {

/// Why a setting has no effect; empty if it has one.
using Reason = std::string;

template <typename Test>
bool some_policy(const SettingsInUse& use, const Test& test) {
  return std::ranges::any_of(use.policies, test);
}
template <typename Test>
bool some_job(const SettingsInUse& use, const Test& test) {
  return std::ranges::any_of(use.trace.jobs, test, &TraceJob::spec);
}

std::vector<Time> sorted_submit_times(const SettingsInUse& use) {
  std::vector<Time> submits;
  for (const TraceJob& job : use.trace.jobs) submits.push_back(job.spec.submit);
  std::ranges::sort(submits);
  return submits;
}

/// Policies of programs see everything that the view has.
bool sees_all(const PolicyInstance& policy) { return policy.traits.sees_all; }
bool needs_belief(const PolicyInstance& policy) {
  return policy.entry->needs == PolicyNeeds::kBelief;
}
bool believes(const PolicyInstance& policy) {
  return needs_belief(policy) && !policy.granted_truth;
}

// Keys

Reason arrivals(const SettingsInUse& use) {
  if (use.config.workload.order != QueueOrder::kShuffled) return "";
  const std::vector<Time> submits = sorted_submit_times(use);
  return std::ranges::adjacent_find(submits) == submits.end()
             ? "no two jobs are submitted at the same time"
             : "";
}

Reason drawn_profiles(const SettingsInUse& use) {
  return use.trace.drawn_profiles > 0 ? "" : "every job has a profile";
}

Reason memory_demand(const SettingsInUse& use) {
  if (some_policy(use, sees_all)) return "";
  return some_job(use, [](const JobSpec& job) { return job.profile.mem_used_mib.has_value(); })
             ? ""
             : "no job has a known memory demand";
}

/// A type of one's own and the gaps of a node list take their memory from the key.
Reason gpu_memory(const SettingsInUse& use) {
  const ClusterConfig& cluster = use.config.cluster;
  const bool replaces =
      !cluster.path && !cluster.machines && use.cluster.types.find(cluster.gpu_type) != nullptr;
  return replaces ? memory_demand(use) : "";
}

Reason own_gpu_types(const SettingsInUse& use) {
  const GpuTypes& types = use.cluster.types;
  const std::vector<std::string> models = use.cluster.spec.models();
  const std::optional<std::string>& reference = use.config.workload.gpu_type;
  const auto own = [&](const std::string& name) { return types.find(name) != find_gpu(name); };
  if (std::ranges::none_of(models, own) && !(reference && own(*reference))) {
    return "no GPU of the cluster is of one of its types";
  }
  return models.size() == 1 && !reference ? memory_demand(use) : "";
}

Reason out_of_memory(const SettingsInUse& use) {
  if (Reason none = memory_demand(use); !none.empty()) return none;
  double demand = 0;
  for (const TraceJob& job : use.trace.jobs) demand += job.spec.profile.mem_used_mib.value_or(0);
  const bool fits = std::ranges::all_of(
      use.cluster.spec.nodes, [&](const NodeSpec& node) { return demand <= node.gpu.memory_mib; });
  return fits ? "the memory of one GPU holds all jobs at once" : "";
}

Reason pods(const SettingsInUse& use) {
  const auto places_pods = [](const PolicyInstance& p) {
    return p.traits.one_node || p.traits.reads_requests || p.traits.sees_all;
  };
  return some_policy(use, places_pods) ? "" : "no policy places pods";
}

Reason fallback(const SettingsInUse& use) {
  const WorldConfig& world = use.config.world;
  // A model's file sets both, and a dumped configuration spells both out.
  return world.model == WorldKind::kMeasured || world.model.text() == world.fallback.text()
             ? ""
             : fmt::format("world.model is {}", world.model.text());
}

Reason noise(const SettingsInUse& use) {
  const WorldModel& model = use.config.world.model;
  return model == WorldKind::kNone || model == WorldKind::kListedPairs
             ? fmt::format("world.model {} has no noise", model.text())
             : "";
}

/// Why the effort of the fit of `model` has no effect. `text`: the key and its value.
Reason effort(const ModelName* model, const std::string& text) {
  return model != nullptr && model->entry().draws ? "" : fmt::format("{} has no effort", text);
}

Reason world_effort(const SettingsInUse& use) {
  const WorldConfig& world = use.config.world;
  return world.model == WorldKind::kMeasured
             ? effort(&world.fallback, fmt::format("world.fallback {}", world.fallback.text()))
             : effort(world.model.model(), fmt::format("world.model {}", world.model.text()));
}

Reason belief_model(const SettingsInUse& use) {
  return some_policy(use, needs_belief) ? "" : "no policy has a belief";
}

Reason belief_data(const SettingsInUse& use) {
  if (Reason none = belief_model(use); !none.empty()) return none;
  return use.config.belief.model == BeliefKind::kTruth ? "belief.model is truth" : "";
}

Reason belief_seed(const SettingsInUse& use) {
  if (Reason none = belief_data(use); !none.empty()) return none;
  const ModelName* model = use.config.belief.model.model();
  return model != nullptr && model->entry().draws
             ? ""
             : fmt::format("belief.model {} draws nothing at random",
                           use.config.belief.model.text());
}

Reason belief_effort(const SettingsInUse& use) {
  if (Reason none = belief_data(use); !none.empty()) return none;
  const BeliefModel& model = use.config.belief.model;
  return effort(model.model(), fmt::format("belief.model {}", model.text()));
}

Reason estimates_of_time(const SettingsInUse& use) {
  const auto reads = [&](const PolicyInstance& p) {
    return p.traits.needs_estimates || p.traits.reads_estimates || p.traits.sees_all ||
           (believes(p) && !use.beliefs.by_clusters());
  };
  return some_policy(use, reads) ? "" : "no policy reads estimates of run times";
}

Reason estimates(const SettingsInUse& use) {
  const bool by_type =
      use.cluster.spec.models().size() > 1 &&
      some_policy(use, [](const PolicyInstance& p) { return p.traits.reads_speeds_on_types; });
  return by_type ? "" : estimates_of_time(use);
}

Reason estimate_errors(const SettingsInUse& use) {
  const EstimateKind duration = use.config.estimates.duration;
  return duration == EstimateKind::kLognormal
             ? estimates_of_time(use)
             : fmt::format("estimates.duration is {}", name_of(duration));
}

/// Whether a policy reads memory demands, itself or through a model.
Reason estimates_of_memory(const SettingsInUse& use) {
  const auto reads = [&](const PolicyInstance& p) {
    return p.traits.reads_memory || p.traits.sees_all ||
           (believes(p) && !use.beliefs.by_clusters());
  };
  return some_policy(use, reads) ? memory_demand(use) : "no policy reads memory demands";
}

Reason errors_of_memory(const SettingsInUse& use) {
  const EstimateKind memory = use.config.estimates.memory;
  return memory == EstimateKind::kLognormal
             ? estimates_of_memory(use)
             : fmt::format("estimates.memory is {}", name_of(memory));
}

Reason estimates_of_utilisation(const SettingsInUse& use) {
  const auto reads = [](const PolicyInstance& p) {
    return p.traits.reads_utilisation || p.traits.sees_all || believes(p);
  };
  if (!some_policy(use, reads)) return "no policy reads the utilisation of jobs";
  return some_job(use, [](const JobSpec& job) { return job.profile.gpu_util_pct.has_value(); })
             ? ""
             : "no job has a known utilisation";
}

Reason errors_of_utilisation(const SettingsInUse& use) {
  const EstimateKind utilisation = use.config.estimates.utilisation;
  return utilisation == EstimateKind::kLognormal
             ? estimates_of_utilisation(use)
             : fmt::format("estimates.utilisation is {}", name_of(utilisation));
}

Reason profiling(const SettingsInUse& use) {
  const ProfilingMode mode = use.config.profiling.mode;
  if (mode == ProfilingMode::kPredictor) return "predicted profiles are free, as those of none";
  const auto measures = [](const PolicyInstance& p) {
    return p.traits.measures_profiles || believes(p);
  };
  return some_policy(use, measures) ? "" : "no policy goes by profiles";
}

Reason kept_profiling(const SettingsInUse& use) {
  const ProfilingMode mode = use.config.profiling.mode;
  return mode == ProfilingMode::kEpoch || mode == ProfilingMode::kMinute
             ? profiling(use)
             : fmt::format("profiling.mode is {}", name_of(mode));
}

Reason probes(const SettingsInUse& use) {
  const auto takes = [](const PolicyInstance& p) { return p.traits.takes_probes && believes(p); };
  return some_policy(use, takes) ? "" : "no policy learns from probes";
}

Reason probe_shape(const SettingsInUse& use) {
  return use.config.probing.probes > 0 ? probes(use) : "probing.probes is 0";
}

Reason preemption(const SettingsInUse& use) {
  const auto preempts = [](const PolicyInstance& p) { return p.traits.preempts; };
  return some_policy(use, preempts) ? "" : "no policy preempts jobs";
}

Reason starts(const SettingsInUse& use) {
  const auto joins = [](const PolicyInstance& p) {
    return p.traits.plans_groups || p.traits.sees_all;
  };
  if (!some_policy(use, joins)) return "no policy plans groups";
  return use.config.cluster.max_jobs_per_gpu == 1 && !some_policy(use, sees_all)
             ? "cluster.max_jobs_per_gpu is 1"
             : "";
}

Reason plans(const SettingsInUse& use) {
  const auto plans = [](const PolicyInstance& p) { return p.traits.plans_groups; };
  return some_policy(use, plans) ? "" : "no policy plans groups";
}

Reason left_out(const SettingsInUse& use, double share) {
  const auto jobs = static_cast<double>(use.trace.jobs.size());
  return std::floor(share * jobs) > 0 ? "" : fmt::format("{} of {} jobs are none", share, jobs);
}

Reason warm_up(const SettingsInUse& use) {
  const double share = use.config.measure.skip_first;
  if (Reason none = left_out(use, share); !none.empty()) return none;
  const std::vector<Time> submits = sorted_submit_times(use);
  const double first = std::floor(share * static_cast<double>(submits.size()));
  return submits[static_cast<std::size_t>(first)] == submits.front()
             ? "these jobs are submitted at the same time as the next"
             : "";
}

Reason cool_down(const SettingsInUse& use) { return left_out(use, use.config.measure.skip_last); }

struct KeyRule {
  std::string_view key;
  Reason (*without_effect)(const SettingsInUse&);
};

constexpr std::array kKeyRules{
    KeyRule{"workload.order", arrivals},
    KeyRule{"workload.profiles", drawn_profiles},
    KeyRule{"cluster.gpu_types", own_gpu_types},
    KeyRule{"cluster.gpu_memory_mib", gpu_memory},
    KeyRule{"cluster.cpu_milli_per_node", pods},
    KeyRule{"cluster.memory_mib_per_node", pods},
    KeyRule{"cluster.oom.ramp_s", out_of_memory},
    KeyRule{"cluster.oom.retries", out_of_memory},
    KeyRule{"world.fallback", fallback},
    KeyRule{"world.effort", world_effort},
    KeyRule{"world.noise", noise},
    KeyRule{"belief.model", belief_model},
    KeyRule{"belief.initial", belief_data},
    KeyRule{"belief.known", belief_data},
    KeyRule{"belief.seed", belief_seed},
    KeyRule{"belief.effort", belief_effort},
    KeyRule{"belief.overrides", belief_data},
    KeyRule{"estimates.duration", estimates},
    KeyRule{"estimates.sigma", estimate_errors},
    KeyRule{"estimates.memory", estimates_of_memory},
    KeyRule{"estimates.memory_sigma", errors_of_memory},
    KeyRule{"estimates.utilisation", estimates_of_utilisation},
    KeyRule{"estimates.utilisation_sigma", errors_of_utilisation},
    KeyRule{"profiling.mode", profiling},
    KeyRule{"profiling.keeps_progress", kept_profiling},
    KeyRule{"probing.probes", probes},
    KeyRule{"probing.seconds", probe_shape},
    KeyRule{"probing.keeps_progress", probe_shape},
    KeyRule{"preemption.save_s", preemption},
    KeyRule{"preemption.restore_s", preemption},
    KeyRule{"preemption.lost_work", preemption},
    KeyRule{"control.start", starts},
    KeyRule{"control.plan", plans},
    KeyRule{"measure.skip_first", warm_up},
    KeyRule{"measure.skip_last", cool_down},
};

// Parameters

/// A policy and its parameters, without lists of words.
struct PolicyInUse {
  const PolicyInstance& policy;
  Parameters parameters;
};

bool has_list(const PolicyInstance& policy, const std::string& name) {
  const auto at = policy.config.settings.find(name);
  if (at == policy.config.settings.end()) return false;
  const auto* words = std::get_if<std::vector<std::string>>(&at->second);
  return words != nullptr && !words->empty();
}

/// For parameters that choose co-runners.
Reason co_runners(const SettingsInUse& use, const PolicyInUse&) {
  return use.config.cluster.max_jobs_per_gpu == 1 ? "cluster.max_jobs_per_gpu is 1" : "";
}

Reason order(const SettingsInUse& use, const PolicyInUse& p) {
  const std::string& pairing = p.parameters.choice("pairing");
  if (pairing != "given") return "pairing is " + pairing;
  if (!use.beliefs.by_clusters() || p.policy.granted_truth) {
    return "the belief is about individual jobs";
  }
  return co_runners(use, p);
}

Reason epsilon(const SettingsInUse& use, const PolicyInUse& p) {
  return p.parameters.choice("explore") == "thompson" ? "explore is thompson" : co_runners(use, p);
}

Reason fill_of_bin(const SettingsInUse& use, const PolicyInUse& p) {
  return has_list(p.policy, "bin") ? "bin is given" : co_runners(use, p);
}

/// The least of the number of jobs that a plan covers by default and with this value.
Reason window(const SettingsInUse& use, const PolicyInUse& p) {
  const std::size_t jobs = use.trace.jobs.size();
  const ParameterValue& given = p.parameters.value("window");
  const auto& specs = p.policy.entry->parameters;
  const auto* by_default = std::get_if<std::int64_t>(
      &std::ranges::find(specs, "window", &ParameterSpec::name)->fallback);
  const auto* size = std::get_if<std::int64_t>(&given);
  const std::size_t usual =
      by_default ? static_cast<std::size_t>(*by_default) : Recommender::kMatchedJobs;
  const bool holds_all =
      jobs <= usual && (size == nullptr || jobs <= static_cast<std::size_t>(*size));
  return holds_all ? fmt::format("the workload has {} jobs", jobs) : "";
}

Reason gangs_alike(const SettingsInUse& use, const PolicyInUse&) {
  const JobSpec& first = use.trace.jobs.front().spec;
  const bool differ = some_job(use, [&](const JobSpec& job) {
    return job.gpus != first.gpus || job.gpu_models != first.gpu_models;
  });
  return differ ? "" : "all jobs want equally many GPUs";
}

Reason gangs(const SettingsInUse& use, const PolicyInUse&) {
  return some_job(use, [](const JobSpec& job) { return job.gpus > 1; })
             ? ""
             : "no job wants more than one GPU";
}

Reason placement(const SettingsInUse& use, const PolicyInUse& p) {
  const bool by_type = p.parameters.choice("placement") == "fastest";
  if (!by_type || use.cluster.spec.models().size() < 2) return gangs(use, p);
  if (use.config.estimates.duration != EstimateKind::kNone) return "";
  return gangs(use, p).empty() ? ""
                               : "estimates.duration is none, so no type is known to be faster";
}

Reason length_ratio(const SettingsInUse& use, const PolicyInUse& p) {
  return p.parameters.integer("label_sum") == -1 ? "label_sum is -1" : co_runners(use, p);
}

Reason joined_memory(const SettingsInUse& use, const PolicyInUse& p) {
  const Reason none = co_runners(use, p);
  return none.empty() ? memory_demand(use) : none;
}

Reason predicted_memory(const SettingsInUse& use, const PolicyInUse&) { return memory_demand(use); }

/// At the default margin and at this one.
Reason memory_margin(const SettingsInUse& use, const PolicyInUse& p) {
  if (Reason none = joined_memory(use, p); !none.empty()) return none;
  double largest = 0, second = 0;
  for (const TraceJob& job : use.trace.jobs) {
    const double demand = job.spec.profile.mem_used_mib.value_or(0);
    second = std::max(second, std::min(largest, demand));
    largest = std::max(largest, demand);
  }
  const Parameters usual(p.policy.entry->parameters);
  const double margin =
      std::max(p.parameters.number("memory_margin"), usual.number("memory_margin"));
  const bool fit = std::ranges::all_of(use.cluster.spec.nodes, [&](const NodeSpec& node) {
    return (largest + second) * (1 + margin) <= node.gpu.memory_mib;
  });
  return fit ? "every GPU holds any two jobs" : "";
}

Reason choice_of_gpu(const SettingsInUse& use, const PolicyInUse&) {
  return use.cluster.spec.models().size() > 1 ? "" : "all GPUs are of one type";
}

Reason scored_nodes(const SettingsInUse& use, const PolicyInUse& p) {
  const std::size_t nodes = use.cluster.spec.nodes.size();
  const auto share = static_cast<int>(*p.parameters.integer("percentage_of_nodes_to_score"));
  return kube_nodes_to_find(nodes, share) == nodes && kube_nodes_to_find(nodes, 0) == nodes
             ? fmt::format("all of {} nodes are scored anyway", nodes)
             : "";
}

/// `least_s`: the first threshold that a job can pass. Time that a job takes beyond its work, as costs of
/// preemption and clock ticks, counts as service, too; without it, work is an upper bound.
Reason service(const SettingsInUse& use, double least_s) {
  const PreemptionConfig& costs = use.config.preemption;
  const ControlConfig& control = use.config.control;
  if (costs.save_s + costs.restore_s + costs.lost_work > 0 || control.tick_s ||
      control.mode == ControlMode::kRounds) {
    return "";
  }
  const double speed = use.config.cluster.gpu_speed;
  return some_job(use, [&](const JobSpec& job) { return gpu_seconds(job) / speed >= least_s; })
             ? ""
             : "no job is served so long that thresholds_s matter";
}

double least_of(const std::vector<double>& thresholds_s) {
  return thresholds_s.empty() ? std::numeric_limits<double>::infinity()
                              : *std::ranges::min_element(thresholds_s);
}

Reason promotion(const SettingsInUse& use, const PolicyInUse& p) {
  return service(use, least_of(p.parameters.numbers("thresholds_s")));
}

Reason thresholds(const SettingsInUse& use, const PolicyInUse& p) {
  const Parameters usual(p.policy.entry->parameters);
  return service(use, std::min(least_of(p.parameters.numbers("thresholds_s")),
                               least_of(usual.numbers("thresholds_s"))));
}

/// For policies that give shares of GPU types.
Reason gpu_types(const SettingsInUse& use, const PolicyInUse&) {
  return use.cluster.spec.models().size() < 2 ? "the cluster has one GPU type" : "";
}

Reason own_rounds(const SettingsInUse& use, const PolicyInUse&) {
  return runs_in_rounds(use.config) ? "control.mode is rounds, and control.round_s holds" : "";
}

Reason seed_of_draws(const SettingsInUse& use, const PolicyInUse& p) {
  if (p.policy.entry->name == "gandiva") return co_runners(use, p);
  if (Reason none = gpu_types(use, p); !none.empty()) return none;
  const bool draws_types =
      p.policy.entry->name == "fifo-by-type" && p.parameters.choice("choice") == "drawn";
  return draws_types || p.parameters.choice("type_order") == "drawn" ? "" : "nothing is drawn";
}

Reason least_sum_of_speeds(const SettingsInUse& use, const PolicyInUse& p) {
  if (p.policy.entry->name != "fifo-by-type") return "";
  return p.parameters.choice("choice") == "packed" ? co_runners(use, p) : "choice is not packed";
}

struct ParameterRule {
  std::string_view parameter;
  Reason (*without_effect)(const SettingsInUse&, const PolicyInUse&);
};

constexpr std::array kParameterRules{
    ParameterRule{"pairing", co_runners},
    ParameterRule{"order", order},
    ParameterRule{"epsilon", epsilon},
    ParameterRule{"explore", co_runners},
    ParameterRule{"risk", co_runners},
    ParameterRule{"objective", co_runners},
    ParameterRule{"by", fill_of_bin},
    ParameterRule{"bin_max", fill_of_bin},
    ParameterRule{"window", window},
    ParameterRule{"blocking", gangs_alike},
    ParameterRule{"placement", placement},
    ParameterRule{"length_ratio", length_ratio},
    ParameterRule{"promote_after", promotion},
    ParameterRule{"thresholds_s", thresholds},
    ParameterRule{"percentage_of_nodes_to_score", scored_nodes},
    ParameterRule{"minimise", choice_of_gpu},
    ParameterRule{"memory_margin_pct", predicted_memory},
    ParameterRule{"memory_margin", memory_margin},
    ParameterRule{"reservations", gangs},
    ParameterRule{"memory_per_job_mib", joined_memory},
    ParameterRule{"collocation_limit", joined_memory},
    ParameterRule{"most_jobs", co_runners},
    ParameterRule{"capacity_pct", co_runners},
    ParameterRule{"memory", joined_memory},
    ParameterRule{"heterogeneity", gpu_types},
    ParameterRule{"space_sharing", co_runners},
    ParameterRule{"type_order", gpu_types},
    ParameterRule{"round_s", own_rounds},
    ParameterRule{"seed", seed_of_draws},
    ParameterRule{"prices", gpu_types},
    ParameterRule{"threshold", least_sum_of_speeds},
    ParameterRule{"gangs", gangs},
};

bool is_default(const ParameterSpec& spec, const ParameterValue& value) {
  const auto* const texts = std::get_if<std::vector<std::string>>(&value);
  return value == spec.fallback || (texts != nullptr && texts->empty());
}

void add_unused_parameters(const SettingsInUse& use, std::vector<std::string>& sentences) {
  for (const PolicyInstance& policy : use.policies) {
    const PolicyInUse p{policy, given_parameters(policy)};
    for (const ParameterSpec& spec : policy.entry->parameters) {
      const auto given = policy.config.settings.find(std::string(spec.name));
      const auto rule = std::ranges::find(kParameterRules, spec.name, &ParameterRule::parameter);
      if (given == policy.config.settings.end() || rule == kParameterRules.end() ||
          is_default(spec, given->second)) {
        continue;
      }
      if (const Reason reason = rule->without_effect(use, p); !reason.empty()) {
        sentences.push_back(
            fmt::format("{} of {} has no effect: {}", spec.name, policy.label, reason));
      }
    }
  }
}

}  // namespace
}  // namespace setting_rules

std::vector<std::string> unused_settings(const SettingsInUse& use) {
  namespace rules = setting_rules;
  std::vector<std::string> sentences;
  Config given = use.config;
  Config defaults;
  const std::vector<ConfigKey> keys = config_keys(given);
  const std::vector<ConfigKey> usual = config_keys(defaults);
  for (std::size_t k = 0; k < keys.size(); ++k) {
    const std::string key(keys[k].path);
    const auto rule = std::ranges::find(rules::kKeyRules, key, &rules::KeyRule::key);
    if (rule == rules::kKeyRules.end() || yaml_text(keys[k].value) == yaml_text(usual[k].value)) {
      continue;
    }
    if (const rules::Reason reason = rule->without_effect(use); !reason.empty()) {
      sentences.push_back(fmt::format("{} has no effect: {}", key, reason));
    }
  }
  rules::add_unused_parameters(use, sentences);
  return sentences;
}

}  // namespace corun::inline runner
