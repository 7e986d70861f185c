#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "policies/catalog.hpp"
#include "policies/parameters_of.hpp"
#include "policies/placement.hpp"
#include "policies/service_goal.hpp"

/// priority: services first, training as best effort.
///
/// A replica that its service wants starts at once: on an empty GPU, else on that of the training job that was served least,
/// which goes back to the queue. Training takes empty GPUs in the order of priority and submission, and then goes beside
/// replicas, one job to a replica, where the belief says that the goal is kept. When a service missed its goal in
/// the last interval, the jobs beside its replicas leave, and no job comes beside them for ten intervals.
///
/// With `scale` the number of replicas is that of a Kubernetes HorizontalPodAutoscaler ("Horizontal Pod Autoscaling", Kubernetes
/// 1.30): ceil(replicas x observed / target), unchanged within 10 % of the target, and down only to the most that it
/// was within 5 minutes. Observed is the utilisation, or the latency over its goal, of the last interval.
namespace corun::inline policies {

namespace {

enum class PriorityScale { kNone, kUtilisation, kLatency };
enum class PriorityBeside { kNone, kGoal, kAny };

struct PriorityOptions {
  PriorityScale scale = PriorityScale::kNone;
  double target = 0.6;
  PriorityBeside beside = PriorityBeside::kGoal;
  double margin = kGoalMargin;
};

constexpr const char* kNoServices = "the workload has no services";

std::string where_services(const ParameterContext& context) {
  return context.services ? "" : kNoServices;
}

const ParametersOf<PriorityOptions>& priority_parameters() {
  static const auto all =
      ParametersOf<PriorityOptions>()
          .choice("scale", &PriorityOptions::scale,
                  {{"none", PriorityScale::kNone},
                   {"utilisation", PriorityScale::kUtilisation},
                   {"latency", PriorityScale::kLatency}},
                  "what sets the number of replicas; none: the most that a service has")
          .only_where(where_services)
          .number("target", &PriorityOptions::target,
                  {0.01, 1, "utilisation, or share of the latency goal, that scale aims at"})
          .only_where([](const ParameterContext& c) -> std::string {
            return !c.services                              ? kNoServices
                   : c.parameters.choice("scale") == "none" ? "scale is none"
                                                            : "";
          })
          .choice("beside", &PriorityOptions::beside,
                  {{"none", PriorityBeside::kNone},
                   {"goal", PriorityBeside::kGoal},
                   {"any", PriorityBeside::kAny}},
                  "training beside replicas: none; where the latency goal is believed to be kept; "
                  "anywhere")
          .only_where(where_services)
          .number(
              "margin", &PriorityOptions::margin,
              {0, 10, "standard errors of the believed slowdown by which beside: goal is careful"})
          .only_where([](const ParameterContext& c) -> std::string {
            return !c.services                               ? kNoServices
                   : c.parameters.choice("beside") == "goal" ? ""
                                                             : "beside is not goal";
          });
  return all;
}

class PriorityPolicy final : public Policy {
 public:
  PriorityPolicy(const PriorityOptions& options, std::unique_ptr<Belief> belief)
      : options_(options), belief_(std::move(belief)) {}

  void decide(const ClusterView& view, std::vector<Decision>& out) override {
    const std::map<std::uint32_t, Replicas> services = look_at(view);
    for (const auto& [number, replicas] : services) {
      if (serve(view, replicas, out)) return;
    }
    for (const auto& [number, replicas] : services) {
      if (protect(view, replicas, out)) return;
    }
    train(view, out);
  }

  void corun_ended(const EpisodeOutcome& outcome) override {
    if (belief_ != nullptr) belief_->learn(outcome);
  }
  void probe_ended(const ProbeOutcome& outcome) override {
    if (belief_ != nullptr) belief_->learn_probe(outcome);
  }
  const Belief* belief() const override { return belief_.get(); }

 private:
  struct Placed {
    JobId job = kNoJob;
    GpuId gpu{};
  };
  struct Replicas {
    const ServiceView* service = nullptr;
    std::vector<Placed> running;
    std::vector<JobId> waiting;
  };
  /// What is remembered of a service.
  struct Memory {
    std::uint32_t seen = 0;          ///< intervals
    std::uint32_t protected_to = 0;  ///< intervals until which no job comes beside it
    std::array<int, 5> wanted{};     ///< in the last intervals: the stabilisation of 5 minutes
    int now = 0;
  };
  static constexpr std::uint32_t kProtected = 10;

