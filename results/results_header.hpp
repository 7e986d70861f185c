#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

/// The contents of a results file beside the replications. Wall-clock times, thread count, device
/// and output path are in the run file (run_info.hpp) instead.
namespace corun::inline results {

inline constexpr int kResultsSchemaVersion = 1;

struct PolicyHeader {
  std::string label;       ///< name in the output; all differ
  std::string name;        ///< in the catalogue
  std::string parameters;  ///< JSON text
  bool granted_truth = false;
};

struct GpuHeader {
  std::string type;
  double memory_mib = 0;
  std::size_t node = 0;         ///< in the cluster
  std::size_t gpu_of_node = 0;  ///< within the node
  std::string virtual_cluster;  ///< empty: none
};

struct ResultsHeader {
  std::string corun_version;
  std::string commit;
  std::string config;  ///< the effective configuration, YAML
  std::uint64_t seed = 0;
  std::vector<std::string> inputs;     ///< "sha256:... FILE" of every file that was read
  std::vector<PolicyHeader> policies;  ///< in the order of Replication::runs
  std::string measured_on;             ///< the GPU of a live run; empty: simulated
  std::vector<GpuHeader> gpus;         ///< of the cluster, by GpuId
  std::vector<std::string> warnings;   ///< what the program says of the experiment
  std::string real_runs;               ///< whether its setting was held against a real run
};

}  // namespace corun::inline results
