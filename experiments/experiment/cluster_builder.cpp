#include "experiments/experiment/cluster_builder.hpp"

#include <algorithm>
#include <cstdint>
#include <set>
#include <string_view>
#include <utility>

#include "experiments/config/gpu_types.hpp"
#include "sim/base/text.hpp"
#include "sim/error.hpp"
#include "traces/openb.hpp"

namespace corun {

namespace {

constexpr std::size_t kMostModels = 32;  // a job's GPU models are bits of a 32-bit mask
constexpr std::int64_t kMostGpus = 1'000'000;

std::string known_gpu_types(const std::string& found) {
  std::vector<std::string_view> names;
  for (const GpuTypeInfo& type : gpu_types()) names.push_back(type.name);
  return did_you_mean(found, names);
}

/// The node that `cluster` describes; its values fill the gaps of a node list.
NodeSpec described_node(const ClusterConfig& c) {
  const GpuTypeInfo* known = find_gpu_type(c.gpu_type);
  NodeSpec node;
  node.gpu = {c.gpu_type, c.gpu_speed, c.gpu_memory_mib.value_or(known ? known->memory_mib : 0)};
  node.gpus = static_cast<int>(c.gpus_per_node);
  node.cpu_milli = c.cpu_milli_per_node;
  node.memory_mib = c.memory_mib_per_node;
  return node;
}

/// Refuses a key that repeats what the node list gives, unless the key has its default, as in a
/// dumped configuration.
void refuse_twice_said(const Config& config) {
  const ClusterConfig& c = config.cluster;
  const ClusterConfig usual;
  const char* twice = c.nodes != usual.nodes                   ? "cluster.nodes"
                      : c.gpus_per_node != usual.gpus_per_node ? "cluster.gpus_per_node"
                      : c.gpu_type != usual.gpu_type           ? "cluster.gpu_type"
                                                               : nullptr;
  if (twice != nullptr) {
    throw InputError(config.place(twice),
                     std::string(twice) + " says what cluster.path says; leave one out");
  }
  if (c.virtual_clusters) {
    throw InputError(config.place("cluster.virtual_clusters"),
                     "virtual clusters take identical nodes, and cluster.path lists "
                     "others; leave one of them out");
  }
}

void add_listed_nodes(const Config& config, InputFiles& files, Cluster& cluster) {
  const ClusterConfig& c = config.cluster;
  const NodeList list = read_openb_nodes(files.find(*c.path, config.place("cluster.path")));
  std::set<std::string_view> models;
  for (const ListedNode& listed : list.nodes) {
    const std::string place = list.name + ":" + std::to_string(listed.line) + ":1";
    models.insert(listed.gpu_model);
    if (models.size() > kMostModels) {
      throw InputError(place, "a 33rd GPU model, expected 32 at most; join some");
    }
    const GpuTypeInfo* known = find_gpu_type(listed.gpu_model);
    if (known == nullptr && !c.gpu_memory_mib) {
      throw InputError(place,
                       "unknown GPU type '" + printable(listed.gpu_model) +
                           "': " + known_gpu_types(listed.gpu_model) +
                           "; or set cluster.gpu_memory_mib, which then holds for all nodes");
    }
    NodeSpec node = described_node(c);
    node.gpu = {listed.gpu_model, c.gpu_speed,
                c.gpu_memory_mib.value_or(known ? known->memory_mib : 0)};
    node.gpus = listed.gpus;
    if (listed.cpu_milli > 0) node.cpu_milli = listed.cpu_milli;
    if (listed.memory_mib > 0) node.memory_mib = listed.memory_mib;
    cluster.spec.nodes.push_back(std::move(node));
  }
  std::int64_t gpus = 0;
  for (const NodeSpec& node : cluster.spec.nodes) gpus += node.gpus;
  if (gpus > kMostGpus) {
    throw InputError(list.name + ":1:1",
                     std::to_string(gpus) + " GPUs in all, expected 1000000 at most; remove nodes");
  }
  for (const std::string& skipped : list.skipped) {
    cluster.warnings.push_back("left out " + skipped + " of " + *c.path);
  }
}

/// Reads cluster.virtual_clusters and returns their total number of nodes.
std::int64_t add_virtual_clusters(const Config& config, InputFiles& files, Cluster& cluster) {
  const ClusterConfig& c = config.cluster;
  cluster.virtual_clusters = read_virtual_clusters(
      files.find(*c.virtual_clusters, config.place("cluster.virtual_clusters")));
  std::int64_t nodes = 0;
  for (const VirtualCluster& vc : cluster.virtual_clusters) nodes += vc.nodes;
  if (config.places.contains("cluster.nodes") && nodes != c.nodes) {
    throw InputError(config.place("cluster.nodes"),
                     "found " + std::to_string(c.nodes) + " nodes, expected the " +
                         std::to_string(nodes) + " of all virtual clusters; leave it out");
  }
  return nodes;
}

}  // namespace

namespace {

/// Numbers the GPU types by name, in order of the nodes.
void number_types(ClusterSpec& spec) {
  const std::vector<std::string> names = spec.models();
  for (NodeSpec& node : spec.nodes) {
    const auto at = std::ranges::find(names, node.gpu.name);
    node.gpu.id = static_cast<std::uint32_t>(at - names.begin());
  }
}

}  // namespace

std::string Cluster::gpu_types() const {
  std::string text;
  for (const std::string& model : spec.models()) text += (text.empty() ? "" : ", ") + model;
  return text;
}

Config with_standard_gpu_type(Config config) {
  config.cluster.gpu_type = std::string(gpu_type_of_table(config.cluster.gpu_type));
  return config;
}

Cluster build_cluster(const Config& config, InputFiles& files) {
  const ClusterConfig& c = config.cluster;
  if (find_gpu_type(c.gpu_type) == nullptr && !c.gpu_memory_mib && !c.path) {
    throw InputError(config.place("cluster.gpu_type"),
                     "unknown GPU type '" + printable(c.gpu_type) +
                         "': " + known_gpu_types(c.gpu_type) +
                         "; or set cluster.gpu_memory_mib for a type of your own");
  }
  Cluster cluster;
  std::int64_t nodes = c.nodes;
  if (c.virtual_clusters) nodes = add_virtual_clusters(config, files, cluster);
  if (c.path) {
    refuse_twice_said(config);
    add_listed_nodes(config, files, cluster);
  } else {
    cluster.spec.nodes.assign(static_cast<std::size_t>(nodes), described_node(c));
  }
  number_types(cluster.spec);
  cluster.spec.sharing = name_of(c.sharing);
  if (c.max_jobs_per_gpu) cluster.spec.max_jobs_per_gpu = static_cast<int>(*c.max_jobs_per_gpu);
  cluster.spec.oom = {from_seconds(c.oom.ramp_s), static_cast<int>(c.oom.retries)};
  return cluster;
}

std::vector<std::string> measured_elsewhere(const PairTable& pairs, const Cluster& cluster,
                                            const std::string& subject) {
  std::vector<std::string> sentences;
  const std::string gpu(gpu_type_of_table(pairs.gpu));
  if (gpu != cluster.gpu_types()) {
    sentences.push_back(subject + " on " + printable(gpu) + " (" + printable(pairs.source) +
                        "), not on " + cluster.gpu_types() +
                        ": set cluster.gpu_type, or co-run costs are extrapolated");
  }
  if (!pairs.sharing.empty() && pairs.sharing != cluster.spec.sharing) {
    sentences.push_back(subject + " with " + printable(pairs.sharing) + " (" +
                        printable(pairs.source) + "), not with " + cluster.spec.sharing +
                        ": set cluster.sharing, or co-run costs are extrapolated");
  }
  return sentences;
}

}  // namespace corun
