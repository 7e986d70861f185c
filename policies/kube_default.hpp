#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <queue>
#include <span>
#include <tuple>
#include <vector>

#include "policies/catalog.hpp"
#include "policies/placement.hpp"
#include "sim/cluster_view.hpp"
#include "sim/ids.hpp"
#include "sim/job.hpp"
#include "sim/policy.hpp"
#include "sim/time.hpp"

/// `kube-default`: the scheduling cycle of kube-scheduler (Kubernetes 1.30, default profile) on
/// nodes whose NVIDIA device plugin shares every GPU by time-slicing. A job is one pod with one
/// container.
///
/// Modelled
///   Active queue: priority descending, then queue timestamp (PrioritySort), which is the time of the pod's
///     arrival or last failed attempt; equal times by position in the queue. One pod after the other, as
///     many per pass as can be placed.
///   Filter: NodeResourcesFit on cpu, memory and nvidia.com/gpu. The device plugin advertises
///     `replicas` per GPU; a pod of g GPUs takes one replica on each of g GPUs of ONE node. A
///     resource that a pod does not ask for is not checked. NodeAffinity: a job that names GPU types is a
///     pod that requires one of them as its node's label.
///   Sampling: percentageOfNodesToScore, adaptive by default, and the round-robin start of the next
///     search; nodes are visited one after the other.
///   Score: NodeResourcesFit (LeastAllocated over cpu and memory, weight 1 each) and
///     NodeResourcesBalancedAllocation, weight 1 each, summed, in upstream's integer arithmetic.
///     LeastAllocated counts a missing request as 100 milliCPU / 200 MiB; BalancedAllocation counts
///     requests as given (useRequested). Neither counts GPUs: that is upstream's default.
///   Choice: uniform among the best nodes.
///   Back-off: a pod that fits nowhere waits in the unschedulable set. A departure anywhere
///     (AssignedPodDelete) moves every pod of that set to the active queue, or, while its back-off
///     lasts (initial, doubled per failed attempt, at most max; counted from the last attempt), to
///     the back-off queue. That queue is polled once per second, at whole seconds of the trace. An
///     arrival moves no pod.
///   Device: on the node, the GPUs with the fewest residents, ties by lowest index (distributed
///     allocation).
///
/// Not modelled, with reasons
///   Other score plugins: equal on every node here, so they cannot change a choice. ImageLocality:
///     every node has the images; TaintToleration: no taints; NodeAffinity: no preferred terms;
///     InterPodAffinity: no terms; PodTopologySpread: its default constraints apply to pods of services and replica
///     sets, not of batch jobs.
///   Preemption: left out for comparison with policies without it. Every pod has `preemptionPolicy: Never`.
///   Flush of the unschedulable set: upstream retries its pods after 5 minutes. Only a departure can make
///     room for a pod that fitted nowhere, so a flush would place no pod.
///   Latency: scheduling and binding take no time.
///   Gangs across nodes: a pod runs on one node. A job that asks for more GPUs than any node has is
///     never placed, and the control loop reports it under its rule `progress`.
///   Two replicas of one GPU in one pod: upstream allows it. A gang here needs distinct GPUs, so a
///     node is feasible for it only if enough of its GPUs have a replica left.
///   Delay of re-creation: a job that ran out of memory comes back at once, as a new pod without failed
///     attempts.
///
/// cluster.max_jobs_per_gpu bounds the replicas.
namespace corun::inline policies {

/// Weights of the score plugins; 0 switches one off.
struct KubeScoring {
  int least_allocated = 1;
  int balanced_allocation = 1;
};

struct KubeOptions {
  int replicas = 2;  ///< time-slicing replicas per GPU, >= 1, if the cluster permits them
  int percentage_of_nodes_to_score = 0;  ///< 0: adaptive
  Duration backoff_initial = std::chrono::seconds{1};
  Duration backoff_max = std::chrono::seconds{10};  ///< >= backoff_initial
  /// Interval of polls of the back-off queue; a constant upstream. 0: back-offs end to the nanosecond,
  /// which costs one pass per waiting pod and back-off in an overloaded cluster.
  Duration backoff_poll = std::chrono::seconds{1};
  KubeScoring scoring;
};

/// LeastAllocated, 0 to 100: mean over cpu and memory of the free share [%]. `requested` includes the pod;
/// a resource that the node does not have is left out.
std::int64_t kube_least_allocated(const ResourceRequest& requested, const NodeSpec& node);

/// BalancedAllocation, 0 to 100: 1 - standard deviation of the requested fractions of cpu and memory, in %.
std::int64_t kube_balanced_allocation(const ResourceRequest& requested, const NodeSpec& node);

/// The number of feasible nodes after which the search stops: `percentage` of the nodes (0: adaptive), at
/// least 100; all of fewer than 100 nodes.
std::size_t kube_nodes_to_find(std::size_t nodes, int percentage);

class KubeDefault final : public Policy {
 public:
  KubeDefault(const KubeOptions& options, std::uint64_t seed);