  static std::map<std::uint32_t, Replicas> look_at(const ClusterView& view) {
    std::map<std::uint32_t, Replicas> services;
    for (std::size_t g = 0; g < view.gpus().size(); ++g) {
      for (const JobId id : view.gpus()[g].residents) {
        const ServiceView* service = view.job(id).service;
        if (service == nullptr) continue;
        services[service->service].service = service;
        services[service->service].running.push_back({id, GpuId{static_cast<std::uint32_t>(g)}});
      }
    }
    for (const JobId id : view.waiting()) {
      const ServiceView* service = view.job(id).service;
      if (service == nullptr) continue;
      services[service->service].service = service;
      services[service->service].waiting.push_back(id);
    }
    return services;
  }

  /// Replicas that the service is to have.
  int wanted(const Replicas& replicas) {
    const ServiceView& service = *replicas.service;
    if (options_.scale == PriorityScale::kNone || service.over) return service.most_replicas;
    Memory& memory = memory_[service.service];
    if (memory.now == 0) {
      memory.now = service.least_replicas;
      memory.wanted.fill(memory.now);
    }
    if (memory.seen == service.intervals) return memory.now;
    memory.seen = service.intervals;
    const double observed = options_.scale == PriorityScale::kUtilisation
                                ? service.busy
                                : service.latency_s / service.goal_s;
    const double ratio = observed / options_.target;
    constexpr double kTolerance = 0.1;
    int desired = memory.now;
    if (std::abs(ratio - 1) > kTolerance) {
      const double most = service.most_replicas;
      desired = static_cast<int>(std::ceil(std::min(most, service.replicas * ratio)));
    }
    desired = std::clamp(desired, service.least_replicas, service.most_replicas);
    memory.wanted[service.intervals % memory.wanted.size()] = desired;
    memory.now = std::max(desired, std::min(memory.now, *std::ranges::max_element(memory.wanted)));
    return memory.now;
  }

  /// Starts or stops a replica, if the service has too few or too many.
  bool serve(const ClusterView& view, const Replicas& replicas, std::vector<Decision>& out) {
    const auto many = static_cast<std::size_t>(wanted(replicas));
    if (replicas.running.size() > many) {
      const auto movable = std::ranges::find_if(replicas.running, [&](const Placed& placed) {
        return view.job(placed.job).started != view.now();
      });
      if (movable == replicas.running.end()) return false;
      out.emplace_back(Preempt{{movable->job}});
      return true;
    }
    if (replicas.running.size() == many || replicas.waiting.empty()) return false;
    const JobView& job = view.job(replicas.waiting.front());
    std::vector<GpuId> place = choose_empty_gpus(view, ask_of(job));
    if (place.empty()) place = make_room(view, job, out);
    if (place.empty()) return false;
    out.emplace_back(StartGroup{{job.id}, std::move(place)});
    return true;
  }

  /// The GPU of the training job that was served least, which leaves it; none if no job can leave.
  static std::vector<GpuId> make_room(const ClusterView& view, const JobView& job,
                                      std::vector<Decision>& out) {
    std::optional<std::pair<Duration, std::size_t>> least;
    bool fresh = false;
    for (std::size_t g = 0; g < view.gpus().size(); ++g) {
      const GpuState& gpu = view.gpus()[g];
      if (gpu.profiling || !may_run_on(job, view.gpu_type(GpuId{static_cast<std::uint32_t>(g)})))
        continue;
      Duration served{0};
      bool leaves = true;
      for (const JobId id : gpu.residents) {
        const JobView& resident = view.job(id);
        fresh |= resident.started == view.now() && resident.service == nullptr;
        leaves &= resident.service == nullptr && resident.started != view.now();
        served = later(served, resident.attained(view.now()));
      }
      if (leaves) least = std::min(least.value_or(std::pair(kNever, g)), std::pair(served, g));
    }
    if (!least) {
      // Jobs that started at this instant cannot leave at it.
      const Time soon = later(view.now(), std::chrono::seconds(1));
      if (fresh && view.next_wake() > soon) out.emplace_back(WakeAt{soon});
      return {};
    }
    const GpuId gpu{static_cast<std::uint32_t>(least->second)};
    out.emplace_back(Preempt{view.gpu(gpu).residents});
    return {gpu};
  }

