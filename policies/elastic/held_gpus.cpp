#include "policies/elastic/held_gpus.hpp"

#include <algorithm>
#include <functional>

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

bool HeldGpus::any() const {
  return std::ranges::any_of(held_, [](const auto& of_job) { return !of_job.second.empty(); });
}

GpusByNode HeldGpus::take_room(const ClusterView& view, JobId id, int gpus,
                               GpusByNode& free) const {
  const JobView& job = view.job(id);
  const auto wanted = static_cast<std::uint16_t>(gpus);
  const auto may_use = [&](std::size_t n) {
    return free[n] > 0 && may_run_on(job, view.cluster().nodes[n].gpu);
  };
  GpusByNode taken(free.size(), 0);
  const GpusByNode own = by_node(view, id);
  const bool keeps =
      held_.at(id).size() == wanted && std::ranges::equal(own, free, std::less_equal<>());
  std::size_t node = free.size();
  for (std::size_t n = 0; n < free.size(); ++n) {
    if (!may_use(n) || free[n] < wanted) continue;
    if (node == free.size() || free[n] < free[node]) node = n;
  }
  if (keeps) {
    taken = own;
  } else if (node < free.size()) {
    taken[node] = wanted;
  } else {
    std::uint16_t left = wanted;
    for (std::size_t n = 0; n < free.size() && left > 0; ++n) {
      if (!may_use(n)) continue;
      taken[n] = std::min(free[n], left);
      left = static_cast<std::uint16_t>(left - taken[n]);
    }
    if (left > 0) return {};
  }
  for (std::size_t n = 0; n < free.size(); ++n) {
    free[n] = static_cast<std::uint16_t>(free[n] - taken[n]);
  }
  return taken;
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

bool Period::is_due(const ClusterView& view) {
  if (view.now() < next_) return false;
  next_ = view.now() + period_;
  return true;
}

void Period::ask(const ClusterView& view, std::vector<Decision>& out) const {
  if (view.next_wake() > next_) out.emplace_back(WakeAt{next_});
}

}  // namespace corun::inline policies
