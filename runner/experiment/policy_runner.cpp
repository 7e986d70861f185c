#include "runner/experiment/policy_runner.hpp"

#include <algorithm>
#include <cmath>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "models/truth_belief.hpp"
#include "runner/experiment/engine_options.hpp"
#include "runner/experiment/job_views.hpp"
#include "runner/experiment/observed_policy.hpp"
#include "sim/base/nan.hpp"
#include "sim/engine/control_loop.hpp"
#include "sim/engine/round_backend.hpp"
#include "sim/engine/simulated_backend.hpp"
#include "sim/error.hpp"

namespace corun::inline runner {

namespace {

/// Solo times of the jobs on a GPU type.
std::vector<Duration> solo_times(const Trace& trace, const World& world, const GpuType& type) {
  const JobsOnTypes* on_types = world.on_types();
  std::vector<Duration> solo;
  solo.reserve(trace.jobs.size());
  for (std::size_t j = 0; j < trace.jobs.size(); ++j) {
    const double speed = on_types == nullptr
                             ? type.speed
                             : on_types->alone(static_cast<JobId>(j), type, std::nullopt).speed;
    solo.push_back(
        Duration{std::llround(static_cast<double>(trace.jobs[j].spec.work.count()) / speed)});
  }
  return solo;
}

/// The nodes of one virtual cluster.
ClusterSpec nodes_of(const ClusterSpec& whole, std::size_t first, std::int64_t count) {
  ClusterSpec part = whole;
  const auto begin = whole.nodes.begin() + static_cast<std::ptrdiff_t>(first);
  part.nodes.assign(begin, begin + static_cast<std::ptrdiff_t>(count));
  return part;
}

/// A rule of the control loop was broken.
struct RunFailed {
  std::string reason;
};

/// Shows the records of a finished run to a sink, jobs by JobId.
void show(const RunRecord& record, RunSink& sink) {
  for (std::size_t j = 0; j < record.jobs.size(); ++j) {
    sink.job(static_cast<JobId>(j), record.jobs[j]);
  }
  for (const EpisodeRecord& episode : record.episodes) sink.episode(episode);
}

/// What policies reckon with: the usual cost of a start comes on top.
PreemptionLoss preemption_loss(const Config& config) {
  const PreemptionConfig& costs = config.preemption;
  const double start_s = config.cluster.start.cost_s;
  PreemptionLoss loss{costs.save_s + costs.restore_s + start_s, costs.lost_work};
  if (costs.large_gang) loss.large_gang = static_cast<int>(*costs.large_gang);
  loss.large_seconds = costs.save_s + costs.large_restore_s + start_s;
  return loss;
}

}  // namespace

PolicyRunner::PolicyRunner(const Config& config, const Cluster& cluster, const WorldBuilder& worlds,
                           const BeliefBuilder& beliefs, const ServiceBuilder& services,
                           const WorkloadKeys* keys, std::string trace_place)
    : config_(config),
      cluster_(cluster),
      worlds_(worlds),
      beliefs_(beliefs),
      services_(services),
      keys_(keys),
      trace_place_(std::move(trace_place)) {
  if (const auto& costs = config.cluster.start.costs) {
    costs_by_workload_ = parse_start_costs(*costs, config.place("cluster.start.costs"));
  }
}

/// By job; empty if starts cost nothing.
std::vector<Duration> PolicyRunner::start_costs(const Trace& trace) const {
  const double usual_s = config_.cluster.start.cost_s;
  std::vector<Duration> costs;
  if (usual_s == 0 && costs_by_workload_.empty()) return costs;
  costs.reserve(trace.jobs.size());
  for (const TraceJob& job : trace.jobs) {
    const StartCost* own = keys_ == nullptr || job.key == kUnknownWorkload
                               ? nullptr
                               : find_start_cost(costs_by_workload_, keys_->text(job.key));
    costs.push_back(from_seconds(own == nullptr ? usual_s : own->seconds));
  }
  return costs;
}

std::unique_ptr<Policy> PolicyRunner::make_policy(const SharedRun& shared,
                                                  const PolicyInstance& policy, const World& world,
                                                  const std::atomic<bool>* stop,
                                                  const JobTuning* tuning) const {
  const Trace& trace = shared.trace;
  // A policy with rounds of its own cannot foresee the ends of rounds that vary.
  const bool passes_end_rounds =
      runs_in_rounds(config_) || !round_noise(config_, shared.seeds).none();
  PolicyContext context{
      parameters_of(policy, config_, trace, beliefs_.initial_knowledge().clusters()),
      nullptr,
      shared.seeds.choices,
      config_.control.plan == PlanMode::kOnce,
      stop,
      preemption_loss(config_),
      passes_end_rounds ? from_seconds(config_.control.round_s.value()) : Duration::zero()};
  const bool fitted = policy.needs == PolicyNeeds::kFittedAllocations ||
                      (policy.entry->takes_allocations && !policy.granted_truth);
  if (policy.needs == PolicyNeeds::kAllocations ||
      (policy.entry->takes_allocations && policy.granted_truth)) {
    context.allocations = world.allocation_truth();
  } else if (fitted) {
    // What jobs measure to tune themselves is what they report.
    const AllocationBelief* truth = world.allocation_truth();
    if (tuning != nullptr) {
      context.allocations = &tuning->belief();
      context.allocations_learn = true;
    } else if (truth != nullptr) {
      context.fitted = truth->fitted();
    }
  }
  if (policy.granted_truth && policy.needs != PolicyNeeds::kAllocations) {
    context.belief = std::make_unique<TruthBelief>(
        world, solo_times(trace, world, cluster_.spec.nodes.front().gpu), config_.world.noise);
  } else if (policy.needs == PolicyNeeds::kBelief) {
    context.belief =
        beliefs_.belief(trace, shared.prior, job_views(estimates(shared, policy), trace));
  }
  return policy.entry->make(std::move(context));
}

JobEstimates PolicyRunner::estimates(const SharedRun& shared, const PolicyInstance& policy) const {
  JobEstimates all{config_.estimates, shared.seeds.estimates};
  const ProfilingMode mode = config_.profiling.mode;
  const bool alone_first = mode == ProfilingMode::kEpoch || mode == ProfilingMode::kMinute;
  const bool by_clusters =
      policy.needs == PolicyNeeds::kBelief && !policy.granted_truth && beliefs_.by_clusters();
  return alone_first && (policy.traits.measures_profiles || by_clusters)
             ? with_measured_profiles(all)
             : all;
}

SubmitWindow PolicyRunner::measured_window(const Workload& workload) const {
  const auto jobs = static_cast<double>(workload.arrivals.size());
  const auto submit = [&](std::size_t place) {
    return workload.jobs[index(workload.arrivals[place])].submit;
  };
  SubmitWindow window;
  if (const double first = std::floor(config_.measure.skip_first * jobs); first > 0) {
    window.from = submit(static_cast<std::size_t>(first));
  }
  if (const double last = std::floor(config_.measure.skip_last * jobs); last > 0) {
    window.to = submit(workload.arrivals.size() - 1 - static_cast<std::size_t>(last));
  }
  return window;
}

PolicyRun PolicyRunner::run(const SharedRun& shared, std::span<const JobId> arrivals,
                            const PolicyInstance& policy, const RunObservation& observation) const {
  const Workload workload = workload_of(shared.trace, arrivals);
  const SubmitWindow window = measured_window(workload);
  // Records of virtual clusters must be kept until they are combined.
  const bool collects = !observation.keep_records && cluster_.virtual_clusters.empty();
  MetricsCollector collector(workload.jobs.size(), window);
  LevelSlices slices(arrivals.empty() ? Time{0} : workload.jobs[index(arrivals[0])].submit,
                     cluster_.spec.gpu_count());
  PolicyRun run;
  try {
    run = cluster_.virtual_clusters.empty()
              ? run_cluster(cluster_.spec, shared, arrivals, policy, {observation, slices},
                            collects ? &collector : nullptr)
              : run_parts(shared, arrivals, policy, {observation, slices});
  } catch (RunFailed& failed) {
    run.failure = std::move(failed.reason);
    run.metrics.fill(kNaN);
    return run;
  }
  if (observation.details.slices) run.details.slices = slices.records();
  if (!collects) show(run.record, collector);
  if (observation.count_jct) {
    for (const double jct : collector.jct()) {
      if (!std::isnan(jct)) run.jct.add(jct);
    }
  }
  run.elastic = collector.elastic();
  run.metrics = std::move(collector).finish(run.record);
  if (!observation.keep_records) {
    run.record.jobs = {};
    run.record.episodes = {};
    run.record.probes = {};
  }
  return run;
}

PolicyRun PolicyRunner::run_parts(const SharedRun& shared, std::span<const JobId> arrivals,
                                  const PolicyInstance& policy, const Watched& watched) const {
  const RunObservation& observation = watched.observation;
  PolicyRun run;
  run.record.jobs.resize(shared.trace.jobs.size());
  const std::vector<TracePart> parts =
      split_by_virtual_cluster(shared.trace, arrivals, cluster_.virtual_clusters);
  std::size_t first_node = 0;
  for (std::size_t v = 0; v < parts.size(); ++v) {
    const std::int64_t nodes = cluster_.virtual_clusters[v].nodes;
    const ClusterSpec cluster = nodes_of(cluster_.spec, first_node, nodes);
    first_node += static_cast<std::size_t>(nodes);
    EventLog log;
    RunObservation observed = observation;
    if (observation.log != nullptr) observed.log = &log;
    const SharedRun part_of{parts[v].trace, shared.seeds, shared.prior};
    PolicyRun part = run_cluster(cluster, part_of, parts[v].arrivals, policy,
                                 {observed, watched.slices}, nullptr);
    if (observation.log != nullptr) {
      renumber(log, parts[v], run.record.gpu_count);
      observation.log->insert(observation.log->end(), log.begin(), log.end());
    }
    add_details(run.details, std::move(part.details), parts[v], run.record.gpu_count);
    add_part(run.record, std::move(part.record), parts[v]);
    run.decide_s += part.decide_s;
    run.longest_decision_s = std::max(run.longest_decision_s, part.longest_decision_s);
    run.pass_times.add(part.pass_times);
    run.losses.add(part.losses);
  }
  sort_by_end(run.record);
  sort_details(run.details, observation.details);
  if (observation.log != nullptr) std::ranges::stable_sort(*observation.log, {}, &LogEntry::at);
  return run;
}

void PolicyRunner::refuse_colocating(const PolicyInstance& policy) const {
  if (!runs_in_rounds(config_) || !policy.traits.always_colocates) return;
  throw InputError(policy.place, "policy '" + policy.label +
                                     "' places jobs beside running ones, and control.mode: rounds "
                                     "starts whole groups on empty GPUs; leave it out");
}

PolicyRun PolicyRunner::run_cluster(const ClusterSpec& cluster, const SharedRun& shared,
                                    std::span<const JobId> arrivals, const PolicyInstance& policy,
                                    const Watched& watched, RunSink* sink) const {
  const RunObservation& observation = watched.observation;
  refuse_colocating(policy);
  const Trace& trace = shared.trace;
  const Workload workload = workload_of(trace, arrivals);
  const std::unique_ptr<World> world = worlds_.world(trace);
  const AllocationSpeed* const speeds = world->by_allocation();
  const std::unique_ptr<JobTuning> tuning = speeds == nullptr ? nullptr : speeds->tuning();
  const std::unique_ptr<Policy> inner =
      make_policy(shared, policy, *world, observation.stop, tuning.get());
  PolicyRun run;
  ObservedPolicy observed(*inner, run, observation);
  const std::vector<ServicePlan> plans = services_.plans(shared.seeds.requests);
  const std::vector<int> service_of = services_of(trace);
  std::optional<ServiceRun> services;
  if (!plans.empty()) {
    services.emplace(plans, service_of, ServiceRunOptions{.seed = shared.seeds.requests});
  }

  const auto run_on = [&](auto backend) {
    ControlOptions control = control_options(config_);
    if (!runs_in_rounds(config_)) control.round_noise = round_noise(config_, shared.seeds);
    JobSource jobs =
        job_source(estimates(shared, policy), trace, world->on_types(), cluster_.spec.types());
    if (services) {
      jobs.job_view = [&, inner_view = std::move(jobs.job_view)](JobId job) {
        JobView view = inner_view(job);
        const int service = service_of[index(job)];
        if (service >= 0) view.service = services->view(static_cast<std::uint32_t>(service));
        return view;
      };
    }
    ControlLoop loop(backend, {observed, policy.label, policy.traits}, std::move(jobs), control);
    std::optional<DetailRecorder> details;
    if (observation.details.any()) {
      details.emplace(cluster, workload, inner->belief(), observation.details,
                      observation.details.slices ? &watched.slices : nullptr);
    }
    std::size_t passes = 0;
    try {
      passes = loop.run(observation.log, details ? &*details : nullptr);
    } catch (const PolicyError& e) {
      throw RunFailed{fmt::format("{}; at {:.10g} s, seed {}", e.what(), to_seconds(backend.now()),
                                  shared.seeds.choices)};
    }
    observed.end_of_run();
    if (details) run.details = details->take();
    run.record = backend.take_record();
    run.record.passes = passes;
  };
  try {
    if (runs_in_rounds(config_)) {
      run_on(RoundBackend(cluster, workload, *world, round_options(config_, shared.seeds)));
      if (sink != nullptr) show(run.record, *sink);
    } else {
      SimulationOptions options = simulation_options(config_, shared.seeds);
      options.noise.start_cost = start_costs(trace);
      options.tuning = tuning.get();
      options.sink = sink;
      if (services) options.services = &*services;
      run_on(SimulatedBackend(cluster, workload, *world, options));
    }
  } catch (const PolicyError& e) {
    throw RunFailed{e.what()};
  } catch (const InputError& e) {
    throw InputError(trace_place_, e.what());
  }
  if (services) run.services = services->take();
  return run;
}

void PolicyRunner::check(const SharedRun& shared, const PolicyInstance& policy) const {
  refuse_colocating(policy);
  const auto check_part = [&](const SharedRun& part) {
    const std::unique_ptr<World> world = worlds_.world(part.trace);
    make_policy(part, policy, *world, nullptr);
  };
  if (cluster_.virtual_clusters.empty()) {
    check_part(shared);
    return;
  }
  for (const TracePart& part :
       split_by_virtual_cluster(shared.trace, {}, cluster_.virtual_clusters)) {
    check_part({part.trace, shared.seeds, shared.prior});
  }
}

}  // namespace corun::inline runner
