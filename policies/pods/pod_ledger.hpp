#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "policies/pods/fragmentation.hpp"
#include "policies/pods/pod_policy.hpp"

/// What nodes have left, and how much fragmentation grows where a pod goes. For policies that place pods beside
/// other jobs. A kind's growth on a node is computed again only after the node or the target workload has changed.
namespace corun::inline policies {

class PodLedger {
 public:
  explicit PodLedger(const ClusterView& view);

  /// Number of the kind; counts the pod for the target workload.
  std::uint32_t submitted(const PodKind& pod);
  const PodKind& kind(std::uint32_t kind) const { return kinds_[kind].pod; }
  /// Learns the target workload. Call it before growth(), after pods were submitted.
  void learn();

  std::size_t nodes() const { return nodes_.size(); }
  const PodNode& node(std::size_t n) const { return nodes_[n]; }
  std::size_t node_of(GpuId gpu) const { return node_of_[index(gpu)]; }
  /// `sign` 1: the pod takes these GPUs, all of one node or, a gang larger than any node, of several. Such a gang asks
  /// nothing of the nodes. -1: it gives them back.
  void book(std::uint32_t kind, const std::vector<GpuId>& gpus, int sign);
  /// The node must have room.
  Fragmentation::Growth growth(std::uint32_t kind, std::size_t n);
  /// The same on a copy of a node.
  Fragmentation::Growth growth_on(const PodNode& node, const PodKind& pod) const {
    return fragmentation_.with(node, pod, fragmentation_.of(node));
  }

 private:
  template <typename T>
  struct Cached {
    T value{};
    std::uint32_t version = 0;  ///< of the node
  };

  Fragmentation fragmentation_;
  std::vector<PodNode> nodes_;
  std::vector<std::size_t> node_of_;                            ///< by GPU
  std::vector<std::uint32_t> versions_;                         ///< by node, from 1
  std::vector<Cached<double>> worths_;                          ///< by node
  std::vector<std::vector<Cached<Fragmentation::Growth>>> on_;  ///< by kind and node
  std::map<PodKind, std::uint32_t> ids_;
  std::vector<PodKindCount> kinds_;
  std::int64_t submitted_ = 0;
  int limit_;  ///< cluster.max_jobs_per_gpu
};

}  // namespace corun::inline policies
