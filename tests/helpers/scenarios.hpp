#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "models/knowledge/cluster_mean_belief.hpp"
#include "models/truth_belief.hpp"
#include "policies/catalog.hpp"
#include "sim/rng.hpp"
#include "tests/helpers/builders.hpp"

/// Random small traces, and policies made by the catalogue.
namespace corun::test {

struct Scenario {
  ClusterSpec cluster;
  OwnedWorkload workload;
  RunOptions options;
  std::uint64_t seed = 0;
  /// For the scenario's OnTypesWorld; null: all jobs are equally fast on each type.
  std::shared_ptr<const JobsOnTypes> on_types = {};
};

struct ScenarioLimits {
  std::uint32_t jobs = 12;
  bool gangs = true;
  bool memory = true;
  bool profiling = true;
  bool probing = true;
  bool rounding = true;        ///< rounds and ticks
  bool whole_seconds = false;  ///< all times, and GPUs of equal speed
  bool any_limit = true;       ///< max_jobs_per_gpu may be set
  bool types = false;          ///< 1 to 3 GPU types; jobs name some and differ between them
};

/// The GPUs on which a job may run, of all nodes or of the largest node.
inline int allowed_gpus(const ClusterSpec& cluster, const JobSpec& job, bool of_one_node) {
  int gpus = 0;
  for (const NodeSpec& n : cluster.nodes) {
    if (!may_run_on(job_view_of(J(0), job), n.gpu)) continue;
    gpus = of_one_node ? std::max(gpus, n.gpus) : gpus + n.gpus;
  }
  return gpus;
}

/// Gives the nodes 1 to 3 types, numbered as in a part of a larger cluster, and half of the jobs restrictions
/// that can be met. Jobs that name types are not probed.
inline void add_types(Scenario& s, const ScenarioLimits& limits) {
  Rng rng(s.seed, Stream::kTest, 10);
  std::vector<std::uint32_t> ids{0, 1, 2, 3, 4};
  rng.shuffle(std::span(ids));
  const std::uint32_t count = 1 + rng.below(3);
  std::vector<GpuType> types;
  for (std::uint32_t t = 0; t < count; ++t) {
    const double speed = limits.whole_seconds ? 1 : 0.5 + rng.uniform();
    types.push_back({"type " + std::to_string(ids[t]), speed, 1000 + 250.0 * rng.below(3), ids[t]});
  }
  for (NodeSpec& n : s.cluster.nodes) n.gpu = types[rng.below(count)];
  bool restricted = false;
  for (JobSpec& j : s.workload.jobs) {
    if (rng.below(2) == 0) continue;
    for (const GpuType& t : types) j.gpu_models |= rng.below(2) << t.id;
    if (j.gpu_models == 0 || allowed_gpus(s.cluster, j, false) < j.gpus) j.gpu_models = 0;
    restricted |= j.gpu_models != 0;
  }
  if (restricted) s.options.control.probes = 0;
  if (rng.below(4) == 0) return;
  s.on_types = std::make_shared<DrawnOnTypes>(s.seed, limits.whole_seconds);
  if (rng.below(4) == 0) return;  // the policies know nothing of it
  s.options.on_types = views_on_types(*s.on_types, s.workload.jobs.size(), s.cluster);
}

inline Scenario random_scenario(std::uint64_t seed, const ScenarioLimits& limits = {}) {
  Rng rng(seed, Stream::kTest, 1);
  const auto chance = [&](double p) { return rng.uniform() < p; };
  const auto pick = [&](std::vector<double> values) {
    return values[rng.below(static_cast<std::uint32_t>(values.size()))];
  };
  Scenario s;
  s.seed = seed;
  const std::uint32_t nodes = 1 + rng.below(3);
  std::vector<NodeSpec> specs;
  for (std::uint32_t n = 0; n < nodes; ++n) {
    specs.push_back(node(static_cast<int>(1 + rng.below(2)),
                         limits.whole_seconds ? 1 : pick({1, 1, 1, 2, 0.5, 1.7}),
                         limits.whole_seconds ? 1000 : pick({1000, 1000, 1500})));
  }
  s.cluster = cluster(std::move(specs));
  s.cluster.oom = {seconds(1 + rng.below(5)), static_cast<int>(rng.below(3))};
  if (limits.any_limit && chance(0.4)) {
    s.cluster.max_jobs_per_gpu = static_cast<int>(1 + rng.below(4));
  }
  s.options.control.start = chance(0.5) ? StartMode::kJoin : StartMode::kGroup;
  if (limits.profiling && chance(0.4)) {
    s.options.control.profiling = static_cast<ProfilingMode>(1 + rng.below(3));
    s.options.simulation.profiling_keeps_progress = chance(0.5);
    s.options.simulation.profiling_minute = seconds(6);
  }
  if (limits.rounding && chance(0.2)) s.options.control.round = seconds(1 + rng.below(7));
  if (limits.rounding && chance(0.2)) s.options.simulation.tick = milliseconds(250);
  if (!limits.whole_seconds && chance(0.5)) s.options.simulation.noise_seed = seed;

  const bool gangs = limits.gangs && chance(0.5);
  const bool whole = limits.whole_seconds || chance(0.3);
  const double busy = pick({2, 20, 60});  // [s] from the first to the last arrival
  const auto time = [&](double at_least, double range) {
    const double t = at_least + range * rng.uniform();
    return whole ? seconds(static_cast<std::int64_t>(t)) : from_seconds(t);
  };
  std::vector<JobSpec> jobs;
  const std::uint32_t count = 1 + rng.below(limits.jobs);
  for (std::uint32_t i = 0; i < count; ++i) {
    JobBuilder j = job(time(1, 30));
    j.at(time(0, busy));
    if (gangs && chance(0.3)) {
      j.gpus(static_cast<int>(1 + rng.below(static_cast<std::uint32_t>(s.cluster.gpu_count()))));
    }
    if (limits.memory && chance(0.7)) j.memory(100 * (1 + rng.below(11)));
    if (chance(0.8)) j.util(100 * rng.uniform());
    if (chance(0.8)) j.reserved(100 * rng.uniform());
    if (chance(0.8)) j.accessed(100 * rng.uniform());
    if (chance(0.7)) j.epoch(time(1, 8));
    j.priority(static_cast<int>(rng.below(3)));
    jobs.push_back(j);
  }
  // Separate draws, so that the traces stay the same.
  Rng later(seed, Stream::kTest, 9);
  for (JobSpec& j : jobs) {
    if (j.gpus == 1 && later.below(2) == 0)
      j.gpu_milli = static_cast<int>(250 * (1 + later.below(3)));
  }
  // Small enough for a job to finish that is preempted again and again.
  const auto some = [&] { return milliseconds(125 * later.below(3)); };
  s.options.simulation.preemption = {some(), some(), 0.25 * later.below(3)};
  s.workload = workload(std::move(jobs));
  if (limits.probing && !gangs && s.options.control.start == StartMode::kGroup &&
      s.cluster.max_jobs_per_gpu != 1 && chance(0.5)) {
    s.options.control.probes = static_cast<int>(1 + rng.below(3));
    s.options.control.probe_length = time(0.1, 12);
    s.options.simulation.probes_keep_progress = chance(0.5);
  }
  if (limits.types) add_types(s, limits);
  return s;
}

inline KnowledgeBase small_knowledge() {
  KnowledgeBase kb(paper_clusters());
  kb.observe(0, 1, 0.4, 0.3, 0.3);
  kb.observe(0, 0, 0.9, 0.7, 0.1);
  kb.observe(1, 1, 0.1, 0.2, 0.45);
  kb.observe(1, 2, 0.5, 0.6, 0.2);
  kb.observe(2, 2, 1.1, 1.0, 0.05);
  return kb;  // clusters 0 and 2 were never observed together
}

/// As in an experiment: a cluster belief that learns, or the truth for policies that may read it.
inline std::unique_ptr<Policy> make_policy(const PolicyEntry& entry, const OwnedWorkload& w,
                                           const World& world, std::uint64_t seed,
                                           Parameters parameters, bool plan_once = false) {
  std::unique_ptr<Belief> belief;
  const PolicyNeeds needs = entry.needs_for(parameters);
  if (needs == PolicyNeeds::kBelief) {
    std::vector<ClusterAssignment> clusters;
    for (const JobSpec& j : w.jobs) clusters.push_back(assign_cluster(paper_clusters(), j.profile));
    belief = std::make_unique<ClusterMeanBelief>(small_knowledge(), std::move(clusters));
  } else if (needs == PolicyNeeds::kTruth) {
    std::vector<Duration> solo;
    for (const JobSpec& j : w.jobs) solo.push_back(j.work);
    belief = std::make_unique<TruthBelief>(world, std::move(solo), false);
  }
  return entry.make({std::move(parameters), std::move(belief), seed, plan_once});
}

inline std::unique_ptr<Policy> make_policy(const PolicyEntry& entry, const OwnedWorkload& w,
                                           const World& world, std::uint64_t seed) {
  return make_policy(entry, w, world, seed, Parameters(entry.parameters));
}

/// Starts a program from the configuration: its behaviour is that of the program (external_test.cpp).
inline bool needs_program(const PolicyEntry& entry) {
  return std::ranges::any_of(entry.parameters, [](const ParameterSpec& p) {
    return p.kind == ParameterKind::kTexts;  // a command has no default
  });
}

/// All policies that need nothing but their catalogue entry.
inline std::vector<PolicyEntry> built_in_policies() {
  std::vector<PolicyEntry> entries;
  for (const PolicyEntry& e : policy_catalog()) {
    if (!needs_program(e)) entries.push_back(e);
  }
  return entries;
}

/// Some policies place pods on one node, and kube-default uses its own number of replicas: traces that the
/// policy cannot run are left out, and replicas are set by the cluster.
inline bool can_run(const PolicyEntry& entry, const Scenario& s) {
  if (!entry.traits.one_node) return true;
  return std::ranges::all_of(s.workload.jobs, [&](const JobSpec& j) {
    return j.gpus <= allowed_gpus(s.cluster, j, true);
  });
}

inline Parameters parameters_for(const PolicyEntry& entry, const Scenario& s) {
  Parameters parameters(entry.parameters);
  Rng rng(s.seed, Stream::kTest, 2);
  for (const ParameterSpec& p : entry.parameters) {
    if (p.name == "replicas") {
      parameters.set("replicas", std::int64_t{std::min(s.cluster.max_jobs_per_gpu.value_or(3), 3)});
    } else if (p.name == "mode") {  // mostly with preemption, as srtf and las
      parameters.set(p.name, std::string(rng.below(8) == 0 ? "non-preemptive" : "preemptive"));
    } else if (p.kind == ParameterKind::kChoice) {
      parameters.set(
          p.name, std::string(p.choices[rng.below(static_cast<std::uint32_t>(p.choices.size()))]));
    } else if (p.name == "round_s" || p.name == "interval_s") {
      parameters.set(p.name, 10.0 + rng.below(10));
    } else if (p.name == "generations") {  // a search of pollux, with little effort
      parameters.set("generations", std::int64_t{2});
    } else if (p.name == "population") {
      parameters.set("population", std::int64_t{4});
    } else if (p.name == "reset_s") {
      parameters.set("reset_s", 10.0 * rng.below(4));
    } else if (p.name == "thresholds_s") {
      parameters.set("thresholds_s", std::vector<double>{10, 25});
    } else if (p.name == "services_s") {
      if (rng.below(2) == 0) parameters.set("services_s", std::vector<double>{3, 5, 20, 40});
    } else if (p.name == "promote_after") {
      parameters.set("promote_after", 8.0 * rng.below(2));
    } else if (p.name == "quantum_s") {
      parameters.set("quantum_s", 2.0 + 4.0 * rng.below(3));
    } else if (p.name == "threshold") {
      parameters.set("threshold", 0.5 * rng.below(5));
    } else if (p.name == "memory_per_job_mib") {
      parameters.set("memory_per_job_mib", 100.0 * (1 + rng.below(5)));
    } else if (p.name == "decision_s") {
      parameters.set("decision_s", 3.0 * rng.below(2));
    } else if (p.name == "capacity_pct") {
      parameters.set("capacity_pct", 50.0 * (1 + rng.below(4)));
    } else if (p.name == "epsilon") {
      parameters.set("epsilon", rng.below(2) * 0.5);
    }
  }
  return parameters;
}

inline RunResult run(const Scenario& s, const World& world, Policy& policy,
                     PolicyTraits traits = {}) {
  RunOptions options = s.options;
  options.traits = traits;
  return run(s.cluster, s.workload, world, policy, options);
}

}  // namespace corun::test
