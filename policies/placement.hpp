#pragma once

#include <vector>

#include "sim/cluster_view.hpp"

/// Where a group goes.
namespace corun {

/// `gang` empty GPUs, or none if there are not enough: all on one node if one has room (the node with
/// the fewest empty GPUs that suffice, ties to the lowest index), else the lowest-numbered ones.
std::vector<GpuId> choose_empty_gpus(const ClusterView& view, int gang);

}  // namespace corun
