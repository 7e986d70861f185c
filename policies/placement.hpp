#pragma once

#include <compare>
#include <cstdint>
#include <vector>

#include "sim/cluster_view.hpp"

/// Choice of the GPUs of a group.
namespace corun::inline policies {

/// The GPUs that a job asks for. Jobs that ask for the same have room on the same GPUs.
struct GpuAsk {
  int gang = 1;
  std::uint32_t types = 0;  ///< bits GpuType::id; 0: any

  bool allows(const GpuType& type) const { return types == 0 || (types >> type.id & 1U) != 0; }
  friend auto operator<=>(const GpuAsk&, const GpuAsk&) =
      default;  // NOLINT(modernize-use-nullptr): it has no null
};

inline GpuAsk ask_of(const JobView& job) { return {job.gpus, job.gpu_models}; }

/// The free GPUs that are of these types (bits GpuType::id). O(nodes + free GPUs).
FreeGpus of_types(const ClusterState& state, const FreeGpus& free, std::uint32_t types);

/// The empty GPUs for this, ascending per node; none if there are not enough. A gang of several goes on one
/// node if one has room (the node with the fewest empty GPUs that suffices, ties to the lowest index). Else
/// the lowest-numbered empty GPUs of the types.
std::vector<GpuId> choose_empty_gpus(const ClusterView& view, const GpuAsk& ask);

// For a plan of free GPUs, on all of which the job may run; `state` gives the node of each GPU.

/// The same of any type.
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

/// The placement `yarn` of Tiresias' simulator (Gu et al., NSDI 2019). Returns as many of the free GPUs as the job
/// asks for, under one switch (NodeSpec::switch_id), the first that has room, or none:
///   - a gang that the largest node could hold: the first node that has enough free GPUs, not the fullest;
///   - a larger one: wholly free nodes in order as long as the rest of the gang fills one, then for the rest the
///     first other node that has room for it.
/// On a node the lowest-numbered free GPUs are taken.
///
/// Departures: the simulator also counts 6 CPUs for each GPU, and memory; they bind on no node that has them for
/// all its GPUs, and are not counted here. A gang that no switch could hold waits for ever there; here it spans
/// switches.
std::vector<GpuId> yarn(const ClusterState& state, const FreeGpus& free, const JobView& job);

/// The placement `scattered` of Blox (Agarwal et al., EuroSys 2024), which returns as many of the free GPUs as the job asks
/// for, or none. Node by node it takes up to as many as the whole job asks for; there must be exactly enough after
/// a node. So a gang of 4 finds none on nodes with 3 and 3 free GPUs.
///
/// Departure: a gang for which that fails on an idle cluster, too, waits for ever there; here it takes no more
/// of a node than it needs.
std::vector<GpuId> scattered(const ClusterState& state, const FreeGpus& free, const JobView& job);

/// As many of the free GPUs as `gang`, or none: the node with the most free GPUs first, ties to the lowest index, then the
/// next. On a node the lowest-numbered free GPUs are taken. The placement of Tiresias and Optimus in the simulator of Pollux
/// (Qiao et al., OSDI 2021).
std::vector<GpuId> freest_nodes(const ClusterState& state, const FreeGpus& free, int gang);

/// Of the types with enough free GPUs the one on which the job is fastest by JobView::on_types, ties to the
/// lowest GpuType::id; on it as anywhere(). It takes the fastest type that is free and never waits for a
/// faster one. A gang gets GPUs of several types only if no type on which it may run has enough GPUs in the
/// whole cluster: then as anywhere(), as without on_types.
std::vector<GpuId> fastest(const ClusterState& state, const FreeGpus& free, const JobView& job);

}  // namespace corun::inline policies
