#pragma once

#include <string>
#include <vector>

#include "experiments/config/config.hpp"
#include "experiments/inputs/input_files.hpp"
#include "experiments/inputs/virtual_clusters.hpp"
#include "sim/cluster_spec.hpp"
#include "traces/pair_table.hpp"

/// From `cluster` of a configuration to the machines of the simulation.
namespace corun {

/// The machines, and what their configuration says beside them.
struct Cluster {
  ClusterSpec spec;
  std::vector<VirtualCluster> virtual_clusters;  ///< their nodes follow one another; may be none
  std::vector<std::string> warnings;             ///< nodes of a list that were left out

  /// The GPU types as text: one, or all of a node list, separated by commas.
  std::string gpu_types() const;
};

/// The configuration with cluster.gpu_type by the name of our table of types, where it was given by
/// Gavel's name (v100, p100, k80).
Config with_standard_gpu_type(Config config);

/// Reads the node list or the virtual clusters where they are named. InputError at the key, or at the
/// line of the file, that cannot be.
Cluster build_cluster(const Config& config, InputFiles& files);

/// A sentence for each way in which `pairs` were measured elsewhere than on this cluster: on another GPU
/// type, with another way of sharing. `subject` begins it: "the world was measured".
std::vector<std::string> measured_elsewhere(const PairTable& pairs, const Cluster& cluster,
                                            const std::string& subject);

}  // namespace corun
