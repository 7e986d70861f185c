#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <tuple>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "policies/catalog.hpp"
#include "policies/parameters_of.hpp"

/// fifo-packed: first in, first out; jobs that find no free GPU share one (`fifo_packed` of Gavel,
/// Narayanan et al., OSDI 2020; the policy of its published simulator).
///
/// Each pass plans the whole allocation anew from the running and waiting jobs, in order of their submission
/// (of equals, of their arrival); a job that comes back keeps its place:
///   1. The first jobs get GPUs alone, as long as there are enough.
///   2. Each further job joins the job of step 1, not yet joined, with the highest sum of both speeds. The
///      sum must exceed `threshold`; of equals the first wins.
///   3. The first job that finds no co-runner ends the packing: no job overtakes it. So a pass looks at no
///      more jobs than two for each GPU, and one.
/// A running group that is also in the new plan stays in place; other groups are preempted. So use
/// `control: {mode: rounds, ...}`, in which preemption is free, or account for its costs.
///
/// Departures: speeds are the belief's (with `belief: {model: truth}` the world's, like Gavel's oracle).
/// Jobs share only with jobs of equal gang size. With gangs Gavel hands out more GPUs than there are; here
/// a job that finds too few empty ones ends step 1. Where jobs name GPU types, step 1 hands out the GPUs one by
/// one: a job takes those on which it runs, else the lowest-numbered ones on which it may run, idle ones first.
/// In step 2 a job joins only on GPUs on which it may run.
namespace corun::inline policies {

namespace {

struct FifoPackedOptions {
  double threshold = 1.5;
};

class FifoPacked final : public Policy {
 public:
  FifoPacked(std::unique_ptr<Belief> belief, const FifoPackedOptions& options)
      : belief_(std::move(belief)), options_(options) {}

  const Belief* belief() const override { return belief_.get(); }
  void corun_ended(const EpisodeOutcome& outcome) override { belief_->learn(outcome); }
  void probe_ended(const ProbeOutcome& outcome) override { belief_->learn_probe(outcome); }

  void arrived(const JobView& job, Time) override {
    const auto [at, is_new] = places_.try_emplace(index(job.id));
    if (is_new) at->second = order_.emplace(job.submit, arrivals_++, job.id).first;
  }

  void departed(JobId job, LogKind how, Time) override {
    if (how != LogKind::kFinish && how != LogKind::kFail) return;  // it comes back
    const auto at = places_.find(index(job));
    if (at == places_.end()) return;  // it was done while it was profiled
    order_.erase(at->second);
    places_.erase(at);
  }

  void decide(const ClusterView& view, std::vector<Decision>& out) override {
    if (view.pass() == last_pass_) return;  // this pass is already decided
    last_pass_ = view.pass();
    started_.resize(view.gpus().size(), Time{-1});
    fixed_.assign(view.gpus().size(), false);
    fixed_jobs_.clear();
    running_.clear();
    for (std::size_t g = 0; g < view.gpus().size(); ++g) {
      const GpuState& gpu = view.gpus()[g];
      fixed_[g] = gpu.profiling || (!gpu.residents.empty() && started_[g] == view.now());
      for (const JobId j : gpu.residents) {
        if (fixed_[g]) {
          fixed_jobs_.insert(index(j));
        } else {
          running_[index(j)].push_back(GpuId{static_cast<std::uint32_t>(g)});
        }
      }
    }
    plan(view);
    carry_out(view, out);
  }

 private:
  using Place = std::tuple<Time, std::uint64_t, JobId>;  ///< submission, number of its arrival

  struct Pack {
    std::vector<JobId> jobs;  ///< one or two, in the order of their places
    int gpus = 1;
    std::vector<GpuId> places = {};  ///< its GPUs, where jobs name GPU types; else any
  };

  /// The GPUs of a job in step 1, where jobs name GPU types; none if too few are left.
  std::vector<GpuId> places_for(const ClusterView& view, const JobView& job,
                                const std::vector<bool>& taken) const {
    const auto is_left = [&](GpuId g) { return !taken[index(g)]; };
    if (const auto own = running_.find(index(job.id)); own != running_.end()) {
      if (std::ranges::all_of(own->second, is_left)) return own->second;
    }
    std::vector<GpuId> found;
    for (const bool idle : {true, false}) {
      for (std::size_t g = 0; g < taken.size(); ++g) {
        const GpuId gpu{static_cast<std::uint32_t>(g)};
        if (view.gpu(gpu).residents.empty() != idle || !is_left(gpu)) continue;
        if (!may_run_on(job, view.gpu_type(gpu))) continue;
        found.push_back(gpu);
        if (found.size() == static_cast<std::size_t>(job.gpus)) return found;
      }
    }
    return {};
  }

  bool may_join(const ClusterView& view, const JobView& job, const Pack& pack) const {
    return std::ranges::all_of(pack.places,
                               [&](GpuId g) { return may_run_on(job, view.gpu_type(g)); });
  }

