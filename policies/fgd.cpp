#include <algorithm>
#include <array>
#include <memory>
#include <vector>

#include "policies/catalog.hpp"
#include "policies/pod_policy.hpp"

/// fgd: fragmentation gradient descent (Weng, Yang, Yu, Wang, Tang, Yang, Zhang, "Beware of Fragmentation:
/// Scheduling GPU-Sharing Workloads with Fragmentation Gradient Descent", USENIX ATC 2023). A pod goes to
/// the node, and a share to the GPU on it, with the least growth of fragmentation.
///
/// A target workload M has kinds of pods m with popularity p_m. The fragmentation of a node n is
///
///   F_n = sum over m of p_m F_n(m)
///   F_n(m) = share left on all GPUs of n, if m cannot run on n (CPU, memory, GPU model or GPUs)
///          = share left on the GPUs of n with less left than m asks of one GPU, if m can run on n
///
/// in thousandths of a GPU. The pod goes where F_n with the pod less F_n without it is least.
///
/// Departures: the paper knows M in advance. Here M is the pods submitted so far, its most popular kinds up
/// to 95 % of them, updated whenever their number has doubled. Growths are compared unrounded, not as whole
/// scores from 0 to 100; memory counts beside CPU; ties go to the lowest index, not to a random one.
namespace corun {

namespace {

constexpr double kPopularity = 0.95;

class Fgd final : public PodPolicy {
 protected:
  bool learn(const std::vector<KindInfo>& kinds, std::int64_t submitted) override {
    if (submitted < 2 * learnt_) return false;
    learnt_ = submitted;
    std::vector<KindInfo> sorted = kinds;
    std::ranges::stable_sort(sorted, std::greater<>{}, &KindInfo::submitted);
    target_.clear();
    std::int64_t covered = 0;
    for (const KindInfo& kind : sorted) {
      if (static_cast<double>(covered) >= kPopularity * static_cast<double>(submitted)) break;
      covered += kind.submitted;
      target_.push_back(kind);
    }
    return true;
  }

  double worth(const PodNode& node) const override {
    return fragmentation(node, node.left, count(node));
  }

  Fit fit(const PodNode& node, const PodKind& pod, double before) const override {
    const ResourceRequest left{node.left.cpu_milli - pod.request.cpu_milli,
                               node.left.memory_mib - pod.request.memory_mib};
    const Shares shares = count(node);
    if (!pod.is_share()) {
      Shares after = shares;
      add(after, 1000, -pod.gpus);
      return {fragmentation(node, left, after) - before, -1};
    }
    Fit best;
    int best_share = -1;
    for (const Share& share : shares) {
      if (share.gpus == 0 || share.milli < pod.gpu_milli) continue;
      Shares after = shares;
      add(after, share.milli, -1);
      add(after, share.milli - pod.gpu_milli, 1);
      const double growth = fragmentation(node, left, after) - before;
      const int gpu = first_with(node, share.milli);
      if (best_share < 0 || growth < best.score || (growth == best.score && gpu < best.gpu)) {
        best = {growth, gpu};
        best_share = share.milli;
      }
    }
    return best;
  }

 private:
  /// Number of GPUs of a node with the same share left.
  struct Share {
    int milli = 0;
    int gpus = 0;
  };
  using Shares = std::vector<Share>;

  static void add(Shares& shares, int milli, int gpus) {
    for (Share& s : shares) {
      if (s.milli != milli) continue;
      s.gpus += gpus;
      return;
    }
    shares.push_back({milli, gpus});
  }

  static Shares count(const PodNode& node) {
    Shares shares;
    shares.reserve(8);
    for (const int milli : node.gpus) add(shares, milli, 1);
    return shares;
  }

  static int first_with(const PodNode& node, int milli) {
    return static_cast<int>(std::ranges::find(node.gpus, milli) - node.gpus.begin());
  }

  double fragmentation(const PodNode& node, const ResourceRequest& left,
                       const Shares& shares) const {
    int all = 0;
    for (const Share& s : shares) all += s.milli * s.gpus;
    std::int64_t sum = 0;
    for (const KindInfo& kind : target_) {
      const PodKind& pod = kind.pod;
      int enough = 0;     // GPUs with room for its request of one GPU
      int too_small = 0;  // share left on the other GPUs
      for (const Share& s : shares) {
        if (s.milli >= pod.gpu_milli) {
          enough += s.gpus;
        } else {
          too_small += s.milli * s.gpus;
        }
      }
      const bool runs =
          enough >= pod.gpus && (pod.gpu_models == 0 || (pod.gpu_models & node.model) != 0) &&
          pod.request.cpu_milli <= left.cpu_milli && pod.request.memory_mib <= left.memory_mib;
      sum += kind.submitted * (runs ? too_small : all);
    }
    return static_cast<double>(sum);
  }

  std::int64_t learnt_ = 0;       ///< pods submitted at the last update of target_
  std::vector<KindInfo> target_;  ///< `submitted` is the popularity: exact sums
};

}  // namespace

PolicyEntry fgd_entry() {
  return {.name = "fgd",
          .description =
              "pods on parts of GPUs: where fragmentation grows least (FGD, USENIX ATC 2023)",
          .needs = PolicyNeeds::kNothing,
          .parameters = {},
          .make = [](PolicyContext) -> std::unique_ptr<Policy> { return std::make_unique<Fgd>(); },
          .traits = kPodTraits};
}

}  // namespace corun
