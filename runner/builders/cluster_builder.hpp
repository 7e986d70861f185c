#pragma once

#include <string>
#include <vector>

#include "runner/config/config.hpp"
#include "runner/config/note.hpp"
#include "runner/inputs/input_files.hpp"
#include "runner/inputs/virtual_clusters.hpp"
#include "sim/cluster_spec.hpp"
#include "traces/gpu_catalog.hpp"
#include "traces/tables/measurements.hpp"

/// Builds the machines of the simulation from `cluster` of a configuration.
namespace corun::inline runner {

/// The machines, their virtual clusters and notes.
struct Cluster {
  ClusterSpec spec;
  GpuTypes types;  ///< the types that corun knows, and those of cluster.gpu_types
  std::vector<VirtualCluster> virtual_clusters;  ///< may be empty; their nodes follow one another
  Notes notes;                                   ///< on nodes of a list that were left out

  /// The GPU types as text, separated by commas.
  std::string gpu_types() const;
};

/// Those of cluster.virtual_clusters, which must be set.
std::vector<VirtualCluster> virtual_clusters_of(const Config& config, InputFiles& files);

/// Reads the node list, the virtual clusters and the GPU types, if named. InputError at the wrong key or line of a
/// file.
Cluster build_cluster(const Config& config, InputFiles& files);

/// The GPU types on which a table was measured, by their standard names; one of them may be "a GPU type that is not
/// stated".
std::vector<std::string> measured_types(const Measurements& table, const GpuTypes& known);

/// A note kMeasuredElsewhere if `pairs` were measured on another GPU type than the cluster's, one if with
/// another sharing mode. `subject` begins each: "the world was measured".
Notes measured_elsewhere(const Measurements& pairs, const Cluster& cluster,
                         const std::string& subject);

}  // namespace corun::inline runner
