#include "policies/placement.hpp"

#include <algorithm>
#include <optional>

namespace corun {

std::vector<GpuId> choose_empty_gpus(const ClusterView& view, const JobView& job) {
  const FreeGpus& empty = view.state().empty();
  return job.gpu_models == 0 ? anywhere(view.state(), empty, job.gpus)
                             : anywhere(view.state(), usable(view.state(), empty, job), job.gpus);
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

namespace {

template <typename MayUse>
FreeGpus part_of(const ClusterState& state, const FreeGpus& free, const MayUse& may_use) {
  FreeGpus part(state.spec());
  free.gpus().each([&](GpuId g) {
    if (may_use(g)) part.insert(g, state.gpu(g).node);
    return true;
  });
  return part;
}

}  // namespace

FreeGpus usable(const ClusterState& state, const FreeGpus& free, const JobView& job) {
  return part_of(state, free, [&](GpuId g) { return may_run_on(job, state.gpu_type(g)); });
}

std::vector<GpuId> fastest(const ClusterState& state, const FreeGpus& free, const JobView& job) {
  if (job.on_types.empty()) return anywhere(state, free, job.gpus);
  std::vector<int> all(job.on_types.size(), 0);
  std::vector<int> idle(job.on_types.size(), 0);
  for (const NodeSpec& node : state.spec().nodes) {
    if (may_run_on(job, node.gpu)) all[node.gpu.id] += node.gpus;
  }
  free.gpus().each([&](GpuId g) {
    ++idle[state.gpu_type(g).id];
    return true;
  });
  std::optional<std::size_t> best;
  bool one_type_suffices = false;
  for (std::size_t t = 0; t < all.size(); ++t) {
    one_type_suffices |= all[t] >= job.gpus;
    if (idle[t] < job.gpus) continue;
    if (!best || job.on_types[t].speed > job.on_types[*best].speed) best = t;
  }
  if (best) {
    return anywhere(state,
                    part_of(state, free, [&](GpuId g) { return state.gpu_type(g).id == *best; }),
                    job.gpus);
  }
  return one_type_suffices ? std::vector<GpuId>() : anywhere(state, free, job.gpus);
}

}  // namespace corun
