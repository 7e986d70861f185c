#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <limits>
#include <map>
#include <set>
#include <unordered_map>
#include <utility>
#include <vector>

#include "policies/catalog.hpp"
#include "sim/policy.hpp"

/// Common part of the policies that place pods on parts of GPUs: fgd, best-fit, dot-product, gpu-packing.
/// They differ in the score of a node.
///
/// A job is a pod and runs on one node. It asks for a share of one GPU (gpu_milli below 1000) or for whole
/// GPUs, and for CPU and memory of the node (a resource that it does not ask for is not checked); it may
/// name the GPU models on which it runs. Shares of a GPU add up to at most 1000, so nothing is
/// over-committed; the world decides the cost of sharing. Pods are taken in the order of the queue. A pod
/// that fits nowhere waits until a node has room, and holds up no other pod. The best node has the least
/// score, ties to the lowest index.
///
/// Cost: pods with equal requests are of one kind. A kind's score of a node is computed again only after
/// the node has changed, and a kind that found no room is tried again only on nodes that a pod has left.
namespace corun::inline policies {

/// The requests of a pod.
struct PodKind {
  int gpus = 1;
  int gpu_milli = 1000;
  std::uint32_t gpu_models = 0;
  ResourceRequest request;

  bool is_share() const { return gpu_milli < 1000; }
  friend auto operator<=>(const PodKind& a, const PodKind& b) {
    return std::tie(a.gpus, a.gpu_milli, a.gpu_models, a.request.cpu_milli,
                    a.request.memory_mib) <=>
           std::tie(b.gpus, b.gpu_milli, b.gpu_models, b.request.cpu_milli, b.request.memory_mib);
  }
};

struct PodKindCount {
  PodKind pod;
  std::int64_t submitted = 0;  ///< pods of this kind so far
};

/// The resources left on a node.
struct PodNode {
  std::uint32_t model = 0;  ///< its bit of PodKind::gpu_models
  ResourceRequest left;
  std::vector<int> gpus;       ///< by GPU of the node: share left [1/1000]; 0 if no pod may join
  std::vector<int> used;       ///< by GPU of the node: share taken [1/1000]
  std::vector<int> residents;  ///< by GPU of the node
  GpuId first{};
  const NodeSpec* spec = nullptr;

  /// A node without pods.
  static PodNode of(const NodeSpec& spec, GpuId first);

  int gpu_milli_left() const;
  bool has_room(const PodKind& pod) const;
  /// Takes the pod's request (sign 1) or gives it back (-1). A GPU of `limit` residents takes no more.
  void book(const PodKind& pod, const std::vector<GpuId>& taken, int sign, int limit);
};

/// Traits of all policies on PodPolicy.
inline constexpr PolicyTraits kPodTraits{.always_colocates = true, .one_node = true};

class PodPolicy : public Policy {
 public:
  void decide(const ClusterView& view, std::vector<Decision>& out) override;
  void arrived(const JobView& job, Time now) override;
  void departed(JobId job, LogKind how, Time now) override;

 protected:
  struct Fit {
    double score = std::numeric_limits<double>::infinity();  ///< less is better
    int gpu = 0;  ///< GPU for a share, by number within the node
  };

  /// Score of a node that has room. `worth` is the result of worth() for it.
  virtual Fit fit(const PodNode& node, const PodKind& pod, double worth) const = 0;
  /// A part of the score that is the same for all pods; called after the node has changed.
  virtual double worth(const PodNode& node) const {
    (void)node;
    return 0;
  }
  /// Called in a pass after new pods have arrived; true if all scores must be computed anew.
  virtual bool learn(const std::vector<PodKindCount>& kinds, std::int64_t submitted) {
    (void)kinds;
    (void)submitted;
    return false;
  }

  /// The GPU with the least share left that has room for the share; ties to the lowest; -1 if none.
  static int tightest_gpu(const PodNode& node, const PodKind& pod);
  /// The most that one node has: CPU [1/1000 core], GPU [1/1000].
  double most_cpu() const { return most_cpu_; }
  double most_gpu() const { return most_gpu_; }

 private:
  struct Cached {
    double value = 0;
    std::uint32_t version = 0;  ///< of the node
  };
  struct Waiting {
    std::deque<std::pair<std::uint64_t, JobId>> pods;  ///< with their place in the queue
    std::vector<Cached> scores;                        ///< by node
    bool open = false;                                 ///< it may find room
  };
  struct Placed {
    std::uint32_t kind = 0;
    std::uint32_t node = 0;
    std::vector<GpuId> gpus;
  };

  void look_at(const ClusterView& view);
  void open(std::uint32_t kind);
  double score(std::uint32_t kind, std::size_t node);
  double worth_of(std::size_t node);
  void book(std::size_t node, const PodKind& pod, const std::vector<GpuId>& gpus, int sign);

  std::vector<PodNode> nodes_;
  std::vector<std::uint32_t> versions_;  ///< by node, from 1
  std::vector<Cached> worths_;           ///< by node
  double most_cpu_ = 1;
  double most_gpu_ = 1;
  int limit_ = std::numeric_limits<int>::max();  ///< cluster.max_jobs_per_gpu
  std::map<PodKind, std::uint32_t> kind_ids_;
  std::vector<PodKindCount> kinds_;
  std::vector<Waiting> waiting_;                            ///< by kind
  std::set<std::pair<std::uint64_t, std::uint32_t>> open_;  ///< place of the first pod, kind
  std::vector<std::uint32_t> freed_;  ///< nodes that a pod has left since the last pass
  std::unordered_map<JobId, Placed> placed_;
  std::uint64_t next_place_ = 0;
  bool pods_have_come_ = false;  ///< since the last pass
  std::int64_t submitted_ = 0;
};

}  // namespace corun::inline policies
