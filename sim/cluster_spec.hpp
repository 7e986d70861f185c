#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "sim/ids.hpp"
#include "sim/time.hpp"

/// The simulated cluster as it was built: immutable.
namespace corun::inline sim {

struct GpuType {
  std::string name = "V100-16GB";
  double speed = 1.0;         ///< relative to the trace's reference GPU type
  double memory_mib = 16384;  ///< hard limit on the residents' known memory demand
  /// Number of the type in the whole cluster, from 0; equal names have equal numbers. Bit of
  /// JobSpec::gpu_models, row of JobView::on_types.
  std::uint32_t id = 0;
};

struct NodeSpec {
  GpuType gpu;
  int gpus = 1;
  std::int64_t cpu_milli = 32000;  ///< allocatable CPU [1/1000 core], for policies that place pods
  std::int64_t memory_mib = 131072;
  std::uint32_t switch_id = 0;  ///< number of the switch (rack) that the node is connected to
};

/// A joining job that exceeds the memory limit fails `ramp` after its start. It is resubmitted at
/// most `retries` times, then it counts as failed.
struct OomRule {
  Duration ramp = std::chrono::seconds{30};
  int retries = 3;
};

struct ClusterSpec {
  std::vector<NodeSpec> nodes;
  std::string sharing = "time-slicing";
  std::optional<int> max_jobs_per_gpu;  ///< hard limit, checked by the control loop
  OomRule oom;

  /// The GPU types of the cluster by name, each once, in order of the nodes. In a whole cluster the order is
  /// that of GpuType::id.
  std::vector<std::string> models() const {
    std::vector<std::string> names;
    for (const auto& node : nodes) {
      if (std::find(names.begin(), names.end(), node.gpu.name) == names.end()) {
        names.push_back(node.gpu.name);
      }
    }
    return names;
  }
  /// The GPU types by GpuType::id. The nodes must be those of a whole cluster.
  std::vector<GpuType> types() const {
    std::vector<GpuType> all;
    for (const auto& node : nodes) {
      if (node.gpu.id >= all.size()) all.resize(node.gpu.id + 1);
      all[node.gpu.id] = node.gpu;
    }
    return all;
  }
  int gpu_count() const {
    int n = 0;
    for (const auto& node : nodes) n += node.gpus;
    return n;
  }
};

}  // namespace corun::inline sim
