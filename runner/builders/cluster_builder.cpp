#include "runner/builders/cluster_builder.hpp"

#include <algorithm>
#include <cstdint>
#include <set>
#include <string_view>
#include <utility>

#include "runner/config/machines.hpp"
#include "runner/inputs/gpu_types_file.hpp"
#include "sim/base/text.hpp"
#include "sim/error.hpp"
#include "traces/public_formats/openb.hpp"

namespace corun::inline runner {

namespace {

constexpr std::size_t kMostModels = 32;  // a job's GPU models are bits of a 32-bit mask
constexpr std::int64_t kMostGpus = 1'000'000;

/// A node with GPUs of this type and else the values of `cluster`, which fill the gaps of a node list.
/// InputError at `place` for an unknown type without a memory of its own.
NodeSpec node_of(const ClusterConfig& c, const GpuTypes& types, const std::string& gpu_type,
                 std::int64_t gpus, const std::string& place) {
  const GpuSpec* known = types.find(gpu_type);
  if (known == nullptr && !c.gpu_memory_mib) {
    throw InputError(place, "unknown GPU type '" + printable(gpu_type) +
                                "': " + types.advice(gpu_type) +
                                "; or describe your own in cluster.gpu_types, or set "
                                "cluster.gpu_memory_mib" +
                                (c.path || c.machines ? ", which then holds for all nodes" : ""));
  }
  NodeSpec node;
  node.gpu = {gpu_type, c.gpu_speed, c.gpu_memory_mib.value_or(known ? known->memory_mib : 0)};
  node.gpus = static_cast<int>(gpus);
  node.cpu_milli = c.cpu_milli_per_node;
  node.memory_mib = c.memory_mib_per_node;
  return node;
}

/// Refuses a key that repeats what `by`, the node list or the machines, gives, unless the key has its
/// default, as in a dumped configuration.
void refuse_twice_said(const Config& config, const std::string& by) {
  const ClusterConfig& c = config.cluster;
  const ClusterConfig usual;
  const char* twice = c.nodes != usual.nodes                   ? "cluster.nodes"
                      : c.gpus_per_node != usual.gpus_per_node ? "cluster.gpus_per_node"
                      : c.gpu_type != usual.gpu_type           ? "cluster.gpu_type"
                                                               : nullptr;
  if (twice != nullptr) {
    throw InputError(config.place(twice),
                     std::string(twice) + " says what " + by + " says; leave one out");
  }
  if (c.path && c.machines) {
    throw InputError(config.place("cluster.machines"),
                     "cluster.machines says what cluster.path says; leave one out");
  }
  if (c.path && c.virtual_clusters) {
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
    NodeSpec node = node_of(c, cluster.types, listed.gpu_model, listed.gpus, place);
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
    add_note(cluster.notes, NoteCode::kNodesLeftOut, *c.path,
             "left out " + skipped + " of " + *c.path);
  }
}

void add_machines(const Config& config, Cluster& cluster) {
  const ClusterConfig& c = config.cluster;
  const std::string place = config.place("cluster.machines");
  std::int64_t gpus = 0;
  for (const Machines& m : parse_machines(*c.machines, place)) {
    gpus += m.nodes * m.gpus_per_node;
    if (gpus > kMostGpus) {
      throw InputError(place, "more than 1000000 GPUs in all; remove nodes");
    }
    const std::string type =
        cluster.types.standard_name(m.gpu_type.empty() ? c.gpu_type : m.gpu_type);
    const NodeSpec node = node_of(c, cluster.types, type, m.gpus_per_node, place);
    cluster.spec.nodes.insert(cluster.spec.nodes.end(), static_cast<std::size_t>(m.nodes), node);
  }
  if (cluster.spec.models().size() > kMostModels) {
    throw InputError(place, "a 33rd GPU type, expected 32 at most; join some");
  }
}

/// After the nodes: the virtual clusters share them out.
void add_virtual_clusters(const Config& config, InputFiles& files, Cluster& cluster) {
  cluster.virtual_clusters = virtual_clusters_of(config, files);
  const std::int64_t nodes = nodes_of(cluster.virtual_clusters);
  const auto found = static_cast<std::int64_t>(cluster.spec.nodes.size());
  if (nodes == found) return;
  const bool machines = config.cluster.machines.has_value();
  throw InputError(config.place(machines ? "cluster.machines" : "cluster.nodes"),
                   "found " + std::to_string(found) + " nodes, expected the " +
                       std::to_string(nodes) + " of all virtual clusters" +
                       (machines ? "" : "; leave it out"));
}

/// Numbers the switches, in order of the nodes.
void number_switches(std::int64_t nodes_per_switch, ClusterSpec& spec) {
  for (std::size_t n = 0; n < spec.nodes.size(); ++n) {
    spec.nodes[n].switch_id =
        static_cast<std::uint32_t>(n / static_cast<std::size_t>(nodes_per_switch));
  }
}

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

std::vector<VirtualCluster> virtual_clusters_of(const Config& config, InputFiles& files) {
  return read_virtual_clusters(
      files.find(*config.cluster.virtual_clusters, config.place("cluster.virtual_clusters")));
}

Cluster build_cluster(const Config& config, InputFiles& files) {
  const ClusterConfig& c = config.cluster;
  Cluster cluster;
  if (c.gpu_types) {
    cluster.types =
        GpuTypes(read_gpu_types(files.find(*c.gpu_types, config.place("cluster.gpu_types"))));
  }
  if (c.path || c.machines) refuse_twice_said(config, c.path ? "cluster.path" : "cluster.machines");
  if (c.machines) add_machines(config, cluster);
  if (c.path) add_listed_nodes(config, files, cluster);
  if (!c.path && !c.machines) {
    cluster.spec.nodes.assign(static_cast<std::size_t>(c.nodes),
                              node_of(c, cluster.types, cluster.types.standard_name(c.gpu_type),
                                      c.gpus_per_node, config.place("cluster.gpu_type")));
  }
  if (c.virtual_clusters) add_virtual_clusters(config, files, cluster);
  number_types(cluster.spec);
  if (config.cluster.nodes_per_switch) {
    number_switches(*config.cluster.nodes_per_switch, cluster.spec);
  }
  cluster.spec.sharing = name_of(c.sharing);
  if (c.max_jobs_per_gpu) cluster.spec.max_jobs_per_gpu = static_cast<int>(*c.max_jobs_per_gpu);
  cluster.spec.oom = {from_seconds(c.oom.ramp_s), static_cast<int>(c.oom.retries)};
  return cluster;
}

std::vector<std::string> measured_types(const Measurements& table, const GpuTypes& known) {
  std::set<std::string> types;
  for (const CorunMeasurement& run : table.runs) types.insert(known.standard_name(run.gpu_type));
  if (!table.runs.empty()) return {types.begin(), types.end()};
  for (const SpeedTable::Campaign& campaign : table.speeds.campaigns) {
    types.insert(campaign.gpu.empty() ? "a GPU type that is not stated"
                                      : known.standard_name(campaign.gpu));
  }
  return {types.begin(), types.end()};
}

Notes measured_elsewhere(const Measurements& pairs, const Cluster& cluster,
                         const std::string& subject) {
  Notes notes;
  const auto add = [&](const std::string& text) {
    add_note(notes, NoteCode::kMeasuredElsewhere, pairs.source, subject + text);
  };
  const bool is_one = pairs.speeds.campaigns.size() == 1;
  const std::string gpu = !pairs.gpu.empty() ? cluster.types.standard_name(pairs.gpu)
                          : is_one           ? "a GPU type that is not stated"
                                             : "several GPU types";
  if (gpu != cluster.gpu_types()) {
    add(" on " + printable(gpu) + " (" + printable(pairs.source) + "), not on " +
        cluster.gpu_types() +
        (pairs.gpu.empty() && is_one ? ": state it in a column gpu" : ": set cluster.gpu_type") +
        ", or co-run costs are extrapolated");
  }
  if (!pairs.sharing.empty() && pairs.sharing != cluster.spec.sharing) {
    add(" with " + printable(pairs.sharing) + " (" + printable(pairs.source) + "), not with " +
        cluster.spec.sharing + ": set cluster.sharing, or co-run costs are extrapolated");
  } else if (pairs.sharing.empty() && !is_one) {
    add(" with several sharing modes (" + printable(pairs.source) + "), not with " +
        cluster.spec.sharing + " alone: write its pairs to a file of their own");
  }
  return notes;
}

}  // namespace corun::inline runner
