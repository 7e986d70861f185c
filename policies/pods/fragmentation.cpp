#include "policies/pods/fragmentation.hpp"

#include <algorithm>
#include <functional>

namespace corun::inline policies {

namespace {

constexpr double kPopularity = 0.95;

}  // namespace

bool Fragmentation::learn(const std::vector<PodKindCount>& kinds, std::int64_t submitted) {
  if (submitted < 2 * learnt_) return false;
  learnt_ = submitted;
  std::vector<PodKindCount> sorted = kinds;
  std::ranges::stable_sort(sorted, std::greater<>{}, &PodKindCount::submitted);
  target_.clear();
  std::int64_t covered = 0;
  for (const PodKindCount& kind : sorted) {
    if (static_cast<double>(covered) >= kPopularity * static_cast<double>(submitted)) break;
    covered += kind.submitted;
    target_.push_back(kind);
  }
  return true;
}

double Fragmentation::of(const PodNode& node) const { return sum(node, node.left, count(node)); }

Fragmentation::Growth Fragmentation::with(const PodNode& node, const PodKind& pod,
                                          double before) const {
  const ResourceRequest left{node.left.cpu_milli - pod.request.cpu_milli,
                             node.left.memory_mib - pod.request.memory_mib};
  const Shares shares = count(node);
  if (!pod.is_share()) {
    Shares after = shares;
    add(after, 1000, -pod.gpus);
    return {sum(node, left, after) - before, -1};
  }
  Growth best;
  int best_share = -1;
  for (const Share& share : shares) {
    if (share.gpus == 0 || share.milli < pod.gpu_milli) continue;
    Shares after = shares;
    add(after, share.milli, -1);
    add(after, share.milli - pod.gpu_milli, 1);
    const double growth = sum(node, left, after) - before;
    const int gpu = static_cast<int>(std::ranges::find(node.gpus, share.milli) - node.gpus.begin());
    if (best_share < 0 || growth < best.growth || (growth == best.growth && gpu < best.gpu)) {
      best = {growth, gpu};
      best_share = share.milli;
    }
  }
  return best;
}

void Fragmentation::add(Shares& shares, int milli, int gpus) {
  for (Share& s : shares) {
    if (s.milli != milli) continue;
    s.gpus += gpus;
    return;
  }
  shares.push_back({milli, gpus});
}

Fragmentation::Shares Fragmentation::count(const PodNode& node) {
  Shares shares;
  shares.reserve(8);
  for (const int milli : node.gpus) add(shares, milli, 1);
  return shares;
}

double Fragmentation::sum(const PodNode& node, const ResourceRequest& left,
                          const Shares& shares) const {
  int all = 0;
  for (const Share& s : shares) all += s.milli * s.gpus;
  std::int64_t sum = 0;
  for (const PodKindCount& kind : target_) {
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

}  // namespace corun::inline policies