  void plan(const ClusterView& view) {
    packs_.clear();
    auto left = static_cast<int>(std::ranges::count(fixed_, false));
    std::vector<bool> taken;
    if (view.restricted()) taken = fixed_;
    auto next = order_.begin();
    const auto is_fixed = [&] { return fixed_jobs_.contains(index(std::get<JobId>(*next))); };
    for (; next != order_.end(); ++next) {
      if (is_fixed()) continue;
      const JobId job = std::get<JobId>(*next);
      const int gpus = view.job(job).gpus;
      if (gpus > left) break;
      Pack pack{{job}, gpus};
      if (view.restricted()) {
        pack.places = places_for(view, view.job(job), taken);
        if (pack.places.empty()) break;
        for (const GpuId g : pack.places) taken[index(g)] = true;
      }
      left -= gpus;
      packs_.push_back(std::move(pack));
    }
    if (view.max_jobs_per_gpu(2) < 2) return;
    for (; next != order_.end(); ++next) {
      if (is_fixed()) continue;
      const JobId job = std::get<JobId>(*next);
      Pack* best = nullptr;
      double best_sum = options_.threshold;
      for (Pack& pack : packs_) {
        if (pack.jobs.size() > 1 || pack.gpus != view.job(job).gpus) continue;
        if (!may_join(view, view.job(job), pack)) continue;
        const PairSpeeds s = belief_->pair_speeds(job, pack.jobs.front());
        if (s.a + s.b <= best_sum) continue;
        best_sum = s.a + s.b;
        best = &pack;
      }
      if (best == nullptr) return;
      best->jobs.push_back(job);
    }
  }

  /// Keeps groups that already run as planned, preempts the other running jobs, and starts the other
  /// groups.
  void carry_out(const ClusterView& view, std::vector<Decision>& out) {
    std::vector<const Pack*> to_start;
    std::vector<bool> stays(view.gpus().size(), false);
    for (const Pack& pack : packs_) {
      const auto own = running_.find(index(pack.jobs.front()));
      if (own == running_.end() || (view.restricted() && own->second != pack.places) ||
          !std::ranges::is_permutation(view.gpu(own->second.front()).residents, pack.jobs)) {
        to_start.push_back(&pack);
        continue;
      }
      for (const GpuId g : own->second) stays[index(g)] = true;
    }
    Preempt preempt;
    std::vector<GpuId> free;
    for (std::size_t g = 0; g < view.gpus().size(); ++g) {
      if (stays[g] || fixed_[g]) continue;
      free.push_back(GpuId{static_cast<std::uint32_t>(g)});
      for (const JobId j : view.gpus()[g].residents) {
        if (running_[index(j)].front() == free.back()) preempt.jobs.push_back(j);
      }
    }
    if (!preempt.jobs.empty()) out.push_back(std::move(preempt));
    auto next = free.begin();
    for (const Pack* pack : to_start) {
      if (view.restricted()) {
        for (const GpuId g : pack->places) started_[index(g)] = view.now();
        out.push_back(StartGroup{pack->jobs, pack->places});
        continue;
      }
      const auto end = next + pack->gpus;
      for (auto g = next; g != end; ++g) started_[index(*g)] = view.now();
      out.push_back(StartGroup{pack->jobs, {next, end}});
      next = end;
    }
  }

  std::unique_ptr<Belief> belief_;
  FifoPackedOptions options_;
  std::optional<std::size_t> last_pass_;
  std::vector<Time> started_;  ///< by GPU: when it last got a group
  std::vector<bool> fixed_;    ///< by GPU: its residents cannot be moved at this instant
  std::set<Place> order_;      ///< the jobs in the system
  std::unordered_map<std::size_t, std::set<Place>::iterator> places_;  ///< by job
  std::uint64_t arrivals_ = 0;
  std::unordered_set<std::size_t> fixed_jobs_;  ///< residents that cannot be moved at this instant
  std::unordered_map<std::size_t, std::vector<GpuId>> running_;  ///< GPUs by job
  std::vector<Pack> packs_;
};

}  // namespace

PolicyEntry fifo_packed_entry() {
  static const auto parameters = ParametersOf<FifoPackedOptions>().number(
      "threshold", &FifoPackedOptions::threshold,
      {0, 2, "two jobs share only where their speeds add up to more than this"});
  return {
      .name = "fifo-packed",
      .description = "Gavel's FIFO with packing: a job that finds no GPU joins its best co-runner",
      .needs = PolicyNeeds::kBelief,
      .parameters = parameters.specs(),
      .make = [](PolicyContext c) -> std::unique_ptr<Policy> {
        return std::make_unique<FifoPacked>(std::move(c.belief), parameters.read(c.parameters));
      },
      .traits = {.moves_running_jobs = true, .preempts = true}};
}

}  // namespace corun::inline policies