  /// Takes jobs from beside the replicas of a service that missed its goal.
  bool protect(const ClusterView& view, const Replicas& replicas, std::vector<Decision>& out) {
    const ServiceView& service = *replicas.service;
    if (options_.beside != PriorityBeside::kGoal || service.intervals == 0) return false;
    if (service.latency_s <= service.goal_s) return false;
    memory_[service.service].protected_to = service.intervals + kProtected;
    std::vector<JobId> leaving;
    for (const Placed& placed : replicas.running) {
      for (const JobId id : view.gpu(placed.gpu).residents) {
        if (view.job(id).service == nullptr && view.job(id).started != view.now()) {
          leaving.push_back(id);
        }
      }
    }
    if (leaving.empty()) return false;
    std::ranges::sort(leaving);
    leaving.erase(std::unique(leaving.begin(), leaving.end()), leaving.end());
    out.emplace_back(Preempt{std::move(leaving)});
    return true;
  }

  /// Starts the first training job that finds a place.
  void train(const ClusterView& view, std::vector<Decision>& out) {
    std::vector<JobId> jobs;
    for (const JobId id : view.waiting()) {
      if (view.job(id).service == nullptr) jobs.push_back(id);
    }
    std::ranges::sort(jobs, {}, [&](JobId id) {
      const JobView& job = view.job(id);
      return std::tuple(-job.priority, job.submit, id);
    });
    std::set<GpuAsk> no_room;
    std::vector<Placed> open = open_replicas(view);
    for (const JobId id : jobs) {
      const JobView& job = view.job(id);
      const GpuAsk ask = ask_of(job);
      std::vector<GpuId> place;
      if (!no_room.contains(ask)) place = choose_empty_gpus(view, ask);
      if (place.empty()) no_room.insert(ask);
      if (place.empty() && job.gpus == 1) place = beside_replica(view, job, open);
      if (place.empty()) continue;
      out.emplace_back(StartGroup{{id}, std::move(place)});
      return;
    }
  }

  /// The replicas that are alone on their GPU and may have a co-runner.
  std::vector<Placed> open_replicas(const ClusterView& view) const {
    std::vector<Placed> open;
    if (options_.beside == PriorityBeside::kNone || view.max_jobs_per_gpu(2) < 2) return open;
    for (std::size_t g = 0; g < view.gpus().size(); ++g) {
      const GpuState& gpu = view.gpus()[g];
      if (gpu.residents.size() != 1) continue;
      const ServiceView* service = view.job(gpu.residents.front()).service;
      if (service == nullptr || service->over) continue;
      const auto at = memory_.find(service->service);
      if (at != memory_.end() && service->intervals < at->second.protected_to) continue;
      open.push_back({gpu.residents.front(), GpuId{static_cast<std::uint32_t>(g)}});
    }
    return open;
  }

  std::vector<GpuId> beside_replica(const ClusterView& view, const JobView& job,
                                    const std::vector<Placed>& open) const {
    for (const Placed& placed : open) {
      if (!may_run_on(job, view.gpu_type(placed.gpu))) continue;
      if (options_.beside == PriorityBeside::kGoal &&
          !keeps_goal_of_b(*view.job(placed.job).service, belief_->pair(job.id, placed.job),
                           options_.margin)) {
        continue;
      }
      return {placed.gpu};
    }
    return {};
  }

  PriorityOptions options_;
  std::unique_ptr<Belief> belief_;
  std::map<std::uint32_t, Memory> memory_;
};

PolicyNeeds priority_needs(const Parameters& parameters) {
  return parameters.choice("beside") == "goal" ? PolicyNeeds::kBelief : PolicyNeeds::kNothing;
}

}  // namespace

PolicyEntry priority_entry() {
  return {.name = "priority",
          .description =
              "services first, training as best effort: on empty GPUs, and beside services within "
              "their "
              "latency goal; number of replicas fixed or scaled",
          .needs = PolicyNeeds::kBelief,
          .parameters = priority_parameters().specs(),
          .make = [](PolicyContext c) -> std::unique_ptr<Policy> {
            return std::make_unique<PriorityPolicy>(priority_parameters().read(c.parameters),
                                                    std::move(c.belief));
          },
          .needs_with = priority_needs,
          .traits = {.always_colocates = true, .moves_running_jobs = true, .preempts = true}};
}

}  // namespace corun::inline policies
