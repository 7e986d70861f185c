#pragma once

#include <map>
#include <optional>
#include <unordered_map>
#include <vector>

#include "policies/queue_policy.hpp"

/// A queue policy that takes running jobs off their GPUs where a waiting one goes before them. What
/// that costs is the configuration's (`preemption`).
///
/// A job that finds no room takes it from those behind it in the order, the last of all first, until
/// its placement can be had; of these only the ones on the GPUs of that placement have to go. A job that
/// has started at this very instant stays. Where all of them together would not do, nobody goes.
namespace corun {

class PreemptiveQueue : public QueuePolicy {
 public:
  using QueuePolicy::QueuePolicy;

  void departed(JobId job, LogKind how) override;

 protected:
  struct Running {
    Time start{0};
    std::vector<GpuId> gpus;
  };

  /// What is added to the rank of a waiting job to compare it with a running one: ranks of running jobs
  /// are kept so that their order does not change with time.
  virtual double clock(Time now) const {
    (void)now;
    return 0;
  }
  bool make_room(const ClusterView& view, const QueueEntry& entry, int gang,
                 std::vector<Decision>& out) override;
  void starting(const ClusterView& view, const QueueEntry& entry,
                const std::vector<GpuId>& gpus) override;

  /// nullptr where it does not run.
  const Running* running(JobId job) const;
  /// Gives a running job another place in the order.
  void rank_again(JobId job, double rank, Time since);

 private:
  using Order = std::map<QueueEntry, Running>;

  Order order_;  ///< of the running jobs
  std::unordered_map<JobId, Order::iterator> running_;
  std::vector<Order::node_type> spare_;  ///< of jobs that have left: memory to use again
  std::optional<FreeGpus> plan_;         ///< which GPUs there would be if some jobs went
};

}  // namespace corun
