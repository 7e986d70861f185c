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

#include "policies/parameter_context.hpp"
#include "runner/config/config_keys.hpp"
#include "runner/config/config_writer.hpp"
#include "runner/config/start_costs.hpp"
#include "runner/experiment/engine_options.hpp"

namespace corun::inline runner {

// The folder is compiled as one file: the short names of the rules are in a namespace of their own.
namespace setting_rules {
namespace {

/// Why a setting has no effect; empty if it has one.
using Reason = std::string;

void note_unused(Notes& notes, const std::string& setting, const Reason& reason) {
  if (reason.empty()) return;
  add_note(notes, NoteCode::kNoEffect, setting, setting + " has no effect: " + reason);
}

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

/// Of the speed of gangs alone.
Reason across_nodes(const SettingsInUse& use) {
  if (!some_job(use, [](const JobSpec& job) { return job.gpus > 1 || job.gpus_max > 1; })) {
    return "no job wants more than one GPU";
  }
  return use.cluster.spec.nodes.size() > 1 ? "" : "the cluster has one node";
}

Reason adaptivity(const SettingsInUse& use) {
  if (use.config.workload.adaptivity != Adaptivity::kStrongScaling) return "";
  const auto resizes = [](const PolicyInstance& p) {
    return p.needs == PolicyNeeds::kAllocations || p.needs == PolicyNeeds::kFittedAllocations ||
           p.entry->takes_allocations || p.traits.sees_all;
  };
  return some_policy(use, resizes) ? "" : "no policy resizes jobs";
}

Reason expected_starts(const SettingsInUse& use) {
  const auto reads = [](const PolicyInstance& p) { return p.traits.reads_expected_starts; };
  if (!some_policy(use, reads)) return "no policy reckons with it";
  return some_job(use,
                  [](const JobSpec& job) {
                    return job.expected_start_cost.value_or(job.start_cost) != job.start_cost;
                  })
             ? ""
             : "a start of each job costs what is expected of it";
}

Reason refit(const SettingsInUse& use) {
  const bool chooses = use.config.workload.adaptivity == Adaptivity::kAdaptive &&
                       some_job(use, [](const JobSpec& job) { return job.gpus_max > 0; });
  return chooses ? "" : "no job chooses its batch";
}

Reason across_switches(const SettingsInUse& use) {
  return use.config.cluster.nodes_per_switch ? across_nodes(use)
                                             : "cluster.nodes_per_switch is null";
}

/// Of the links of jobs that tell the message of a step.
Reason links(const SettingsInUse& use) {
  const auto& jobs = use.trace.jobs;
  return std::ranges::any_of(jobs,
                             [](const TraceJob& j) { return j.message_mib > 0 && j.spec.gpus > 1; })
             ? ""
             : "no job of several GPUs has message_mib";
}

Reason links_across_nodes(const SettingsInUse& use) {
  const Reason none = links(use);
  return none.empty() ? across_nodes(use) : none;
}

Reason links_across_switches(const SettingsInUse& use) {
  const Reason none = links(use);
  return none.empty() ? across_switches(use) : none;
}

Reason switches(const SettingsInUse& use) {
  if (some_policy(use, sees_all)) return "";
  const auto reads = [](const PolicyInstance& p) { return p.traits.reads_switches; };
  const WorldConfig& world = use.config.world;
  return world.across_switches != world.across_nodes || some_policy(use, reads)
             ? across_nodes(use)
             : "no policy places by switches, and world.across_switches is world.across_nodes";
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

Reason large_gangs(const SettingsInUse& use) {
  if (Reason none = preemption(use); !none.empty()) return none;
  const PreemptionConfig& costs = use.config.preemption;
  if (!costs.large_gang) return "preemption.large_gang is null";
  if (costs.large_restore_s == costs.restore_s) return "large gangs take as long as others";
  return some_job(use, [&](const JobSpec& job) { return job.gpus > *costs.large_gang; })
             ? ""
             : fmt::format("no job wants more than {} GPUs", *costs.large_gang);
}

Reason unpaid_costs(const SettingsInUse& use) {
  if (Reason none = preemption(use); !none.empty()) return none;
  const PreemptionConfig& costs = use.config.preemption;
  return costs.save_s + costs.restore_s + costs.large_restore_s > 0 ? ""
                                                                    : "preemption takes no time";
}

Reason without_noise(const SettingsInUse& use) {
  return use.config.world.noise ? "" : "world.noise is false";
}

Reason named_starts(const SettingsInUse& use) {
  const std::vector<StartCost> costs =
      parse_start_costs(*use.config.cluster.start.costs, use.config.place("cluster.start.costs"));
  const auto named = [&](const TraceJob& job) {
    return use.keys != nullptr && job.key != kUnknownWorkload &&
           find_start_cost(costs, use.keys->text(job.key)) != nullptr;
  };
  return std::ranges::any_of(use.trace.jobs, named) ? "" : "no job is of one of its workloads";
}

Reason start_sigma(const SettingsInUse& use) {
  const StartConfig& start = use.config.cluster.start;
  const bool free = start.cost_s == 0 && (!start.costs || !named_starts(use).empty());
  return free ? "starts cost nothing" : without_noise(use);
}

Reason notice_sigma(const SettingsInUse& use) {
  return use.config.control.notice_s == 0 ? "control.notice_s is 0" : without_noise(use);
}

Reason longer_rounds(const SettingsInUse& use) {
  return use.config.control.round_s ? "" : "control.round_s is null";
}

Reason round_sigma(const SettingsInUse& use) {
  return use.config.control.round_s ? without_noise(use) : longer_rounds(use);
}

Reason stragglers(const SettingsInUse& use) {
  return use.config.world.straggler_speed == 1 ? "world.straggler_speed is 1" : without_noise(use);
}

Reason straggler_speed(const SettingsInUse& use) {
  return use.config.world.stragglers == 0 ? "world.stragglers is 0" : without_noise(use);
}

Reason starts(const SettingsInUse& use) {
  const auto joins = [](const PolicyInstance& p) {
    return p.traits.plans_groups || p.traits.joins_if_told || p.traits.sees_all;
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
    KeyRule{"workload.adaptivity", adaptivity},
    KeyRule{"workload.interference", across_nodes},
    KeyRule{"workload.expected_start_s", expected_starts},
    KeyRule{"workload.refit_s", refit},
    KeyRule{"workload.order", arrivals},
    KeyRule{"workload.profiles", drawn_profiles},
    KeyRule{"cluster.nodes_per_switch", switches},
    KeyRule{"cluster.gpu_types", own_gpu_types},
    KeyRule{"cluster.gpu_memory_mib", gpu_memory},
    KeyRule{"cluster.cpu_milli_per_node", pods},
    KeyRule{"cluster.memory_mib_per_node", pods},
    KeyRule{"cluster.oom.ramp_s", memory_demand},
    KeyRule{"cluster.oom.retries", memory_demand},
    KeyRule{"cluster.start.costs", named_starts},
    KeyRule{"cluster.start.sigma", start_sigma},
    KeyRule{"world.fallback", fallback},
    KeyRule{"world.effort", world_effort},
    KeyRule{"world.noise", noise},
    KeyRule{"world.across_nodes", across_nodes},
    KeyRule{"world.across_switches", across_switches},
    KeyRule{"world.gbps_in_node", links},
    KeyRule{"world.gbps_across_nodes", links_across_nodes},
    KeyRule{"world.gbps_across_switches", links_across_switches},
    KeyRule{"world.job_sigma", without_noise},
    KeyRule{"world.run_sigma", without_noise},
    KeyRule{"world.stragglers", stragglers},
    KeyRule{"world.straggler_speed", straggler_speed},
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
    KeyRule{"preemption.large_gang", large_gangs},
    KeyRule{"preemption.large_restore_s", large_gangs},
    KeyRule{"preemption.adds_up", unpaid_costs},
    KeyRule{"control.start", starts},
    KeyRule{"control.plan", plans},
    KeyRule{"control.notice_sigma", notice_sigma},
    KeyRule{"control.round_per_start_s", longer_rounds},
    KeyRule{"control.round_sigma", round_sigma},
    KeyRule{"measure.skip_first", warm_up},
    KeyRule{"measure.skip_last", cool_down},
};

// Parameters

bool is_default(const ParameterSpec& spec, const ParameterValue& value) {
  const auto* const texts = std::get_if<std::vector<std::string>>(&value);
  return value == spec.fallback || (texts != nullptr && texts->empty());
}

Reason without_effect(const SettingsInUse& use, const PolicyInstance& policy,
                      const Parameters& parameters, const ParameterSpec& spec) {
  const JobSpec& first = use.trace.jobs.front().spec;
  ParameterContext context{parameters, spec};
  context.max_jobs_per_gpu = use.config.cluster.max_jobs_per_gpu.value_or(0);
  context.jobs = use.trace.jobs.size();
  context.nodes = use.cluster.spec.nodes.size();
  context.gpu_types = use.cluster.spec.models().size();
  context.gangs = some_job(use, [](const JobSpec& job) { return job.gpus > 1; });
  context.elastic = some_job(use, [](const JobSpec& job) { return job.gpus_max > 0; });
  context.jobs_differ = some_job(use, [&](const JobSpec& job) {
    return job.gpus != first.gpus || job.gpu_models != first.gpu_models;
  });
  context.rounds = runs_in_rounds(use.config);
  context.knows_memory = memory_demand(use).empty();
  context.services = use.config.workload.services.has_value();
  context.estimates_run_times = use.config.estimates.duration != EstimateKind::kNone;
  context.believes_by_clusters = use.beliefs.by_clusters() && !policy.granted_truth;
  return spec.only_where(context);
}

void note_unused_parameters(const SettingsInUse& use, Notes& notes) {
  for (const PolicyInstance& policy : use.policies) {
    const Parameters parameters = given_parameters(policy);
    for (const ParameterSpec& spec : policy.entry->parameters) {
      const auto given = policy.config.settings.find(std::string(spec.name));
      if (given == policy.config.settings.end() || spec.only_where == nullptr ||
          is_default(spec, given->second)) {
        continue;
      }
      note_unused(notes, fmt::format("{} of {}", spec.name, policy.label),
                  without_effect(use, policy, parameters, spec));
    }
  }
}

}  // namespace
}  // namespace setting_rules

Notes unused_settings(const SettingsInUse& use) {
  namespace rules = setting_rules;
  Notes notes;
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
    rules::note_unused(notes, key, rule->without_effect(use));
  }
  rules::note_unused_parameters(use, notes);
  return notes;
}

}  // namespace corun::inline runner
