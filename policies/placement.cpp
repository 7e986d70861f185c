#include "policies/placement.hpp"

#include <algorithm>

namespace corun {

std::vector<GpuId> choose_empty_gpus(const ClusterView& view, int gang) {
  return anywhere(view.state(), view.state().empty(), gang);
}

namespace {

/// The lowest-numbered `count` free GPUs of a node that has as many.
void take(const ClusterState& state, const FreeGpus& free, NodeId node, int count,
          std::vector<GpuId>& chosen) {
  chosen.reserve(chosen.size() + static_cast<std::size_t>(count));
  for (auto g = static_cast<std::uint32_t>(index(state.first_gpu(node))); count > 0; ++g) {
    if (!free.gpus().contains(GpuId{g})) continue;
    chosen.push_back(GpuId{g});
    --count;
  }
}

/// On the node with the fewest free GPUs that has enough, ties to the lowest index.
std::vector<GpuId> on_one_node(const ClusterState& state, const FreeGpus& free, int gang) {
  std::vector<GpuId> chosen;
  for (int count = gang; count <= free.nodes().most() && chosen.empty(); ++count) {
    free.nodes().each(count, [&](NodeId node) {
      take(state, free, node, gang, chosen);
      return false;
    });
  }
  return chosen;
}

}  // namespace

std::vector<GpuId> anywhere(const ClusterState& state, const FreeGpus& free, int gang) {
  std::vector<GpuId> chosen;
  if (free.gpus().size() < gang) return chosen;
  if (gang > 1) chosen = on_one_node(state, free, gang);
  if (!chosen.empty()) return chosen;
  free.gpus().each([&](GpuId g) {
    chosen.push_back(g);
    return chosen.size() < static_cast<std::size_t>(gang);
  });
  return chosen;
}

std::vector<GpuId> consolidated(const ClusterState& state, const FreeGpus& free, int gang) {
  const NodesByFree& nodes = free.nodes();
  if (free.gpus().size() < gang) return {};
  if (gang <= nodes.most()) return on_one_node(state, free, gang);
  std::vector<GpuId> chosen;
  int needed = gang;
  for (int count = nodes.most(); count > 0 && needed > 0; --count) {
    nodes.each(count, [&](NodeId node) {
      const bool whole = count == state.spec().nodes[index(node)].gpus;
      if (needed > count && !whole) return true;
      const int taken = std::min(needed, count);
      take(state, free, node, taken, chosen);
      needed -= taken;
      return needed > 0;
    });
  }
  if (needed > 0) chosen.clear();
  return chosen;
}

}  // namespace corun
