#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <queue>
#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

#include "policies/catalog.hpp"
#include "policies/placement.hpp"

/// optimus: the scheduler of Optimus (Peng et al., "Optimus: An Efficient Dynamic Resource Scheduler for Deep Learning
/// Clusters", EuroSys 2018) as the simulator of Pollux has it (Qiao et al., OSDI 2021). In each pass:
///
///   1. The jobs in the system, in the order of their arrival, get the least number of GPUs that they permit (one, if they
///      are elastic), as long as there are that many.
///   2. One after the other, the other GPUs go to the job that gains most by one more: the time that it has left on k GPUs
///      less that on k + 1, both on as few nodes as can be, by AllocationBelief::remaining_s(). Of equal gains the earlier
///      job's. It ends when no job gains.
///   3. A running job whose number has not changed keeps its GPUs. The other jobs are placed anew, the smallest first:
///      freest_nodes().
///
/// GPU types are no part of the rule: a job that names types gets as many of their GPUs as are free, if its share does not
/// fit on them, or waits.
///
/// Departures from the paper: workers only, no parameter servers; the remaining time is what the belief says, not a fit of a
/// loss curve.
///
/// A pass costs O((GPUs + jobs that get some) log jobs).
namespace corun::inline policies {

namespace {

class Optimus final : public Policy {
 public:
  explicit Optimus(const AllocationBelief* belief) : belief_(belief) {}

  void arrived(const JobView& job, Time) override {
    if (held_.try_emplace(job.id).second) jobs_.push_back(job.id);
  }

  void departed(JobId job, LogKind how, Time) override {
    const auto at = held_.find(job);
    if (at == held_.end()) return;
    if (how != LogKind::kPreempt) at->second.clear();  // decide() has set what it moves
    if (how != LogKind::kFinish && how != LogKind::kFail) return;
    held_.erase(at);
    std::erase(jobs_, job);
  }

  void decide(const ClusterView& view, std::vector<Decision>& out) override {
    if (pass_ == view.pass()) return;
    pass_ = view.pass();
    if (largest_node_ == 0) {
      for (const NodeSpec& node : view.cluster().nodes) {
        largest_node_ = std::max(largest_node_, node.gpus);
      }
    }
    share_out(view);
    carry_out(view, out);
  }

 private:
  struct Share {
    JobId job = kNoJob;
    int gpus = 0;
  };
  struct Gain {
    double seconds = 0;
    std::size_t share = 0;  ///< in shares_

    friend bool operator<(const Gain& a, const Gain& b) {
      return a.seconds != b.seconds ? a.seconds < b.seconds : a.share > b.share;
    }
  };

  double remaining_s(const ClusterView& view, const JobView& job, int gpus) {
    on_nodes_.assign(static_cast<std::size_t>(gpus / largest_node_), largest_node_);
    if (gpus % largest_node_ > 0) on_nodes_.push_back(gpus % largest_node_);
    std::uint32_t type = 0;
    while (job.gpu_models != 0 && (job.gpu_models >> type & 1U) == 0) ++type;
    return belief_->remaining_s(job, {gpus, static_cast<int>(on_nodes_.size()), 1, type, on_nodes_},
                                view.now());
  }

  /// GPUs of the cluster on which the job may run.
  int gpus_for(const ClusterView& view, const JobView& job) {
    const auto [at, is_new] = gpus_by_types_.try_emplace(job.gpu_models, 0);
    if (is_new) {
      for (const NodeSpec& node : view.cluster().nodes) {
        if (may_run_on(job, node.gpu)) at->second += node.gpus;
      }
    }
    return at->second;
  }

  /// What the job gains by one GPU more; 0 if it may not have it.
  double gain_of(const ClusterView& view, const JobView& job, int gpus, int all) {
    if (belief_ == nullptr || job.gpus_max == 0) return 0;
    if (gpus >= std::min({job.gpus_max, belief_->most_gpus(job), all, gpus_for(view, job)}))
      return 0;
    return remaining_s(view, job, gpus) - remaining_s(view, job, gpus + 1);
  }

