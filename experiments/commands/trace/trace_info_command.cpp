#include <optional>

#include "experiments/commands/trace/trace_commands.hpp"
#include "experiments/commands/trace/trace_options.hpp"
#include "sim/error.hpp"
#include "traces/openb.hpp"

/// `corun trace info`: prints statistics of a trace of jobs.
namespace corun {

namespace {

namespace po = boost::program_options;

/// Number of GPUs of the cluster that the flags name; empty if they name none.
std::optional<double> cluster_gpus(const po::variables_map& values, const CommonOptions& common) {
  if (values.count("node-list") != 0) {
    if (values.count("gpus") != 0) {
      throw InputError("--gpus", "the cluster is that of --node-list; give one of the two");
    }
    const std::string path =
        find_input_file(values["node-list"].as<std::string>(), common, "--node-list");
    double gpus = 0;
    for (const ListedNode& node : read_openb_nodes(path).nodes) gpus += node.gpus;
    return gpus;
  }
  if (values.count("gpus") == 0) return std::nullopt;
  return static_cast<double>(whole_option(values, "gpus", 1, 1'000'000));
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
      "  corun trace info examples/jobs.csv --format-name csv --format json\n"
      "  corun trace info examples/gavel.csv --rates examples/gavel_rates.json --gpus 4\n";
  command.positional = "FILE";
  command.configured = false;
  add_trace_format(command);
  command.own.add_options()("gpus", po::value<std::string>(),
                            "GPUs of a cluster to compare the work with")(
      "node-list", po::value<std::string>(), "the same from a node list (openb_node_list_*.csv)");
  CommonOptions common;
  const auto values = parse_command_line(command, arguments, common);
  if (!values) return kDone;
  const std::string file = required_argument(*values, "FILE", "corun trace info");
  const auto gpus = cluster_gpus(*values, common);
  WorkloadKeys keys;
  const ReadTrace read = read_trace(file, *values, common, "FILE", keys);
  std::vector<NamedFile> inputs = files_of(read, "FILE");
  if (values->count("node-list") != 0) {
    inputs.push_back({"--node-list", find_input_file((*values)["node-list"].as<std::string>(),
                                                     common, "--node-list")});
  }
  if (common.output) check_outputs_differ({{"--output", *common.output}}, inputs);
  emit(common, trace_output({read.path, read.format, &read.trace, gpus}, common.format));
  return kDone;
}

}  // namespace corun
