#include "runner/config/scope.hpp"

#include <algorithm>
#include <array>
#include <vector>

#include <fmt/format.h>

#include "sim/base/text.hpp"

namespace corun::inline runner {

namespace {

using enum Modelled;

constexpr auto kTopics = std::to_array<Topic>({
    {"sharing", "colocation co-location packing corun co-run interference time-slicing mps", kYes,
     "any number of jobs share a GPU, and the world gives the speed of each beside the others",
     "cluster.sharing cluster.max_jobs_per_gpu world.model", "docs/models.md"},
    {"gangs", "gang distributed multi-gpu data-parallel", kYes,
     "a job of several GPUs starts and ends on all of them at once", "gpus control.start",
     "docs/formats.md"},
    {"heterogeneity", "heterogeneous gpu-types type-speeds", kYes,
     "a job has a speed and a demand of memory on each GPU type: measured, predicted or scaled",
     "cluster.machines workload.gpu_type workload.solo_times gpu_models", "docs/gpus.md"},
    {"preemption", "checkpoint suspend resume restart", kYes,
     "a job leaves its GPUs and starts again: time to save, to load, and lost work",
     "preemption.save_s preemption.restore_s preemption.lost_work", "docs/configuration.md"},
    {"out of memory", "oom memory-limit gpu-memory", kYes,
     "a job above the memory limit fails a while after its start and is submitted again",
     "cluster.oom.ramp_s cluster.oom.retries mem_used_mib", "docs/configuration.md"},
    {"delays of real clusters", "noise straggler stragglers start-up startup setup jitter", kYes,
     "starts cost time, reports come late, rounds last longer, and speeds vary by job and run, "
     "with "
     "stragglers; corun validate fits them to a run on a real cluster",
     "cluster.start.cost_s world.job_sigma world.run_sigma world.stragglers control.notice_s "
     "control.round_per_start_s",
     "docs/validity.md"},
    {"estimates", "estimate user-estimates misprediction", kYes,
     "policies see run times, memory and utilisation with errors",
     "estimates.duration estimates.memory estimates.utilisation", "docs/configuration.md"},
    {"profiling", "probing profile-cost", kYes,
     "a job first runs alone, or beside another, to be measured", "profiling.mode probing.probes",
     "docs/configuration.md"},
    {"beliefs", "belief learning online exploration prefitted", kYes,
     "policies know estimated costs of co-runs and learn from those that have finished",
     "belief.model belief.initial", "docs/knowledge.md"},
    {"rounds", "round gavel-rounds", kYes, "the scheduler decides at the ends of rounds only",
     "control.mode control.round_s", "docs/configuration.md"},
    {"arrivals", "arrival poisson synthetic offered-load", kYes,
     "submit times of a trace, all at once, or drawn for an offered load",
     "submit_s workload.load workload.order", "docs/formats.md"},
    {"phases", "phase dynamic non-stationary adaptation", kYes,
     "a job may have parts of its work with profiles, memory and co-run costs of their own",
     "workload.phases", "docs/formats.md"},
    {"network", "nvlink topology infiniband bandwidth locality rack switch communication", kPartly,
     "a gang alone has a speed on one node, on several, and on several switches, by a factor or by "
     "the message of a step and the links, and the placement yarn keeps it under one; only jobs of "
     "source pollux slow each other on the network, on a shared node",
     "world.across_nodes world.across_switches message_mib world.gbps_across_nodes "
     "workload.interference cluster.nodes_per_switch",
     "docs/design.md"},
    {"elastic jobs", "elastic malleable resize scaling pollux goodput batch-size", kPartly,
     "optimus, pollux, sia, srsf-packed and policies of your own run a job on another number of "
     "GPUs and resize "
     "it, by Amdahl's law or by measured programs with their statistical efficiency; what policies "
     "believe of it is the truth, or for pollux, sia and srsf-packed fitted while jobs run; jobs "
     "take the batch "
     "that is truly best, or that their own fit names",
     "gpus_min gpus_max parallel_share workload.adaptivity workload.refit_s optimus pollux sia "
     "srsf-packed "
     "external",
     "docs/design.md"},
    {"migration", "migrate move defragmentation", kPartly,
     "a preempted job may start on other GPUs at the cost of preemption; srsf-packed moves jobs "
     "so; "
     "no policy moves a job that keeps running",
     "preemption.restore_s srsf-packed", "docs/policies.md"},
    {"priority", "priorities", kPartly,
     "kube-default takes jobs of larger priority first; policies of your own see it; others do not",
     "priority kube-default external", "docs/policies.md"},
    {"quota", "quotas tenant tenants user users borrowing", kPartly,
     "virtual clusters are fixed parts of the cluster with a queue each; idle GPUs are not lent, "
     "and "
     "users have no quota",
     "cluster.virtual_clusters virtual_cluster", "docs/configuration.md"},
    {"fairness", "fair finish-time-fairness themis max-min", kPartly,
     "max-min and finish-time-fairness divide time fairly, with weights; las serves the jobs first "
     "that were served least; results measure it (rho, jain)",
     "max-min finish-time-fairness las", "docs/policies.md"},
    {"backfill", "backfilling easy conservative", kPartly,
     "jobs may pass one that has no room, without reservation (fifo, blocking: backfill); "
     "srsf-packed "
     "reserves GPUs",
     "fifo srsf-packed", "docs/policies.md"},
    {"CPU and main memory", "cpu ram host-memory dataloader", kPartly,
     "policies that place pods keep to requests of CPU and main memory; a lack of them slows no "
     "job",
     "cpu_milli memory_mib cluster.cpu_milli_per_node kube-default", "docs/policies.md"},
    {"inference", "serving service request requests llm token tokens", kPartly,
     "corun service gives the latency of a service alone from its load of requests; on a cluster "
     "replicas of services run beside jobs and slow each other; live mode measures services beside "
     "jobs, and has none in a queue; inference without requests is a "
     "job "
     "of fixed length with a profile",
     "workload.services priority solo_s gpu_util_pct", "docs/services.md"},
    {"failures", "failure fault faults crash outage mtbf maintenance", kPartly,
     "jobs fail when memory runs out; nodes and GPUs never fail", "cluster.oom.retries",
     "docs/configuration.md"},
    {"deadlines", "deadline slo slos sla latency", kPartly,
     "max-throughput keeps deadlines that follow from run times (slo); jobs of a trace have none, "
     "and "
     "results have percentiles of JCT and the stretch",
     "max-throughput", "docs/policies.md"},
    {"price", "prices cloud spot billing budget dollars", kPartly,
     "max-throughput counts steps per price of a GPU type; results have no costs: multiply the GPU "
     "time (busy_s) by a price",
     "max-throughput", "docs/policies.md"},
    {"MIG", "slice slices slicing partition partitioning instance", kNo,
     "a GPU has no slices. Describe a slice as a GPU type of its own (cluster.gpu_types); no "
     "policy "
     "changes them",
     "", "docs/gpus.md"},
    {"MPS shares", "sm-share percentage active-thread-percentage", kNo,
     "no policy sets a job's share of the SMs. A model reads measured shares (share_a) as a "
     "feature",
     "", "docs/models.md"},
    {"energy", "power watt watts carbon dvfs frequency joule", kNo,
     "no power is modelled. Busy GPU time and utilisation over time are in the results", "",
     "docs/results.md"},
    {"autoscaling", "autoscale autoscaler scale-out", kNo,
     "a cluster has the same nodes from start to end. Sweep cluster.nodes", "", "docs/sweeps.md"},
    {"dependencies", "dependency workflow workflows dag", kNo,
     "jobs do not wait for others. Give submit times that hold the order", "", "docs/formats.md"},
    {"cancellation", "cancel cancelled kill killed timeout walltime time-limit", kNo,
     "jobs run to their end, and a log's run time is where they ended. Choose jobs by state "
     "(--states)",
     "", "docs/formats.md"},
    {"storage", "disk data-loading dataset-cache io", kNo,
     "reading data is a part of the measured run time", "", "docs/formats.md"},
});

/// Lower case, with '-' for '_' and ' '.
std::string plain(std::string_view word) {
  std::string text = lower_case(word);
  std::ranges::replace_if(
      text, [](char c) { return c == '_' || c == ' '; }, '-');
  return text;
}

bool has_word(const Topic& topic, std::string_view word) {
  if (plain(topic.name) == word) return true;
  const std::string words = fmt::format(" {} ", topic.words);
  return !word.empty() && words.find(fmt::format(" {} ", word)) != std::string::npos;
}

const Topic* topic_of(std::string_view word) {
  const auto at = std::ranges::find_if(kTopics, [&](const Topic& t) { return has_word(t, word); });
  return at == kTopics.end() ? nullptr : &*at;
}

}  // namespace

std::string_view name_of(Modelled modelled) {
  constexpr std::array<std::string_view, 3> kNames{"yes", "partly", "no"};
  return kNames[static_cast<std::size_t>(modelled)];
}

std::span<const Topic> topics() { return kTopics; }

const Topic* find_topic(std::string_view word) {
  const std::string whole = plain(word);
  if (const Topic* topic = topic_of(whole)) return topic;
  for (std::size_t from = 0; from < whole.size();) {
    const std::size_t to = std::min(whole.find_first_of("-.", from), whole.size());
    if (const Topic* topic = topic_of(std::string_view(whole).substr(from, to - from)))
      return topic;
    from = to + 1;
  }
  return nullptr;
}

std::string text_of(const Topic& topic) {
  constexpr std::array<std::string_view, 3> kHow{"modelled", "modelled in part", "not modelled"};
  return fmt::format("{}: {}: {} ({})", topic.name, kHow[static_cast<std::size_t>(topic.modelled)],
                     topic.text, topic.page);
}

}  // namespace corun::inline runner
