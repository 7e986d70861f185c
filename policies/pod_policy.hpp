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

/// What the placements of pods on parts of GPUs have in common: fgd, best-fit, dot-product, gpu-packing.
/// They differ in how they score a node.
///
/// A job is a pod and lives on one node. It asks for a share of one GPU (gpu_milli below 1000) or for
/// whole ones, and for CPU and memory of the node (a resource it does not ask for is not checked); it may
/// name the GPU models it runs on. Shares of a GPU add up to 1000 at most, so nothing is over-committed,
/// and what sharing costs is the world's to say. Pods go by the order of the queue; one that fits nowhere
/// waits until a node has room, and holds up nobody. The best node is the one with the least score, ties
/// to the lowest index.
///
/// Cost: pods that ask for the same are of one kind. A kind's score of a node is computed again only
/// when the node has changed, and a kind that found no room is looked at again only for the nodes that
/// somebody has left.
namespace corun {

/// What a pod asks for.
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

/// What a node has left.
struct PodNode {
  std::uint32_t model = 0;  ///< its bit of PodKind::gpu_models
  ResourceRequest left;
  std::vector<int> gpus;       ///< by GPU of the node: share left [1/1000]; 0 where nobody may join
  std::vector<int> used;       ///< by GPU of the node: share taken [1/1000]
  std::vector<int> residents;  ///< by GPU of the node
  GpuId first{};
  const NodeSpec* spec = nullptr;

  int gpu_milli_left() const;
  bool has_room(const PodKind& pod) const;
};

/// Traits of all policies of this kind.
inline constexpr PolicyTraits kPodTraits{
    .always_colocates = true, .one_node = true, .heeds_gpu_models = true};

class PodPolicy : public Policy {
 public:
  void decide(const ClusterView& view, std::vector<Decision>& out) override;
  void arrived(const JobView& job, Time now) override;
  void departed(JobId job, LogKind how) override;

 protected:
  struct Fit {
    double score = std::numeric_limits<double>::infinity();  ///< less is better
    int gpu = 0;  ///< where a share goes, by number within the node
  };
  struct KindInfo {
    PodKind pod;
    std::int64_t submitted = 0;  ///< how many of this kind have come
  };

  /// Of a node that has room. `worth` is what worth() said of it.
  virtual Fit fit(const PodNode& node, const PodKind& pod, double worth) const = 0;
  /// What of a node is the same for all pods; asked for when it has changed.
  virtual double worth(const PodNode& node) const {
    (void)node;
    return 0;
  }
  /// Called in a pass before which pods have come: true where scores are to be computed anew.
  virtual bool learn(const std::vector<KindInfo>& kinds, std::int64_t submitted) {
    (void)kinds;
    (void)submitted;
    return false;
  }

  /// The GPU with the least left that has room for the share; ties to the lowest.
  static int tightest_gpu(const PodNode& node, const PodKind& pod);
  /// What the largest node has of each resource: CPU [1/1000], GPU [1/1000].
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
  std::vector<KindInfo> kinds_;
  std::vector<Waiting> waiting_;                            ///< by kind
  std::set<std::pair<std::uint64_t, std::uint32_t>> open_;  ///< place of the first pod, kind
  std::vector<std::uint32_t> freed_;  ///< nodes that somebody has left since the last pass
  std::unordered_map<JobId, Placed> placed_;
  std::uint64_t next_place_ = 0;
  bool pods_have_come_ = false;  ///< since the last pass
  std::int64_t submitted_ = 0;
};

}  // namespace corun
