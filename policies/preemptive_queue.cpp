#include "policies/preemptive_queue.hpp"

#include <algorithm>

namespace corun {

bool PreemptiveQueue::make_room(const ClusterView& view, const QueueEntry& entry, int gang,
                                std::vector<Decision>& out) {
  QueueEntry first = entry;
  first.rank += clock(view.now());
  if (order_.empty() || !(first < *order_.rbegin())) return false;
  FreeGpus plan = view.state().empty();
  std::vector<GpuId> gpus;
  for (auto last = order_.rbegin(); last != order_.rend() && first < *last; ++last) {
    const Running& victim = running_.at(last->job);
    if (victim.start == view.now()) continue;
    for (const GpuId g : victim.gpus) plan.insert(g, view.gpu(g).node);
    gpus = place(view, plan, gang);
    if (!gpus.empty()) break;
  }
  if (gpus.empty()) return false;
  Preempt victims;
  for (const GpuId g : gpus) {
    for (const JobId job : view.gpu(g).residents) {
      if (std::ranges::find(victims.jobs, job) == victims.jobs.end()) victims.jobs.push_back(job);
    }
  }
  out.emplace_back(std::move(victims));
  starting(view, entry, gpus);
  out.emplace_back(StartGroup{{entry.job}, std::move(gpus)});
  return true;
}

void PreemptiveQueue::starting(const ClusterView& view, const QueueEntry& entry,
                               const std::vector<GpuId>& gpus) {
  Running run{entry, view.now(), gpus};
  run.entry.rank += clock(view.now());
  order_.insert(run.entry);
  running_.insert_or_assign(entry.job, std::move(run));
}

void PreemptiveQueue::left(JobId job, LogKind) {
  const auto at = running_.find(job);
  if (at == running_.end()) return;
  order_.erase(at->second.entry);
  running_.erase(at);
}

const PreemptiveQueue::Running* PreemptiveQueue::running(JobId job) const {
  const auto at = running_.find(job);
  return at == running_.end() ? nullptr : &at->second;
}

void PreemptiveQueue::rank_again(JobId job, double rank, Time since) {
  Running& run = running_.at(job);
  order_.erase(run.entry);
  run.entry.rank = rank;
  run.entry.since = since;
  order_.insert(run.entry);
}

}  // namespace corun
