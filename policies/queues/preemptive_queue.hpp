#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <unordered_map>
#include <vector>

#include "policies/queues/queue_policy.hpp"

/// A queue policy that preempts running jobs for a waiting job that precedes them in the order. The
/// configuration sets the costs (`preemption`).
///
/// For a job without room, running jobs behind it in the order are marked, the last one first, until the
/// job can be placed on free and marked GPUs; GPUs on which it may not run do not count. Only jobs on the GPUs of that placement are preempted. A job
/// that has started at this instant stays. If marking all of them does not suffice, no job is preempted.
namespace corun::inline policies {

class PreemptiveQueue : public QueuePolicy {
 public:
  using QueuePolicy::QueuePolicy;

  void departed(JobId job, LogKind how, Time now) override;

 protected:
  struct Running {
    Time start{0};
    std::vector<GpuId> gpus;
    std::uint64_t marked = 0;  ///< the latest search for room that preempts it
  };

  /// Added to the rank of a waiting job to compare it with a running one. Ranks of running jobs are stored
  /// so that their order does not change with time.
  virtual double clock(Time now) const {
    (void)now;
    return 0;
  }
  bool make_room(const ClusterView& view, const QueueEntry& entry, const GpuAsk& ask,
                 std::vector<Decision>& out) override;
  void starting(const ClusterView& view, const QueueEntry& entry,
                const std::vector<GpuId>& gpus) override;

  /// nullptr if the job does not run.
  const Running* running(JobId job) const;
  /// Moves a running job within the order.
  void rank_again(JobId job, double rank, Time since);

 private:
  using Order = std::map<QueueEntry, Running>;

  Order order_;  ///< of the running jobs
  std::unordered_map<JobId, Order::iterator> running_;
  std::vector<Order::node_type> spare_;  ///< of jobs that have left, for reuse of their memory
  std::uint64_t searches_ = 0;           ///< for room that found some
  std::optional<FreeGpus> plan_;         ///< the GPUs that would be free without some jobs
};

}  // namespace corun::inline policies
