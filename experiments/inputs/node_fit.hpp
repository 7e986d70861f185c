#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "sim/cluster_spec.hpp"
#include "sim/job.hpp"

/// Whether a job that must live on one node can do so: policies that place pods never start one that no
/// node can hold.
namespace corun {

/// What no node has.
struct NodeLack {
  std::string what;      ///< "asks for 5 GPUs, a node has 4"
  const char* key = "";  ///< of `cluster`, to be raised; empty where only other nodes would do
};

class NodeFit {
 public:
  explicit NodeFit(const ClusterSpec& cluster);

  /// Of what the job asks for; nothing where some node has all of it. CPU and memory count where they
  /// are asked for, its GPU models (bits of ClusterSpec::models()) for those who heed them.
  std::optional<NodeLack> lack_of(const JobSpec& job, bool heeds_models) const;

 private:
  /// What a node has, and many nodes have alike: GPUs, CPU [1/1000], main memory [MiB], bit of the GPU model.
  using Shape = std::tuple<int, std::int64_t, std::int64_t, std::uint32_t>;

  std::vector<std::string> models_;
  std::vector<Shape> shapes_;  ///< each once, the one with the most GPUs first
  Shape most_{};               ///< of each, on whatever node
};

}  // namespace corun
