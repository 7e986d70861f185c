#include "policies/elastic/held_gpus.hpp"

#include <algorithm>

namespace corun::inline policies {

void HeldGpus::arrived(JobId job) {
  if (held_.try_emplace(job).second) jobs_.push_back(job);
}

void HeldGpus::departed(JobId job, LogKind how) {
  const auto at = held_.find(job);
  if (at == held_.end()) return;
  if (how != LogKind::kPreempt) at->second.clear();  // carry_out() has set what it moves
  if (how != LogKind::kFinish && how != LogKind::kFail) return;
  held_.erase(at);
  std::erase(jobs_, job);
}

GpusByNode HeldGpus::by_node(const ClusterView& view, JobId job) const {
  GpusByNode gpus(view.cluster().nodes.size(), 0);
  for (const GpuId gpu : held_.at(job)) ++gpus[index(view.gpu(gpu).node)];
  return gpus;
}

void HeldGpus::observe(const ClusterView& view, AllocationBelief& belief) const {
  for (const JobId id : jobs_) {
    const JobView& job = view.job(id);
    const std::vector<GpuId>& held = held_.at(id);
    if (held.empty() || !job.started || view.now() - *job.started <= job.start_cost) continue;
    std::vector<int> on_nodes;
    view.state().each_node(held, [&](NodeId, std::span<const GpuId> own) {
      on_nodes.push_back(static_cast<int>(own.size()));
    });
    belief.observe(job, {static_cast<int>(held.size()), static_cast<int>(on_nodes.size()), 1,
                         view.gpu_type(held.front()).id, on_nodes});
  }
}

void HeldGpus::carry_out(const ClusterView& view, std::span<const GpusByNode> wanted,
                         std::vector<Decision>& out) {
  FreeGpus free = view.state().empty();
  Preempt victims;
  std::vector<std::size_t> moved;
  for (std::size_t j = 0; j < jobs_.size(); ++j) {
    const std::vector<GpuId>& held = held_.at(jobs_[j]);
    GpusByNode target = wanted[j];
    target.resize(view.cluster().nodes.size(), 0);
    if (by_node(view, jobs_[j]) == target) continue;
    if (held.empty() && view.job(jobs_[j]).started) continue;  // it is profiled
    moved.push_back(j);
    if (held.empty()) continue;
    view.state().each_node(
        held, [&](NodeId node, std::span<const GpuId> own) { free.insert(own, node); });
    victims.jobs.push_back(jobs_[j]);
  }
  if (!victims.jobs.empty()) out.emplace_back(std::move(victims));
  std::vector<StartGroup> starts;
  // GPUs that a job keeps on a node are taken before others choose there.
  std::vector<std::vector<GpuId>> chosen(moved.size());
  const auto missing = [&](std::size_t i, NodeId node) {
    const auto on_node =
        std::ranges::count_if(chosen[i], [&](GpuId gpu) { return view.gpu(gpu).node == node; });
    return static_cast<int>(wanted[moved[i]][index(node)]) - static_cast<int>(on_node);
  };
  const auto take = [&](std::size_t i, GpuId gpu, NodeId node) {
    chosen[i].push_back(gpu);
    free.erase(gpu, node);
  };
  for (std::size_t i = 0; i < moved.size(); ++i) {
    if (wanted[moved[i]].empty()) continue;
    for (const GpuId gpu : held_.at(jobs_[moved[i]])) {
      const NodeId node = view.gpu(gpu).node;
      if (missing(i, node) > 0) take(i, gpu, node);
    }
  }
  for (std::size_t i = 0; i < moved.size(); ++i) {
    const GpusByNode& target = wanted[moved[i]];
    for (std::uint32_t n = 0; n < target.size(); ++n) {
      const NodeId node{n};
      const std::uint32_t first = index(view.state().first_gpu(node));
      const auto end = first + static_cast<std::uint32_t>(view.cluster().nodes[n].gpus);
      for (std::uint32_t g = first; g < end && missing(i, node) > 0; ++g) {
        if (free.gpus().contains(GpuId{g})) take(i, GpuId{g}, node);
      }
    }
    // A GPU may serve to profile a job: then the others wait for the next pass.
    std::size_t total = 0;
    for (const std::uint16_t gpus : target) total += gpus;
    if (chosen[i].size() < total) {
      for (const GpuId gpu : chosen[i]) free.insert(gpu, view.gpu(gpu).node);
      chosen[i].clear();
    }
    std::ranges::sort(chosen[i]);
    held_.at(jobs_[moved[i]]) = chosen[i];
    if (!chosen[i].empty()) out.emplace_back(StartGroup{{jobs_[moved[i]]}, std::move(chosen[i])});
  }
}

bool Period::is_due(const ClusterView& view, bool any_jobs, std::vector<Decision>& out) {
  if (!any_jobs) return false;
  const bool due = view.now() >= next_;
  if (due) next_ = view.now() + period_;
  if (view.next_wake() > next_) out.emplace_back(WakeAt{next_});
  return due;
}

}  // namespace corun::inline policies
