#pragma once

#include <vector>

#include "sim/cluster_view.hpp"

/// Where a group goes.
namespace corun {

/// `gang` empty GPUs, or none if there are not enough: all on one node if one has room (the node with
/// the fewest empty GPUs that suffices, ties to the lowest index), else the lowest-numbered ones.
std::vector<GpuId> choose_empty_gpus(const ClusterView& view, int gang);
/// The same on a plan of what would be free; `state` says which GPU is on which node.
std::vector<GpuId> anywhere(const ClusterState& state, const FreeGpus& free, int gang);

/// The consolidated placement of Lucid's simulator (Hu et al., ASPLOS 2023): a gang is on as few nodes
/// as it can be, or it waits. `gang` of the free GPUs, or none:
///   - a gang that the largest node could hold: the node with the fewest free GPUs that has enough,
///     ties to the lowest index;
///   - a larger one: nodes by free GPUs descending, ties to the lowest index; nodes that are wholly
///     free and not more than what is still needed are taken whole, and the rest goes to the first node
///     after them that has room for it. On nodes of one size n these are gang / n free nodes and one
///     with gang % n free GPUs, as there.
/// On a node the lowest-numbered free GPUs.
std::vector<GpuId> consolidated(const ClusterState& state, const FreeGpus& free, int gang);

}  // namespace corun