  /// Steps 1 and 2.
  void share_out(const ClusterView& view) {
    const int all = static_cast<int>(view.gpus().size());
    int left = all;
    shares_.clear();
    std::vector<Gain> gains;
    for (const JobId id : jobs_) {
      if (left == 0) break;
      const JobView& job = view.job(id);
      const bool resizable = belief_ != nullptr && job.gpus_max > 0;
      const int least = resizable ? job.gpus_min : job.gpus;
      if (least > left) continue;
      left -= least;
      shares_.push_back({id, least});
      gains.push_back({gain_of(view, job, least, all), shares_.size() - 1});
    }
    std::priority_queue<Gain> most(std::less<Gain>(), std::move(gains));
    while (left > 0 && !most.empty() && most.top().seconds > 0) {
      Share& share = shares_[most.top().share];
      const std::size_t place = most.top().share;
      most.pop();
      ++share.gpus;
      --left;
      most.push({gain_of(view, view.job(share.job), share.gpus, all), place});
    }
  }

  /// Step 3.
  void carry_out(const ClusterView& view, std::vector<Decision>& out) {
    std::unordered_map<JobId, int> gpus_of;
    for (const Share& share : shares_) gpus_of.emplace(share.job, share.gpus);
    FreeGpus free = view.state().empty();
    Preempt victims;
    std::vector<Share> placed;
    for (const JobId id : jobs_) {
      const JobView& job = view.job(id);
      std::vector<GpuId>& held = held_.at(id);
      if (!job.started || held.empty()) continue;
      const auto share = gpus_of.find(id);
      const bool stays =
          share != gpus_of.end() && static_cast<std::size_t>(share->second) == held.size();
      // A job that started at this instant cannot be moved yet.
      if (stays || *job.started == view.now()) {
        gpus_of.erase(id);
        continue;
      }
      view.state().each_node(
          held, [&](NodeId node, std::span<const GpuId> own) { free.insert(own, node); });
      held.clear();
      victims.jobs.push_back(id);
    }
    if (!victims.jobs.empty()) out.emplace_back(std::move(victims));
    for (const Share& share : shares_) {
      if (gpus_of.contains(share.job)) placed.push_back(share);
    }
    std::ranges::stable_sort(placed, {}, &Share::gpus);
    for (const Share& share : placed) {
      const JobView& job = view.job(share.job);
      std::vector<GpuId> gpus;
      if (job.gpu_models == 0) {
        gpus = freest_nodes(view.state(), free, share.gpus);
      } else {
        const FreeGpus own = of_types(view.state(), free, job.gpu_models);
        const int count = std::min(share.gpus, own.gpus().size());
        if (count > 0 && may_have(job, static_cast<std::size_t>(count))) {
          gpus = freest_nodes(view.state(), own, count);
        }
      }
      if (gpus.empty()) continue;
      view.state().each_node(
          gpus, [&](NodeId node, std::span<const GpuId> own) { free.erase(own, node); });
      held_.at(share.job) = gpus;
      out.emplace_back(StartGroup{{share.job}, std::move(gpus)});
    }
  }

  const AllocationBelief* belief_;  ///< null: no job is resized
  std::vector<JobId> jobs_;         ///< in the system, in the order of their arrival
  std::unordered_map<JobId, std::vector<GpuId>> held_;  ///< of the same jobs
  std::vector<Share> shares_;  ///< of the present pass, in the order of jobs_
  std::unordered_map<std::uint32_t, int> gpus_by_types_;  ///< by JobView::gpu_models
  std::vector<int> on_nodes_;
  int largest_node_ = 0;
  std::optional<std::size_t> pass_;  ///< that is decided
};

}  // namespace

PolicyEntry optimus_entry() {
  PolicyTraits traits;
  traits.moves_running_jobs = true;
  traits.preempts = true;
  traits.shares = false;
  return {
      .name = "optimus",
      .description =
          "GPUs one at a time to the elastic job whose remaining time falls most (Optimus, EuroSys "
          "2018)",
      .needs = PolicyNeeds::kAllocations,
      .parameters = {},
      .make = [](PolicyContext context) { return std::make_unique<Optimus>(context.allocations); },
      .traits = traits};
}

}  // namespace corun::inline policies
