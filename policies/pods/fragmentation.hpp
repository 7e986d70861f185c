#pragma once

#include <cstdint>
#include <vector>

#include "policies/pods/pod_policy.hpp"

/// How much of a node's GPUs is of no use to the pods that come? (Weng, Yang, Yu, Wang, Tang, Yang, Zhang, "Beware of
/// Fragmentation: Scheduling GPU-Sharing Workloads with Fragmentation Gradient Descent", USENIX ATC 2023.)
///
/// A target workload M has kinds of pods m with popularity p_m. The fragmentation of a node n is
///
///   F_n = sum over m of p_m F_n(m)
///   F_n(m) = share left on all GPUs of n, if m cannot run on n (CPU, memory, GPU model or GPUs)
///          = share left on the GPUs of n with less left than m asks of one GPU, if m can run on n
///
/// in thousandths of a GPU.
///
/// The paper knows M in advance. Here M is the pods submitted so far, its most popular kinds up to 95 % of them,
/// updated whenever their number has doubled. p_m is the number of pods: exact sums.
namespace corun::inline policies {

class Fragmentation {
 public:
  /// Where a pod goes on a node. Less growth is better.
  struct Growth {
    double growth = 0;  ///< of F_n, times the number of pods of M [1/1000 GPU]
    int gpu = -1;       ///< for a share: by number within the node, ties to the lowest
  };

  /// Pods have been submitted. True if M has changed.
  bool learn(const std::vector<PodKindCount>& kinds, std::int64_t submitted);
  /// F_n of the node as it is, times the number of pods of M.
  double of(const PodNode& node) const;
  /// The least growth of F_n with the pod on it, which has room; `before` is of(node).
  Growth with(const PodNode& node, const PodKind& pod, double before) const;

 private:
  /// Number of GPUs of a node with the same share left.
  struct Share {
    int milli = 0;
    int gpus = 0;
  };
  using Shares = std::vector<Share>;

  static void add(Shares& shares, int milli, int gpus);
  static Shares count(const PodNode& node);
  double sum(const PodNode& node, const ResourceRequest& left, const Shares& shares) const;

  std::int64_t learnt_ = 0;           ///< pods submitted at the last update of target_
  std::vector<PodKindCount> target_;  ///< M
};

}  // namespace corun::inline policies
