#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "sim/cluster_spec.hpp"
#include "sim/job.hpp"

/// Checks whether some node can hold a job. Policies that place pods never start a job that no node
/// can hold.
namespace corun::inline runner {

/// A request that no node can meet.
struct NodeLack {
  std::string what;      ///< "asks for 5 GPUs, a node has 4"
  const char* key = "";  ///< key of `cluster` to raise; empty if none alone would help
};

class NodeFit {
 public:
  explicit NodeFit(const ClusterSpec& cluster);

  /// What no node has of the job's request; empty if some node can hold the job. CPU and memory
  /// count if requested, GPU models (bits of ClusterSpec::models()) if named.
  std::optional<NodeLack> lack_of(const JobSpec& job) const;
  /// Whether no node of the GPU models that the job names has as many GPUs.
  bool is_too_wide(const JobSpec& job) const;

 private:
  /// Resources of a node: GPUs, CPU [1/1000 core], main memory [MiB], bit of the GPU model.
  using Shape = std::tuple<int, std::int64_t, std::int64_t, std::uint32_t>;

  std::vector<std::string> models_;
  std::vector<Shape> shapes_;  ///< each once, most GPUs first
  Shape most_{};               ///< maximum of each over all nodes
};

}  // namespace corun::inline runner
