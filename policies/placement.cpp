#include "policies/placement.hpp"

#include <algorithm>
#include <cstddef>
#include <optional>

namespace corun::inline policies {

FreeGpus of_types(const ClusterState& state, const FreeGpus& free, std::uint32_t types) {
  FreeGpus own(state.spec(), types);
  free.gpus().each([&](GpuId g) {
    if ((types >> state.gpu_type(g).id & 1U) != 0) own.insert(g, state.gpu(g).node);
    return true;
  });
  return own;
}

std::vector<GpuId> choose_empty_gpus(const ClusterView& view, const GpuAsk& ask) {
  const FreeGpus& free = view.state().empty();
  if (ask.types == 0) return anywhere(view.state(), free, ask.gang);
  return anywhere(view.state(), of_types(view.state(), free, ask.types), ask.gang);
}

namespace {

/// The lowest-numbered `count` free GPUs of a node that has as many.
void take(const ClusterState& state, const FreeGpus& free, NodeId node, int count,
          std::vector<GpuId>& chosen) {
  if (count == state.spec().nodes[index(node)].gpus) {  // the whole node
    const std::size_t before = chosen.size();
    chosen.resize(before + static_cast<std::size_t>(count));
    auto next = static_cast<std::uint32_t>(index(state.first_gpu(node)));
    for (std::size_t k = before; k < chosen.size(); ++k) chosen[k] = GpuId{next++};
    return;
  }
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
      chosen.reserve(static_cast<std::size_t>(gang));
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
  chosen.reserve(static_cast<std::size_t>(gang));
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

/// Nodes [first, end) under one switch.
struct Switch {
  std::size_t first = 0;
  std::size_t end = 0;
};

/// The switches; all nodes as one if none has as many GPUs as the job asks for on which it may run.
std::vector<Switch> switches_for(const std::vector<NodeSpec>& nodes, const JobView& job) {
  std::vector<Switch> all;
  bool fits = false;
  int gpus = 0;
  for (std::size_t n = 0; n < nodes.size(); ++n) {
    if (n == 0 || nodes[n].switch_id != nodes[n - 1].switch_id) {
      all.push_back({n, n});
      gpus = 0;
    }
    all.back().end = n + 1;
    if (may_run_on(job, nodes[n].gpu)) gpus += nodes[n].gpus;
    fits |= gpus >= job.gpus;
  }
  if (!fits) all.assign(1, {0, nodes.size()});
  return all;
}

}  // namespace

std::vector<GpuId> yarn(const ClusterState& state, const FreeGpus& free, const JobView& job) {
  if (free.gpus().size() < job.gpus) return {};
  const std::vector<NodeSpec>& nodes = state.spec().nodes;
  std::vector<GpuId> chosen;
  chosen.reserve(static_cast<std::size_t>(job.gpus));
  for (const Switch& part : switches_for(nodes, job)) {
    int rest = job.gpus;
    std::vector<bool> taken(part.end - part.first, false);
    for (std::size_t n = part.first; n < part.end && job.gpus > free.nodes().most(); ++n) {
      const NodeId node{static_cast<std::uint32_t>(n)};
      if (nodes[n].gpus > rest || free.nodes().free(node) != nodes[n].gpus) continue;
      take(state, free, node, nodes[n].gpus, chosen);
      rest -= nodes[n].gpus;
      taken[n - part.first] = true;
    }
    for (std::size_t n = part.first; n < part.end && rest > 0; ++n) {
      const NodeId node{static_cast<std::uint32_t>(n)};
      if (taken[n - part.first] || free.nodes().free(node) < rest) continue;
      take(state, free, node, rest, chosen);
      rest = 0;
    }
    if (rest == 0) return chosen;
    chosen.clear();
  }
  return chosen;
}

std::vector<GpuId> scattered(const ClusterState& state, const FreeGpus& free, const JobView& job) {
  if (free.gpus().size() < job.gpus) return {};
  const std::vector<NodeSpec>& nodes = state.spec().nodes;
  int idle = 0;
  for (std::size_t n = 0; n < nodes.size() && idle != job.gpus; ++n) {
    if (may_run_on(job, nodes[n].gpu)) idle += std::min(job.gpus, nodes[n].gpus);
  }
  const bool overshoots = idle != job.gpus;
  std::vector<GpuId> chosen;
  const auto wanted = static_cast<std::size_t>(job.gpus);
  for (std::size_t n = 0; n < nodes.size() && chosen.size() != wanted; ++n) {
    const NodeId node{static_cast<std::uint32_t>(n)};
    const int most = overshoots ? job.gpus - static_cast<int>(chosen.size()) : job.gpus;
    take(state, free, node, std::min(most, free.nodes().free(node)), chosen);
  }
  if (chosen.size() != wanted) chosen.clear();
  return chosen;
}

std::vector<GpuId> freest_nodes(const ClusterState& state, const FreeGpus& free, int gang) {
  std::vector<GpuId> chosen;
  if (free.gpus().size() < gang) return chosen;
  chosen.reserve(static_cast<std::size_t>(gang));
  int needed = gang;
  for (int count = free.nodes().most(); count > 0 && needed > 0; --count) {
    free.nodes().each(count, [&](NodeId node) {
      const int taken = std::min(needed, count);
      take(state, free, node, taken, chosen);
      needed -= taken;
      return needed > 0;
    });
  }
  return chosen;
}

std::vector<GpuId> fastest(const ClusterState& state, const FreeGpus& free, const JobView& job) {
  if (free.gpus().size() < job.gpus) return {};
  if (job.on_types.empty()) return anywhere(state, free, job.gpus);
  std::vector<int> count(job.on_types.size(), 0);
  free.gpus().each([&](GpuId g) {
    ++count[state.gpu_type(g).id];
    return true;
  });
  std::optional<std::size_t> best;
  for (std::size_t type = 0; type < count.size(); ++type) {
    if (count[type] < job.gpus) continue;
    if (!best || job.on_types[type].speed > job.on_types[*best].speed) best = type;
  }
  if (best) return anywhere(state, of_types(state, free, std::uint32_t{1} << *best), job.gpus);
  std::ranges::fill(count, 0);
  for (const NodeSpec& node : state.spec().nodes) {
    if (may_run_on(job, node.gpu)) count[node.gpu.id] += node.gpus;
  }
  if (*std::ranges::max_element(count) >= job.gpus) return {};
  return anywhere(state, free, job.gpus);
}

}  // namespace corun::inline policies