  void decide(const ClusterView& view, std::vector<Decision>& out) override;
  void arrived(const JobView& job, Time now) override;

 private:
  /// The pod's properties that Filter and Score use. Pods of one kind fit or fail alike, so a kind that
  /// fitted nowhere is not tried again before the next departure.
  struct Kind {
    GpuAsk ask;
    ResourceRequest request;
    std::size_t full_at = kNeverFull;  ///< departures() when it last fitted nowhere
  };
  static constexpr std::size_t kNeverFull = static_cast<std::size_t>(-1);

  /// Pods that differ only in their position in the queue. They move between the queues together, so that a
  /// failed attempt costs the same for a thousand pods as for one.
  struct Cohort {
    int priority = 0;
    Time timestamp{0};  ///< queue timestamp: arrival or last failed attempt
    std::uint32_t kind = 0;
    std::size_t attempts = 0;    ///< failed attempts; stops at the last entry of backoffs_
    JobId first = kNoJob;        ///< root of a leftist heap by position
    std::uint64_t position = 0;  ///< of `first`
  };
  struct LaterActive {
    bool operator()(const Cohort& a, const Cohort& b) const {
      return std::tuple(-std::int64_t{a.priority}, a.timestamp, a.position) >
             std::tuple(-std::int64_t{b.priority}, b.timestamp, b.position);
    }
  };
  struct BackingOff {
    Time release{0};  ///< the first poll after the back-off has ended
    Cohort cohort;
    friend bool operator>(const BackingOff& a, const BackingOff& b) {
      return a.release > b.release;
    }
  };
  struct Pod {
    std::uint64_t position = 0;  ///< in the order in which the pods joined the queue
    JobId left = kNoJob;
    JobId right = kNoJob;
    std::uint32_t rank = 0;
  };
  struct Node {
    std::vector<GpuId> gpus;
    int free_gpus = 0;  ///< with a replica left
    ResourceRequest requested;
    ResourceRequest scored;  ///< with the defaults for missing requests
  };

  void move_unschedulable(Time now);
  void release_backed_off(Time now);
  void fail(Cohort cohort, Time now);
  void look_at_nodes(const ClusterView& view);
  std::optional<std::size_t> choose_node(const ClusterView& view, const Kind& kind);
  std::vector<GpuId> take_devices(Node& node, const Kind& kind);
  std::int64_t score(const Node& node, const NodeSpec& spec, const ResourceRequest& pod) const;
  JobId meld(JobId a, JobId b);
  std::uint32_t kind_of(const JobView& job);

  KubeOptions options_;
  int replicas_ = 1;  ///< per GPU of the cluster
  std::uint64_t seed_;
  std::vector<Duration> backoffs_;  ///< after the first, second, ... failed attempt; then the last

  std::map<std::tuple<GpuAsk, std::int64_t, std::int64_t>, std::uint32_t> kind_ids_;
  std::vector<Kind> kinds_;
  std::vector<Pod> pods_;  ///< by job
  std::uint64_t next_position_ = 0;

  std::priority_queue<Cohort, std::vector<Cohort>, LaterActive> active_;
  std::priority_queue<BackingOff, std::vector<BackingOff>, std::greater<>> backoff_;
  std::vector<Cohort> unschedulable_;
  /// Those of unschedulable_ that failed at failed_at_, by (kind, priority, attempts).
  std::map<std::tuple<std::uint32_t, int, std::size_t>, std::size_t> failed_now_;
  Time failed_at_{-1};
  std::size_t departures_ = 0;  ///< departures at the last move of the unschedulable set

  std::vector<Node> nodes_;
  std::vector<int> residents_;          ///< by GPU, with those of this pass
  std::vector<std::uint64_t> counted_;  ///< by job: scan in which its request was counted
  std::uint64_t scan_ = 0;
  std::size_t start_node_ = 0;  ///< upstream's nextStartNodeIndex
  std::uint64_t cycle_ = 0;     ///< scheduling cycles that found a node
  std::vector<std::size_t> feasible_;
  std::vector<std::size_t> best_;
};

}  // namespace corun::inline policies
