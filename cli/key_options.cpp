#include "cli/key_options.hpp"

#include <algorithm>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "cli/option_values.hpp"
#include "policies/catalog.hpp"
#include "runner/config/machines.hpp"
#include "runner/inputs/file_kind.hpp"
#include "sim/base/text.hpp"
#include "sim/error.hpp"
#include "support/output_file.hpp"
#include "traces/job_csv.hpp"

namespace corun::inline cli {

namespace {

namespace po = boost::program_options;

constexpr std::int64_t kMostCounted = 1'000'000;

/// The overrides of --gpus and --cluster, of which at least one is given.
std::vector<Override> cluster_overrides(const po::variables_map& values) {
  const auto alike = [](const std::string& flag, std::int64_t nodes, std::int64_t gpus_per_node) {
    return std::vector<Override>{
        typed_word("cluster.nodes", std::to_string(nodes), flag),
        typed_word("cluster.gpus_per_node", std::to_string(gpus_per_node), flag)};
  };
  std::vector<Machines> machines;
  std::int64_t all = 0;
  std::string text;
  if (values.count("cluster") != 0) {
    text = values["cluster"].as<std::string>();
    machines = parse_machines(text, "--cluster");
    for (const Machines& m : machines) all += m.nodes * m.gpus_per_node;
  }
  if (values.count("gpus") != 0) {
    const std::int64_t gpus = whole_option(values, "gpus", 1, kMostCounted);
    if (!machines.empty() && all != gpus) {
      throw InputError(
          "--gpus",
          fmt::format("found {}, but --cluster {} has {}; leave one of them out", gpus, text, all));
    }
    if (machines.empty() && gpus <= kNodeGpus) return alike("--gpus", 1, gpus);
    if (machines.empty() && gpus % kNodeGpus == 0) {
      return alike("--gpus", gpus / kNodeGpus, kNodeGpus);
    }
    if (machines.empty()) {
      const std::int64_t of_node = gpus % 4 == 0 ? 4 : gpus % 2 == 0 ? 2 : 1;
      throw InputError(
          "--gpus", fmt::format("found {}, expected up to {}, or a multiple of {} for nodes of {} "
                                "GPUs; other nodes by --cluster {}x{}",
                                gpus, kNodeGpus, kNodeGpus, kNodeGpus, gpus / of_node, of_node));
    }
  }
  if (!machines.front().gpu_type.empty())
    return {typed_text("cluster.machines", text, "--cluster")};
  const std::string flag = values.count("gpus") != 0 ? "--gpus" : "--cluster";
  return alike(flag, machines.front().nodes, machines.front().gpus_per_node);
}

/// The names in --policies.
std::vector<std::string> policy_list(const std::string& text) {
  std::vector<std::string_view> known;
  for (const PolicyEntry& entry : policy_catalog()) {
    known.push_back(entry.name);
    if (!entry.alias.empty()) known.push_back(entry.alias);
  }
  if (text.find_first_of("[{:") != std::string::npos) {
    throw InputError("--policies",
                     fmt::format("found '{}', expected names such as fifo,sjf; parameters go by "
                                 "--set policies='[{{name: fifo, blocking: backfill}}]'",
                                 printable(text)));
  }
  std::vector<std::string> list;
  for (const std::string& part : split_text(text, ',')) {
    const std::string name(trimmed(part));
    if (find_policy(name) == nullptr) {
      throw InputError("--policies",
                       fmt::format("found '{}': {}", printable(name), did_you_mean(name, known)));
    }
    list.push_back(name);
  }
  return list;
}

}  // namespace

void add_columns_option(CommandLine& command) {
  command.own.add_options()(
      "columns", po::value<std::string>(),
      "names of the trace's columns: THEIRS=OURS,..., such as arrival=submit_s,minutes=solo_s*60; "
      "THEIRS= leaves one out; end-start=solo_s computes. Ours: docs/formats.md");
}

void add_log_options(CommandLine& command) {
  add_columns_option(command);
  command.own.add_options()("states", po::value<std::string>(),
                            "states of jobs that count, if the trace says them: "
                            "completed,failed,... or running; else those that have ended")(
      "strict", "the first row of the trace that is left out is an error");
}

std::vector<RenamedColumn> columns_option(const po::variables_map& values) {
  if (values.count("columns") == 0) return {};
  return parse_renamed_columns(values["columns"].as<std::string>(), "--columns");
}

void add_key_options(CommandLine& command) {
  add_log_options(command);
  auto add = command.own.add_options();
  add("policies", po::value<std::string>(), "names of corun list policies, such as fifo,sjf");
  add("gpus", po::value<std::string>(), "GPUs of the cluster, on nodes of 8");
  add("cluster", po::value<std::string>(),
      "NODESxGPUS: nodes and GPUs of each, such as 4x8, or of several types 4x8:V100-16GB+2x4:T4");
  add("replications", po::value<std::string>(), "the same as --set replications=N");
}

std::vector<Override> key_overrides(const po::variables_map& values,
                                    std::span<const Override> set) {
  std::vector<Override> overrides;
  if (values.count("columns") != 0) {
    (void)columns_option(values);  // its errors name the flag
    overrides.push_back(
        typed_text("workload.columns", values["columns"].as<std::string>(), "--columns"));
  }
  if (values.count("states") != 0) {
    const std::string states = values["states"].as<std::string>();
    (void)parse_chosen_states(states, "--states");
    overrides.push_back(typed_text("workload.states", states, "--states"));
  }
  if (values.count("strict") != 0)
    overrides.push_back(typed_word("workload.strict", "true", "--strict"));
  if (values.count("policies") != 0) {
    overrides.push_back(
        typed_list("policies", policy_list(values["policies"].as<std::string>()), "--policies"));
  }
  if (values.count("gpus") != 0 || values.count("cluster") != 0) {
    for (Override& option : cluster_overrides(values)) overrides.push_back(std::move(option));
  }
  if (values.count("replications") != 0) {
    const std::int64_t count = whole_option(values, "replications", 1, kMostCounted);
    overrides.push_back(typed_word("replications", std::to_string(count), "--replications"));
  }
  for (const Override& option : overrides) {
    for (const Override& other : set) {
      if (option.key != other.key && !option.key.starts_with(other.key + ".")) continue;
      throw InputError(option.place, fmt::format("{} gives {}, too; leave one of them out",
                                                 other.place, option.key));
    }
  }
  return overrides;
}

}  // namespace corun::inline cli
