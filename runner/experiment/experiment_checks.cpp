#include "runner/experiment/experiment_checks.hpp"

#include <algorithm>
#include <cstdint>
#include <span>
#include <string_view>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "runner/builders/elastic_builder.hpp"
#include "runner/inputs/node_fit.hpp"
#include "sim/base/text.hpp"
#include "traces/trace_statistics.hpp"

namespace corun::inline runner {

namespace {

std::string in_quotes(const std::string& name) { return "'" + printable(name) + "'"; }

/// "3 of 24".
std::string share_of(std::size_t some, const Trace& trace) {
  return std::to_string(some) + " of " + std::to_string(trace.jobs.size());
}

bool is_blank(const Profile& p) { return !p.gpu_util_pct && !p.mem_alloc_pct && !p.mem_time_pct; }

/// The warning about jobs without a profile; empty if there are none.
std::string missing_profiles(const Config& config, const BeliefBuilder& beliefs,
                             const std::vector<PolicyInstance>& policies, const Trace& trace) {
  std::size_t blank = 0;
  std::size_t alike = 0;  // blank, and of no given cluster
  for (const TraceJob& job : trace.jobs) {
    if (!is_blank(job.spec.profile)) continue;
    ++blank;
    alike += beliefs.labels_hold() && job.cluster != kUnknownCluster ? 0 : 1;
  }
  if (blank == 0) return "";
  std::string text = share_of(blank, trace) +
                     " jobs have no profile at all: models take average values for them, clusters "
                     "the first";
  const bool all = beliefs.by_clusters() && alike == trace.jobs.size() &&
                   beliefs.overrides().empty() && config.belief.model != BeliefKind::kTruth;
  std::vector<std::string_view> misled;
  for (const PolicyInstance& policy : policies) {
    if (policy.needs != PolicyNeeds::kBelief || policy.granted_truth) continue;
    if (!all || policy.traits.groups_alike_in_order) misled.push_back(policy.label);
  }
  if (alike == 0 || misled.empty()) return text;
  const std::string names = fmt::format("{}", fmt::join(misled, ", "));
  text +=
      all ? "; to " + names +
                " all jobs are then alike and are paired in the order of the trace, as by fcfs"
      : beliefs.by_clusters()
          ? "; to " + names + " these jobs are then alike"
          : "; to " + names + " they differ at most in workloads that belief.initial has measured";
  return text +
         ". Give the jobs' CSV the columns gpu_util_pct, mem_alloc_pct, mem_time_pct, or cluster; "
         "or "
         "set workload.profiles: jrs, or belief.model: measured with pairs of their workloads in "
         "belief.initial";
}

/// GPUs by virtual cluster of the trace and GpuType::id; without virtual clusters, of the whole cluster.
struct GpuCounts {
  using ByType = std::vector<std::int64_t>;
  std::vector<ByType> gpus;
  std::optional<Refusal> refusal;
};

/// The GPUs of `count` nodes from the `first` on, by GpuType::id.
GpuCounts::ByType gpus_by_type(const ClusterSpec& spec, std::size_t first, std::size_t count) {
  GpuCounts::ByType gpus(spec.models().size(), 0);
  for (const NodeSpec& node : std::span(spec.nodes).subspan(first, count)) {
    gpus[node.gpu.id] += node.gpus;
  }
  return gpus;
}

GpuCounts gpu_counts(const Config& config, const Cluster& cluster, const Trace& trace) {
  GpuCounts counts;
  if (cluster.virtual_clusters.empty()) {
    counts.gpus.push_back(gpus_by_type(cluster.spec, 0, cluster.spec.nodes.size()));
    return counts;
  }
  const std::string place = config.place("cluster.virtual_clusters");
  for (const std::string& name : trace.virtual_clusters) {
    std::size_t first = 0;
    const auto at = std::ranges::find_if(cluster.virtual_clusters, [&](const VirtualCluster& vc) {
      if (vc.name == name) return true;
      first += static_cast<std::size_t>(vc.nodes);
      return false;
    });
    if (at == cluster.virtual_clusters.end()) {
      std::vector<std::string_view> known;
      for (const VirtualCluster& vc : cluster.virtual_clusters) known.push_back(vc.name);
      counts.refusal = {place, "jobs of virtual cluster " + in_quotes(name) +
                                   " have no nodes: " + did_you_mean(name, known)};
      return counts;
    }
    counts.gpus.push_back(gpus_by_type(cluster.spec, first, static_cast<std::size_t>(at->nodes)));
  }
  if (counts.gpus.empty()) {
    counts.refusal = {place,
                      "the jobs of this workload belong to no virtual cluster; leave it out"};
  }
  return counts;
}

/// Advice for a cluster on which the largest job has no room.
std::string larger_cluster(const Config& config, const Trace& trace) {
  if (config.cluster.path || config.cluster.virtual_clusters || config.cluster.machines) {
    return "add nodes or GPUs";
  }
  std::int64_t most = 0;
  for (const TraceJob& job : trace.jobs) most = std::max<std::int64_t>(most, job.spec.gpus);
  if (most > kNodeGpus) most = (most + kNodeGpus - 1) / kNodeGpus * kNodeGpus;
  return fmt::format(
      "add nodes or GPUs: cluster.nodes, cluster.gpus_per_node, or corun replay --gpus {}", most);
}

/// Checks one job. `by_type`: GPUs that its queue has; `queue`: the queue's name for messages.
std::optional<Refusal> refusal_of_job(const Config& config, const BeliefBuilder& beliefs,
                                      const Trace& trace, const TraceJob& found,
                                      const GpuCounts::ByType& by_type, const std::string& queue) {
  const JobSpec& job = found.spec;
  const auto name = [&] { return "job " + in_quotes(found.name); };
  std::int64_t gpus = 0;
  std::string types;
  for (std::size_t t = 0; t < by_type.size(); ++t) {
    if (job.gpu_models != 0 && (job.gpu_models >> t & 1U) == 0) continue;
    gpus += by_type[t];
    if (job.gpu_models != 0) types += (types.empty() ? " of " : " or ") + trace.gpu_model_names[t];
  }
  if (job.gpus > gpus) {
    const char* key = config.cluster.path       ? "cluster.path"
                      : config.cluster.machines ? "cluster.machines"
                                                : "cluster.nodes";
    return Refusal{config.place(key), name() + " needs " + std::to_string(job.gpus) +
                                          " GPUs at once" + printable(types) + ", the " + queue +
                                          " has " + std::to_string(gpus) + "; " +
                                          larger_cluster(config, trace)};
  }
  const int clusters = beliefs.initial_knowledge().clusters();
  if (beliefs.labels_hold() && found.cluster >= clusters) {
    return Refusal{config.place("workload.path"),
                   name() + " is of cluster " + std::to_string(found.cluster) +
                       ", expected clusters 0 to " + std::to_string(clusters - 1) +
                       " or none given"};
  }
  if (job.gpu_models != 0 && config.probing.probes > 0) {
    return Refusal{config.place("probing.probes"),
                   name() + " names GPU types: jobs that are probed run on any; leave probing out"};
  }
  if (job.gpus > 1 && config.probing.probes > 0) {
    return Refusal{config.place("probing.probes"),
                   name() + " asks for " + std::to_string(job.gpus) +
                       " GPUs: jobs that are probed want one GPU each; leave probing out"};
  }
  return std::nullopt;
}

/// The refusal of jobs that change or are elastic beside control that they do not have; nothing if there is none.
std::optional<Refusal> refusal_of_change(const Config& config, const Trace& trace) {
  const auto refuse = [&](const std::string& what) {
    const bool rounds = config.control.mode == ControlMode::kRounds;
    return Refusal{config.place(rounds ? "control.mode" : "control.tick_s"),
                   what + (rounds ? " are for control.mode: events, found rounds"
                                  : " are for jobs without clock ticks, found control.tick_s")};
  };
  const bool rounds = config.control.mode == ControlMode::kRounds;
  if (!trace.phases.empty() && (rounds || config.control.tick_s)) return refuse("phases of jobs");
  if (!rounds) return std::nullopt;
  if (std::ranges::any_of(trace.jobs, [](const TraceJob& j) { return j.spec.gpus_max > 0; })) {
    return refuse("elastic jobs");
  }
  const WorldConfig& w = config.world;
  if (w.across_nodes < 1 || w.across_switches < 1 || w.gbps_in_node || w.gbps_across_nodes ||
      w.gbps_across_switches) {
    return refuse("speeds across nodes");
  }
  return std::nullopt;
}

/// Of jobs that may run on several GPU types, how their run times on all but one are known.
struct Converted {
  bool any = false;
  float type_sigma = 0;  ///< largest, as SoloPrediction
  float job_sigma = 0;
};

Converted converted_times(const Cluster& cluster, const Trace& trace, const JobTypeTable& table) {
  Converted found;
  for (const GpuType& type : cluster.spec.types()) {
    for (std::size_t j = 0; j < trace.jobs.size(); ++j) {
      const std::uint32_t models = trace.jobs[j].spec.gpu_models;
      if (models != 0 && (models >> type.id & 1U) == 0) continue;
      const JobTypeTable::Entry& entry = table.at(static_cast<JobId>(j), type);
      found.any |= entry.source == SoloSource::kScaled || entry.source == SoloSource::kAssumed;
      found.type_sigma = std::max(found.type_sigma, entry.type_sigma);
      found.job_sigma = std::max(found.job_sigma, entry.job_sigma);
    }
  }
  return found;
}

/// "V100-16GB (70 jobs), T4 (50)": of jobs whose run times were measured on the one type that each names.
std::string named_types(const Cluster& cluster, const Trace& trace, std::size_t& jobs) {
  std::vector<std::string> parts;
  for (const GpuType& type : cluster.spec.types()) {
    const auto count = std::ranges::count_if(trace.jobs, [&](const TraceJob& job) {
      return job.spec.gpu_models == std::uint32_t{1} << type.id;
    });
    if (count == 0) continue;
    parts.push_back(fmt::format("{} ({}{})", printable(type.name), count,
                                !parts.empty() ? ""
                                : count == 1   ? " job"
                                               : " jobs"));
    jobs += static_cast<std::size_t>(count);
  }
  return fmt::format("{}", fmt::join(parts, ", "));
}

}  // namespace

std::optional<Refusal> refusal_of_jobs(const Config& config, const Cluster& cluster,
                                       const BeliefBuilder& beliefs, const Trace& trace) {
  if (trace.jobs.empty()) {
    return Refusal{config.place("workload.path"), "the workload has no jobs"};
  }
  if (auto refusal = refusal_of_change(config, trace)) return refusal;
  GpuCounts counts = gpu_counts(config, cluster, trace);
  if (counts.refusal) return std::move(counts.refusal);
  const bool whole = cluster.virtual_clusters.empty();
  for (const TraceJob& job : trace.jobs) {
    const std::size_t queue = whole ? 0 : job.spec.virtual_cluster;
    const std::string name =
        whole ? "cluster" : "virtual cluster " + printable(trace.virtual_clusters[queue]);
    if (auto found = refusal_of_job(config, beliefs, trace, job, counts.gpus[queue], name)) {
      return found;
    }
  }
  for (const ClusterOverride& o : beliefs.overrides()) {
    if (std::ranges::find(trace.jobs, o.job, &TraceJob::name) != trace.jobs.end()) continue;
    return Refusal{o.place, "no job " + in_quotes(o.job) +
                                " in the workload: " + did_you_mean(o.job, names_of(trace))};
  }
  return std::nullopt;
}

std::optional<Refusal> refusal_of_labels(const Config& config,
                                         const std::vector<PolicyInstance>& policies,
                                         const Trace& trace) {
  const auto by_labels =
      std::ranges::find_if(policies, [](const PolicyInstance& p) { return p.traits.needs_labels; });
  if (by_labels == policies.end() || config.cluster.max_jobs_per_gpu == 1) return std::nullopt;
  const auto has_none = [](const TraceJob& job) { return !job.spec.profile.packing_label; };
  const auto first = std::ranges::find_if(trace.jobs, has_none);
  if (first == trace.jobs.end()) return std::nullopt;
  const auto some = static_cast<std::size_t>(std::ranges::count_if(trace.jobs, has_none));
  const WorkloadConfig& w = config.workload;
  const std::string cure =
      w.source != "lucid" ? "give the jobs as CSV with a column packing_label (0 tiny, 1 medium, "
                            "2 jumbo)"
      : w.labels          ? "add their workloads to " + printable(*w.labels, 200)
                          : "set workload.labels to a CSV job,label of their workloads";
  return Refusal{by_labels->place,
                 "policy '" + by_labels->label + "' packs by labels, and " + share_of(some, trace) +
                     " jobs have none, the first is " + in_quotes(first->name) + "; " + cure +
                     ", or set its label_sum to 4 (no label matters) or -1 (no job shares)"};
}

/// The labels of the policies that meet a condition, joined by commas.
template <typename Condition>
std::string labels_of(const std::vector<PolicyInstance>& policies, Condition condition) {
  std::string labels;
  for (const PolicyInstance& policy : policies) {
    if (condition(policy)) labels += (labels.empty() ? "" : ", ") + policy.label;
  }
  return labels;
}

/// The note on policies that place gangs by different rules; empty if none differ, or no gang has a choice.
std::string different_placement(const Cluster& cluster, const std::vector<PolicyInstance>& policies,
                                const Trace& trace) {
  const std::vector<NodeSpec>& nodes = cluster.spec.nodes;
  const bool choice = nodes.size() > 1 && std::ranges::any_of(nodes, [](const NodeSpec& node) {
                        return node.gpus > 1;
                      });
  if (!choice ||
      std::ranges::none_of(trace.jobs, [](const TraceJob& job) { return job.spec.gpus > 1; })) {
    return "";
  }
  const std::string near =
      labels_of(policies, [](const PolicyInstance& p) { return p.traits.consolidates; });
  const std::string anywhere = labels_of(policies, [](const PolicyInstance& p) {
    return !p.traits.consolidates && !p.traits.one_node;
  });
  if (near.empty() || anywhere.empty()) return "";
  return near + " keep gangs on as few nodes as can be, or let them wait; " + anywhere +
         " take any GPUs, at no cost in speed: differences between the two come from that, too "
         "(`placement: anywhere` of fifo, sjf, srtf and las removes it)";
}

/// The note on policies that preempt at no cost; empty if none do.
std::string free_preemption(const Config& config, const std::vector<PolicyInstance>& policies) {
  const PreemptionConfig& lost = config.preemption;
  const StartConfig& start = config.cluster.start;
  const bool free = lost.save_s == 0 && lost.restore_s == 0 && lost.lost_work == 0 &&
                    start.cost_s == 0 && !start.costs;
  if (!free || config.control.mode == ControlMode::kRounds) return "";
  if (has_elastic_programs(config) && config.workload.start_s != 0.0) return "";
  const std::string labels =
      labels_of(policies, [](const PolicyInstance& p) { return p.traits.preempts; });
  if (labels.empty()) return "";
  return "preemption costs nothing under " + labels +
         ": set preemption.save_s, restore_s or lost_work";
}

std::string blind_to_speeds(const Cluster& cluster, const std::vector<PolicyInstance>& policies) {
  if (cluster.spec.models().size() < 2) return "";
  const std::string labels = labels_of(policies, [](const PolicyInstance& p) {
    return !p.traits.reads_speeds_on_types && !p.traits.sees_all;
  });
  if (labels.empty()) return "";
  return labels +
         " choose GPUs without regard to the speed of a job there; with placement: fastest, fifo, "
         "sjf, srtf and las take the fastest free type";
}

Notes notes_on_jobs(const Config& config, const Cluster& cluster, const BeliefBuilder& beliefs,
                    const std::vector<PolicyInstance>& policies, const Trace& trace) {
  Notes notes;
  const auto centres = static_cast<std::size_t>(std::ranges::count_if(
      trace.jobs, [](const TraceJob& job) { return job.spec.profile.imputed; }));
  if (trace.drawn_profiles > 0) {
    add_note(notes, NoteCode::kDrawnProfiles, "workload.profiles",
             share_of(trace.drawn_profiles, trace) +
                 " jobs have no profile of their own (imputed): one of a measured JRS job, "
                 "drawn by seed and job, stands in (workload.profiles: jrs)");
  }
  if (centres > 0) {
    add_note(notes, NoteCode::kClusterCentres, "",
             share_of(centres, trace) +
                 (beliefs.labels_hold()
                      ? " jobs have no published profile: their cluster's centre stands in "
                        "(imputed)"
                      : " jobs have no published profile: they count as cluster 0 with "
                        "infinite uncertainty without an override"));
  }
  if (!beliefs.overrides().empty()) {
    add_note(notes, NoteCode::kOverrides, "belief.overrides",
             share_of(beliefs.overrides().size(), trace) +
                 " jobs take their cluster or uncertainty from " + *config.belief.overrides);
  }
  add_note(notes, NoteCode::kDifferentPlacement, "", different_placement(cluster, policies, trace));
  add_note(notes, NoteCode::kFreePreemption, "preemption", free_preemption(config, policies));
  // Without sharing, profiles and memory change nothing.
  if (std::ranges::none_of(policies, [](const PolicyInstance& p) { return p.traits.shares; })) {
    return notes;
  }
  add_note(notes, NoteCode::kMissingProfiles, "",
           missing_profiles(config, beliefs, policies, trace));
  const auto unknown_memory = static_cast<std::size_t>(std::ranges::count_if(
      trace.jobs, [](const TraceJob& job) { return !job.spec.profile.mem_used_mib; }));
  if (unknown_memory > 0) {
    add_note(notes, NoteCode::kUnknownMemory, "",
             share_of(unknown_memory, trace) +
                 " jobs have no known memory demand: they cannot run out of memory");
  }
  return notes;
}

std::string overload_of(const Cluster& cluster, const Trace& trace, double reference_gpus) {
  Time first = kNever;
  Time last{0};
  double work_s = 0;
  for (const TraceJob& job : trace.jobs) {
    work_s += gpu_seconds(job.spec);
    first = std::min(first, job.spec.submit);
    last = std::max(last, job.spec.submit);
  }
  const double span_s = to_seconds(last - first);
  // Arrivals over a short span compared with the mean work are a batch.
  if (span_s * static_cast<double>(trace.jobs.size()) <= 4 * work_s) return "";
  const int gpus = cluster.spec.gpu_count();
  const double load = work_s / (span_s * reference_gpus);
  if (load <= 1) return "";
  return fmt::format(
      "the offered load is {:.2f} of what {} GPUs can do without sharing: queues grow "
      "with the length of the trace",
      load, gpus);
}

std::string run_times_of(const Config& config, const Cluster& cluster,
                         const std::vector<std::string>& measured_on, const std::string& reference,
                         const Trace& trace, const JobTypeTable* on_types) {
  const std::vector<std::string> models = cluster.spec.models();
  const double speed = config.cluster.gpu_speed;
  if (on_types != nullptr) {
    const std::string shown = reference.empty() ? "the trace's GPU type" : printable(reference);
    std::size_t named = 0;
    const std::string types = named_types(cluster, trace, named);
    std::string text = "run times alone are those of " + shown;
    if (named == trace.jobs.size()) {
      text = "run times alone were measured on the GPU type that the job names: " + types;
    } else if (named > 0) {
      text = fmt::format(
          "run times alone were measured on the GPU type that the job names, {}, and those of the "
          "other {} on {}",
          types, trace.jobs.size() - named, shown);
    }
    const Converted others = converted_times(cluster, trace, *on_types);
    if (others.any)
      text += "; on other types as measured, else scaled by bandwidth and peak of the types";
    if (others.any && config.world.noise && others.type_sigma + others.job_sigma > 0) {
      text += fmt::format(
          ", times a factor drawn in each replication (world.noise), of which the logarithm has "
          "a standard deviation of {:.2g} for a type and {:.2g} for a job",
          others.type_sigma, others.job_sigma);
    }
    return text;
  }
  if (models.size() > 1) {
    return fmt::format(
        "the {} GPU types differ in memory only: jobs run equally fast on all (cluster.gpu_speed "
        "{:g}){}",
        models.size(), speed,
        reference.empty() ? "; workload.gpu_type, the GPU type of their run times, would scale them"
                          : "");
  }
  if (measured_on.empty() || std::ranges::find(measured_on, models.front()) != measured_on.end()) {
    return "";
  }
  return fmt::format(
      "the GPU type {} sets the memory only: jobs run at {:g} times the speed of the trace's GPU "
      "(cluster.gpu_speed), and co-run costs are those of {}",
      printable(models.front()), speed, printable(fmt::format("{}", fmt::join(measured_on, ", "))));
}

std::string ticks_of(const Config& config) {
  const ControlConfig& control = config.control;
  if (!control.tick_s) return "";
  return fmt::format(
      "each J_c {} (control.tick_s {:g} s): ISD can exceed 0 without co-runners, most for short "
      "jobs",
      control.tick_rule == TickRule::kProgress ? "has a clock tick or two beyond the work"
                                               : "is rounded up to clock ticks",
      *control.tick_s);
}

std::vector<UnplaceablePods> unplaceable_pods(const Config& config, const Cluster& cluster,
                                              const std::vector<PolicyInstance>& policies,
                                              const Trace& trace) {
  const NodeFit nodes(cluster.spec);
  // A policy that is not bound to one node may spread gangs that no node can hold.
  const auto first_lack = [&](bool may_spread) -> std::optional<NodeLack> {
    for (const TraceJob& job : trace.jobs) {
      std::optional<NodeLack> lack = nodes.lack_of(job.spec);
      if (!lack || (may_spread && nodes.is_too_wide(job.spec))) continue;
      lack->what = "job " + in_quotes(job.name) + " " + lack->what;
      return lack;
    }
    return std::nullopt;
  };
  std::vector<UnplaceablePods> found;
  for (std::size_t p = 0; p < policies.size(); ++p) {
    const PolicyEntry& entry = *policies[p].entry;
    const PolicyTraits& traits = policies[p].traits;
    std::optional<NodeLack> lack;
    if (traits.one_node || traits.reads_requests) lack = first_lack(!traits.one_node);
    if (!lack) continue;
    const std::string key = config.cluster.path ? "" : lack->key;
    found.push_back({p,
                     lack->what + ", and " + std::string(entry.name) + " places a pod on one node",
                     key.empty() ? "add such nodes" : "raise cluster." + key});
  }
  return found;
}

}  // namespace corun::inline runner
