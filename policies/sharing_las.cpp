#include <algorithm>
#include <chrono>
#include <functional>
#include <memory>
#include <queue>
#include <set>
#include <tuple>
#include <utility>
#include <vector>

#include "policies/catalog.hpp"
#include "policies/parameters_of.hpp"
#include "policies/placement.hpp"

/// sharing-las: least attained service, preemptive, two jobs of one GPU each per GPU. It is an example of a
/// complete policy; examples/sharing_las.py is the same in Python, and decides the same in every pass.
///
/// Jobs that wait go by attained service (time on their GPUs), then by submission. Each call starts the first one
/// that finds a place:
///   1. on free GPUs, a gang on as few nodes as can be;
///   2. where jobs may join running ones: a job of one GPU beside another such job;
///   3. on GPUs of jobs that were served more by at least `quantum_s`, which leave them, most served first.
/// So jobs do not change places for seconds. Passes happen when a job comes or goes, and at every multiple of `quantum_s`.
namespace corun::inline policies {

namespace {

struct SharingLasOptions {
  Duration quantum = std::chrono::seconds(600);
};

class SharingLas final : public Policy {
 public:
  explicit SharingLas(const SharingLasOptions& options) : options_(options) {}

  void decide(const ClusterView& view, std::vector<Decision>& out) override {
    out.emplace_back(WakeAt{later(view.now(), options_.quantum - view.now() % options_.quantum)});
    std::vector<Waiting> jobs;
    for (const JobId id : view.waiting()) {
      jobs.emplace_back(view.job(id).attained(view.now()), view.job(id).submit, id);
    }
    std::priority_queue order(std::greater<>(), std::move(jobs));
    std::set<GpuAsk> no_room;  // of jobs served less, so for later ones there is none either
    for (; !order.empty(); order.pop()) {
      const JobView& job = view.job(std::get<JobId>(order.top()));
      const GpuAsk ask = ask_of(job);
      if (no_room.contains(ask)) continue;
      std::vector<GpuId> place = free_place(view, ask, {});
      if (place.empty()) place = beside_another(view, job);
      if (place.empty()) place = make_room(view, job, out);
      if (!place.empty()) {
        out.emplace_back(StartGroup{{job.id}, std::move(place)});
        return;  // the next call sees what this one did
      }
      no_room.insert(ask);
    }
  }

 private:
  using Waiting = std::tuple<Duration, Time, JobId>;  ///< attained service, submission

  /// Free GPUs for this on as few nodes as can be, those of the jobs `leaving` with them; none if there is no room.
  static std::vector<GpuId> free_place(const ClusterView& view, const GpuAsk& ask,
                                       const std::set<JobId>& leaving) {
    FreeGpus free = view.state().empty();
    for (std::size_t g = 0; g < view.gpus().size() && !leaving.empty(); ++g) {
      const GpuState& gpu = view.gpus()[g];
      const auto leaves = [&](JobId job) { return leaving.contains(job); };
      if (gpu.residents.empty() || !std::ranges::all_of(gpu.residents, leaves)) continue;
      free.insert(GpuId{static_cast<std::uint32_t>(g)}, gpu.node);
    }
    if (ask.types != 0) free = of_types(view.state(), free, ask.types);
    return consolidated(view.state(), free, ask.gang);
  }

  /// A GPU with a job of one GPU.
  static std::vector<GpuId> beside_another(const ClusterView& view, const JobView& job) {
    const auto most = static_cast<std::size_t>(std::min(view.max_jobs_per_gpu(2), 2));
    if (job.gpus != 1 || view.start_mode() != StartMode::kJoin) return {};
    for (std::size_t g = 0; g < view.gpus().size(); ++g) {
      const GpuId gpu{static_cast<std::uint32_t>(g)};
      const std::vector<JobId>& there = view.gpu(gpu).residents;
      if (there.empty() || there.size() >= most || view.gpu(gpu).profiling) continue;
      if (view.job(there.front()).gpus == 1 && may_run_on(job, view.gpu_type(gpu))) return {gpu};
    }
    return {};
  }

  /// GPUs of jobs that were served more by a quantum, which leave them; none if they would not suffice.
  std::vector<GpuId> make_room(const ClusterView& view, const JobView& job,
                               std::vector<Decision>& out) const {
    const Duration least = later(job.attained(view.now()), options_.quantum);
    // By service and submission, both negative: the most served first, of these the latest.
    std::set<std::tuple<Duration, Time, JobId>> victims;
    for (const GpuState& gpu : view.gpus()) {
      for (const JobId id : gpu.residents) {
        const Duration served = view.job(id).attained(view.now());
        const bool moves = !gpu.profiling && view.job(id).started != view.now();
        if (moves && served >= least) victims.emplace(-served, -view.job(id).submit, id);
      }
    }
    std::set<JobId> leaving;
    for (const auto& [served, submit, id] : victims) {
      leaving.insert(id);
      std::vector<GpuId> place = free_place(view, ask_of(job), leaving);
      if (place.empty()) continue;
      std::set<JobId> on_it;
      for (const GpuId g : place) {
        on_it.insert(view.gpu(g).residents.begin(), view.gpu(g).residents.end());
      }
      out.emplace_back(Preempt{{on_it.begin(), on_it.end()}});
      return place;
    }
    return {};
  }

  SharingLasOptions options_;
};

}  // namespace

PolicyEntry sharing_las_entry() {
  static const auto parameters = ParametersOf<SharingLasOptions>().number(
      "quantum_s", &SharingLasOptions::quantum,
      {1e-3, 1e9, "a job gives way to one that was served less by so much [s]"});
  return {.name = "sharing-las",
          .description =
              "least attained service first, preemptive, two jobs of one GPU each per GPU: the "
              "example in "
              "C++ and Python",
          .needs = PolicyNeeds::kNothing,
          .parameters = parameters.specs(),
          .make = [](PolicyContext c) -> std::unique_ptr<Policy> {
            return std::make_unique<SharingLas>(parameters.read(c.parameters));
          },
          .traits = {.consolidates = true, .preempts = true}};
}

}  // namespace corun::inline policies
