#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "cli/trace/trace_commands.hpp"
#include "cli/trace/trace_options.hpp"
#include "runner/config/machines.hpp"
#include "sim/error.hpp"
#include "traces/gpu_catalog.hpp"
#include "traces/phase_table.hpp"
#include "traces/public_formats/openb.hpp"

/// `corun trace info`: prints statistics of a trace of jobs.
namespace corun::inline cli {

namespace {

namespace po = boost::program_options;

struct ComparedCluster {
  std::optional<double> gpus;
  std::vector<GpusOfType> types;  ///< empty: not told
  int gpus_per_node = 0;          ///< 0: not told, or nodes differ

  void add(const std::string& type, double more) {
    gpus = gpus.value_or(0) + more;
    const GpuTypes known;
    for (GpusOfType& t : types) {
      if (!known.same(t.gpu_type, type)) continue;
      t.gpus += more;
      return;
    }
    types.push_back({type, more});
  }
};

/// The cluster that the flags name; without GPUs if they name none.
ComparedCluster compared_cluster(const po::variables_map& values, const CommonOptions& common) {
  std::string given;
  for (const char* flag : {"gpus", "cluster", "node-list"}) {
    if (values.count(flag) == 0) continue;
    if (!given.empty()) {
      throw InputError("--" + given,
                       std::string("the cluster is that of --") + flag + "; give one of the two");
    }
    given = flag;
  }
  ComparedCluster cluster;
  if (given == "node-list") {
    const std::string path =
        find_input_file(values["node-list"].as<std::string>(), common, "--node-list");
    for (const ListedNode& node : read_openb_nodes(path).nodes) {
      if (node.gpus > 0) cluster.add(node.gpu_model, node.gpus);
    }
  } else if (given == "cluster") {
    const std::vector<Machines> all =
        parse_machines(values["cluster"].as<std::string>(), "--cluster");
    const bool alike = std::ranges::all_of(
        all, [&](const Machines& m) { return m.gpus_per_node == all.front().gpus_per_node; });
    if (alike) cluster.gpus_per_node = static_cast<int>(all.front().gpus_per_node);
    for (const Machines& m : all) {
      const double gpus = static_cast<double>(m.nodes) * static_cast<double>(m.gpus_per_node);
      if (m.gpu_type.empty()) {
        cluster.gpus = gpus;
      } else {
        cluster.add(GpuTypes().standard_name(m.gpu_type), gpus);
      }
    }
  } else if (given == "gpus") {
    cluster.gpus = static_cast<double>(whole_option(values, "gpus", 1, 1'000'000));
  }
  return cluster;
}

}  // namespace

int trace_info_command(const std::vector<std::string>& arguments) {
  CommandLine command;
  command.name = "trace info";
  command.usage = "corun trace info FILE [options]";
  command.summary =
      "What one looks at first in a trace of jobs: how many, what they ask for, how they arrive, "
      "how\nlong they run, and what load that is for a cluster. FILE may be compressed (.gz, "
      ".zst).";
  command.examples =
      "  corun trace info examples/jobs.csv\n"
      "  corun trace info examples/jobs.csv --gpus 4\n"
      "  corun trace info examples/jobs.csv --cluster 1x2:V100-16GB+2x1:T4\n"
      "  corun trace info examples/jobs.csv --phases examples/phases.csv\n"
      "  corun trace info examples/jobs.csv --cluster 4x1 --nodes-per-switch 2\n"
      "  corun trace info examples/jobs.csv --format-name csv --format json\n"
      "  corun trace info examples/gavel.csv --rates examples/gavel_rates.json --gpus 4\n";
  command.positional = "FILE";
  command.configured = false;
  add_trace_format(command);
  command.own.add_options()("gpus", po::value<std::string>(),
                            "GPUs of a cluster to compare the work with")(
      "cluster", po::value<std::string>(),
      "the same as NODESxGPUS, or with GPU types, 4x8:V100-16GB+2x4:T4: the load of each")(
      "node-list", po::value<std::string>(), "the same from a node list (openb_node_list_*.csv)")(
      "nodes-per-switch", po::value<std::string>(),
      "nodes on each switch of --cluster: the fewest switches that each gang can be on")(
      "phases", po::value<std::string>(),
      "table of phases of jobs that change, as workload.phases");
  CommonOptions common;
  const auto values = parse_command_line(command, arguments, common);
  if (!values) return kDone;
  const std::string file = required_argument(*values, "FILE", "corun trace info");
  const ComparedCluster cluster = compared_cluster(*values, common);
  WorkloadKeys keys;
  ReadTrace read = read_trace(file, *values, common, "FILE", keys);
  std::vector<NamedFile> inputs = files_of(read, "FILE");
  if (values->count("phases") != 0) {
    const std::string path =
        find_input_file((*values)["phases"].as<std::string>(), common, "--phases");
    read_phases(path, keys, read.trace);
    inputs.push_back({"--phases", path});
  }
  int nodes_per_switch = 0;
  if (values->count("nodes-per-switch") != 0) {
    nodes_per_switch = static_cast<int>(whole_option(*values, "nodes-per-switch", 1, 1'000'000));
    if (cluster.gpus_per_node == 0) {
      throw InputError("--nodes-per-switch",
                       "found no cluster whose nodes have equally many GPUs; give --cluster "
                       "NODESxGPUS");
    }
  }
  if (values->count("node-list") != 0) {
    inputs.push_back({"--node-list", find_input_file((*values)["node-list"].as<std::string>(),
                                                     common, "--node-list")});
  }
  if (common.output) check_outputs_differ({{"--output", *common.output}}, inputs);
  emit(common, trace_output({read.path, read.format, &read.trace, cluster.gpus, cluster.types,
                             cluster.gpus_per_node, nodes_per_switch},
                            common.format));
  return kDone;
}

}  // namespace corun::inline cli
