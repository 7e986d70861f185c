#include "policies/queues/preemptive_queue.hpp"

#include <utility>

namespace corun::inline policies {

bool PreemptiveQueue::make_room(const ClusterView& view, const QueueEntry& entry, const GpuAsk& ask,
                                std::vector<Decision>& out) {
  QueueEntry first = entry;
  first.rank += clock(view.now());
  if (order_.empty() || !(first < order_.rbegin()->first)) return false;
  if (ask.types == 0) {
    plan_ = view.state().empty();
  } else {
    plan_ = of_types(view.state(), view.state().empty(), ask.types);
  }
  std::vector<GpuId> gpus;
  for (auto last = order_.rbegin(); last != order_.rend() && first < last->first; ++last) {
    const Running& victim = last->second;
    if (victim.start == view.now()) continue;
    view.state().each_node(victim.gpus, [&](NodeId node, std::span<const GpuId> own) {
      if (ask.allows(view.gpu_type(own.front()))) plan_->insert(own, node);
    });
    gpus = place(view, *plan_, entry);
    if (!gpus.empty()) break;
  }
  if (gpus.empty()) return false;
  Preempt victims;
  ++searches_;
  const std::vector<GpuState>& all = view.state().gpus();
  JobId last = kNoJob;
  for (const GpuId g : gpus) {
    for (const JobId job : all[index(g)].residents) {
      if (std::exchange(last, job) == job) continue;
      Running& victim = running_.at(job)->second;
      if (std::exchange(victim.marked, searches_) != searches_) victims.jobs.push_back(job);
    }
  }
  out.emplace_back(std::move(victims));
  starting(view, entry, gpus);
  out.emplace_back(StartGroup{{entry.job}, std::move(gpus)});
  return true;
}

void PreemptiveQueue::starting(const ClusterView& view, const QueueEntry& entry,
                               const std::vector<GpuId>& gpus) {
  if (spare_.empty()) {
    Order one;
    one.emplace();
    spare_.push_back(one.extract(one.begin()));
  }
  Order::node_type node = std::move(spare_.back());
  spare_.pop_back();
  node.key() = entry;
  node.key().rank += clock(view.now());
  node.mapped().start = view.now();
  node.mapped().gpus = gpus;
  running_[entry.job] = order_.insert(std::move(node)).position;
}

void PreemptiveQueue::departed(JobId job, LogKind, Time) {
  const auto at = running_.find(job);
  if (at == running_.end()) return;
  spare_.push_back(order_.extract(at->second));
  running_.erase(at);
}

const PreemptiveQueue::Running* PreemptiveQueue::running(JobId job) const {
  const auto at = running_.find(job);
  return at == running_.end() ? nullptr : &at->second->second;
}

void PreemptiveQueue::rank_again(JobId job, double rank, Time since) {
  Order::iterator& place = running_.at(job);
  Order::node_type node = order_.extract(place);
  node.key().rank = rank;
  node.key().since = since;
  place = order_.insert(std::move(node)).position;
}

}  // namespace corun::inline policies
