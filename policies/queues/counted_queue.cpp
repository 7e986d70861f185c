#include "policies/queues/counted_queue.hpp"

#include <algorithm>
#include <utility>

namespace corun::inline policies {

const ParametersOf<CountedOptions>& counted_parameters() {
  static const auto all = with_placing(ParametersOf<CountedOptions>());
  return all;
}

PolicyTraits counted_traits(const Parameters& parameters, PolicyTraits others) {
  others.moves_running_jobs = true;
  others.preempts = true;
  return placing_traits(counted_parameters().read(parameters).placing, others);
}

void CountedQueue::arrived(const JobView& job, Time) {
  if (std::exchange(returns_, kNoJob) != job.id) stirred_ = true;
}

void CountedQueue::departed(JobId job, LogKind how, Time) {
  if (const auto at = find(job); at != running_.end()) {
    running_.erase(at);
    stirred_ = true;
  } else if (how == LogKind::kPreempt) {
    returns_ = job;
  } else {
    stirred_ = true;  // done when it was to be preempted
  }
}

std::vector<CountedQueue::Running>::iterator CountedQueue::find(JobId job) {
  return std::ranges::find(running_, job, &Running::job);
}

void CountedQueue::decide(const ClusterView& view, std::vector<Decision>& out) {
  if (stirred_ || view.now() >= next_) {
    do {
      jobs_.clear();
      order(view, jobs_);
      count(view);
      counted(view, jobs_, takes_);
      next_ = next(view);
    } while (next_ <= view.now());
    carry_out(view, out);
    stirred_ = false;
  }
  if (next_ != kNever && next_ < view.next_wake()) out.emplace_back(WakeAt{next_});
}

void CountedQueue::count(const ClusterView& view) {
  const bool by_type = view.restricted();
  left_.assign(by_type ? view.cluster().types().size() : 1, 0);
  for (const NodeSpec& node : view.cluster().nodes) left_[by_type ? node.gpu.id : 0] += node.gpus;
  takes_.assign(jobs_.size(), false);
  std::vector<int> asked(left_.size(), 0);
  for (std::size_t j = 0; j < jobs_.size(); ++j) {
    const JobView& job = view.job(jobs_[j]);
    std::ranges::fill(asked, 0);
    if (!by_type) {
      asked[0] = job.gpus;
    } else if (job.started) {
      for (const GpuId g : find(job.id)->gpus) ++asked[view.gpu_type(g).id];
    } else {
      int needed = job.gpus;
      for (std::size_t type = 0; type < left_.size(); ++type) {
        if (job.gpu_models != 0 && (job.gpu_models >> type & 1U) == 0) continue;
        asked[type] = std::min(needed, left_[type]);
        needed -= asked[type];
      }
      if (needed > 0) continue;
    }
    bool fits = true;
    for (std::size_t type = 0; type < left_.size(); ++type) fits &= asked[type] <= left_[type];
    if (!fits) continue;
    takes_[j] = true;
    for (std::size_t type = 0; type < left_.size(); ++type) left_[type] -= asked[type];
  }
}

void CountedQueue::carry_out(const ClusterView& view, std::vector<Decision>& out) {
  FreeGpus free = view.state().empty();
  Preempt victims;
  for (std::size_t j = 0; j < jobs_.size(); ++j) {
    const JobView& job = view.job(jobs_[j]);
    if (takes_[j] || !job.started || *job.started == view.now()) continue;
    const auto at = find(job.id);
    view.state().each_node(
        at->gpus, [&](NodeId node, std::span<const GpuId> own) { free.insert(own, node); });
    running_.erase(at);
    victims.jobs.push_back(job.id);
  }
  if (!victims.jobs.empty()) out.emplace_back(std::move(victims));
  for (std::size_t j = 0; j < jobs_.size(); ++j) {
    const JobView& job = view.job(jobs_[j]);
    if (!takes_[j] || job.started) continue;
    std::vector<GpuId> gpus =
        job.gpu_models == 0
            ? place_by(placing_, view.state(), free, job)
            : place_by(placing_, view.state(), of_types(view.state(), free, job.gpu_models), job);
    if (gpus.empty()) {
      unplaced(job.id);
      continue;
    }
    view.state().each_node(gpus,
                           [&](NodeId node, std::span<const GpuId> own) { free.erase(own, node); });
    running_.push_back({job.id, gpus});
    out.emplace_back(StartGroup{{job.id}, std::move(gpus)});
  }
}

}  // namespace corun::inline policies
