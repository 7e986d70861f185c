#include <algorithm>
#include <memory>
#include <optional>
#include <unordered_map>

#include "policies/catalog.hpp"

/// fifo-packed: first in, first out; jobs that find no free GPU share one (`fifo_packed` of Gavel,
/// Narayanan et al., OSDI 2020; the policy of its published simulator).
///
/// Each pass plans the whole allocation anew from all running and waiting jobs, in order of their number:
///   1. The first jobs get GPUs alone, as long as there are enough.
///   2. Each further job joins the job of step 1, not yet joined, with the highest sum of both speeds. The
///      sum must exceed `threshold`; of equals the first wins.
///   3. The first job that finds no co-runner ends the packing: no job overtakes it.
/// A running group that is also in the new plan stays in place; other groups are preempted. So use
/// `control: {mode: rounds, ...}`, in which preemption is free, or account for its costs.
///
/// Departures: speeds are the belief's (with `belief: {model: truth}` the world's, like Gavel's oracle).
/// Jobs share only with jobs of equal gang size. With gangs Gavel hands out more GPUs than there are; here
/// a job that finds too few empty ones ends step 1.
namespace corun {

namespace {

class FifoPacked final : public Policy {
 public:
  FifoPacked(std::unique_ptr<Belief> belief, double threshold)
      : belief_(std::move(belief)), threshold_(threshold) {}

  const Belief* belief() const override { return belief_.get(); }
  void corun_ended(const EpisodeOutcome& outcome) override { belief_->learn(outcome); }

  void decide(const ClusterView& view, std::vector<Decision>& out) override {
    if (view.pass() == last_pass_) return;  // this pass is already decided
    last_pass_ = view.pass();
    started_.resize(view.gpus().size(), Time{-1});
    fixed_.assign(view.gpus().size(), false);
    for (std::size_t g = 0; g < view.gpus().size(); ++g) {
      const GpuState& gpu = view.gpus()[g];
      fixed_[g] = gpu.profiling || (!gpu.residents.empty() && started_[g] == view.now());
    }
    active_.assign(view.waiting().begin(), view.waiting().end());
    running_.clear();
    for (std::size_t g = 0; g < view.gpus().size(); ++g) {
      if (fixed_[g]) continue;
      for (const JobId j : view.gpus()[g].residents) {
        std::vector<GpuId>& own = running_[index(j)];
        if (own.empty()) active_.push_back(j);
        own.push_back(GpuId{static_cast<std::uint32_t>(g)});
      }
    }
    std::sort(active_.begin(), active_.end());
    plan(view);
    carry_out(view, out);
  }

 private:
  struct Pack {
    std::vector<JobId> jobs;  ///< one or two, ascending
    int gpus = 1;
  };

  void plan(const ClusterView& view) {
    packs_.clear();
    auto left = static_cast<int>(std::ranges::count(fixed_, false));
    auto next = active_.begin();
    for (; next != active_.end() && view.job(*next).gpus <= left; ++next) {
      left -= view.job(*next).gpus;
      packs_.push_back({{*next}, view.job(*next).gpus});
    }
    if (view.max_jobs_per_gpu(2) < 2) return;
    for (; next != active_.end(); ++next) {
      Pack* best = nullptr;
      double best_sum = threshold_;
      for (Pack& pack : packs_) {
        if (pack.jobs.size() > 1 || pack.gpus != view.job(*next).gpus) continue;
        const PairSpeeds s = belief_->pair_speeds(*next, pack.jobs.front());
        if (s.a + s.b <= best_sum) continue;
        best_sum = s.a + s.b;
        best = &pack;
      }
      if (best == nullptr) return;
      best->jobs.push_back(*next);
    }
  }

  /// Keeps groups that already run as planned, preempts the other running jobs, and starts the other
  /// groups.
  void carry_out(const ClusterView& view, std::vector<Decision>& out) {
    std::vector<const Pack*> to_start;
    std::vector<bool> stays(view.gpus().size(), false);
    for (const Pack& pack : packs_) {
      const auto own = running_.find(index(pack.jobs.front()));
      if (own == running_.end() || view.gpu(own->second.front()).residents != pack.jobs) {
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
      const auto end = next + pack->gpus;
      for (auto g = next; g != end; ++g) started_[index(*g)] = view.now();
      out.push_back(StartGroup{pack->jobs, {next, end}});
      next = end;
    }
  }

  std::unique_ptr<Belief> belief_;
  double threshold_;
  std::optional<std::size_t> last_pass_;
  std::vector<Time> started_;  ///< by GPU: when it last got a group
  std::vector<bool> fixed_;    ///< by GPU: its residents cannot be moved at this instant
  std::vector<JobId> active_;  ///< waiting or running, ascending
  std::unordered_map<std::size_t, std::vector<GpuId>> running_;  ///< GPUs by job
  std::vector<Pack> packs_;
};

}  // namespace

PolicyEntry fifo_packed_entry() {
  static const std::vector<ParameterSpec> parameters = {
      {.name = "threshold",
       .description = "two jobs share only where their speeds add up to more than this",
       .kind = ParameterKind::kNumber,
       .fallback = 1.5,
       .min = 0,
       .max = 2,
       .choices = {}},
  };
  return {
      .name = "fifo-packed",
      .description = "Gavel's FIFO with packing: a job that finds no GPU joins its best co-runner",
      .needs = PolicyNeeds::kBelief,
      .parameters = parameters,
      .make = [](PolicyContext c) -> std::unique_ptr<Policy> {
        return std::make_unique<FifoPacked>(std::move(c.belief), c.parameters.number("threshold"));
      },
      .traits = {.moves_running_jobs = true, .preempts = true}};
}

}  // namespace corun
