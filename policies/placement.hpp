#pragma once

#include <vector>

#include "sim/cluster_view.hpp"

/// Choice of the GPUs of a group.
namespace corun {

/// As many empty GPUs as a job asks for, ascending per node, of the types on which it may run; none if there
/// are not enough. A gang of several goes on one node if one has room (the node with the fewest empty GPUs
/// that suffices, ties to the lowest index). Else the lowest-numbered empty GPUs.
std::vector<GpuId> choose_empty_gpus(const ClusterView& view, const JobView& job);
/// The same for a plan of free GPUs; `state` gives the node of each GPU.
std::vector<GpuId> anywhere(const ClusterState& state, const FreeGpus& free, int gang);

/// The consolidated placement of Lucid's simulator (Hu et al., ASPLOS 2023): a gang is on as few nodes as
/// possible, or it waits. Returns `gang` of the free GPUs, or none:
///   - a gang that the largest node could hold: the node with the fewest free GPUs that has enough, ties to
///     the lowest index;
///   - a larger one: nodes by free GPUs descending, ties to the lowest index. Wholly free nodes that are not
///     larger than the rest of the gang are taken whole; the rest goes to the first node after them that has
///     room for it. With nodes of equal size n these are gang / n free nodes and one with gang % n free GPUs,
///     as in that simulator.
/// On a node the lowest-numbered free GPUs are taken.
std::vector<GpuId> consolidated(const ClusterState& state, const FreeGpus& free, int gang);

/// The free GPUs on which a job may run.
FreeGpus usable(const ClusterState& state, const FreeGpus& free, const JobView& job);

/// anywhere() on the GPU type on which the job is fastest by JobView::on_types, among the types that have
/// enough free GPUs for its gang; ties to the lowest GpuType::id. The job starts on a slower type rather than
/// wait. Of all types together only if none on which it may run has as many GPUs in the cluster. Without
/// estimates by type it is anywhere().
std::vector<GpuId> fastest(const ClusterState& state, const FreeGpus& free, const JobView& job);

}  // namespace corun
