#include "experiments/commands/key_options.hpp"

#include <algorithm>
#include <string_view>

#include <fmt/format.h>

#include "experiments/base/output_file.hpp"
#include "experiments/commands/option_values.hpp"
#include "experiments/config/config_writer.hpp"
#include "experiments/inputs/file_kind.hpp"
#include "policies/catalog.hpp"
#include "sim/base/text.hpp"
#include "sim/error.hpp"
#include "traces/job_csv.hpp"

namespace corun {

namespace {

namespace po = boost::program_options;

constexpr std::int64_t kMostCounted = 1'000'000;

struct Machines {
  std::int64_t nodes = 0;
  std::int64_t gpus_per_node = 0;
};

/// "4x8"
Machines machines_of(const std::string& text) {
  const std::vector<std::string> parts = split_text(text, 'x');
  const auto nodes = parts.size() == 2 ? parse_integer(parts[0]) : std::nullopt;
  const auto gpus = parts.size() == 2 ? parse_integer(parts[1]) : std::nullopt;
  if (!nodes || !gpus || *nodes < 1 || *gpus < 1 || *nodes > kMostCounted || *gpus > kMostCounted) {
    throw InputError(
        "--cluster",
        fmt::format("found '{}', expected NODESxGPUS, such as 4x8 for 4 nodes of 8 GPUs",
                    printable(text)));
  }
  return {*nodes, *gpus};
}

/// The machines of --gpus and --cluster, of which at least one is given.
Machines machines_of(const po::variables_map& values) {
  if (values.count("gpus") == 0) return machines_of(values["cluster"].as<std::string>());
  const std::int64_t gpus = whole_option(values, "gpus", 1, kMostCounted);
  if (values.count("cluster") != 0) {
    const Machines machines = machines_of(values["cluster"].as<std::string>());
    if (machines.nodes * machines.gpus_per_node == gpus) return machines;
    throw InputError(
        "--gpus",
        fmt::format("found {}, but --cluster {} has {}; leave one of them out", gpus,
                    values["cluster"].as<std::string>(), machines.nodes * machines.gpus_per_node));
  }
  if (gpus <= kNodeGpus) return {1, gpus};
  if (gpus % kNodeGpus == 0) return {gpus / kNodeGpus, kNodeGpus};
  const std::int64_t of_node = gpus % 4 == 0 ? 4 : gpus % 2 == 0 ? 2 : 1;
  throw InputError("--gpus",
                   fmt::format("found {}, expected up to {}, or a multiple of {} for nodes of {} "
                               "GPUs; other nodes by --cluster {}x{}",
                               gpus, kNodeGpus, kNodeGpus, kNodeGpus, gpus / of_node, of_node));
}

/// "[{name: 'fifo'}, {name: 'sjf'}]"
std::string policy_list(const std::string& text) {
  std::vector<std::string_view> known;
  for (const PolicyEntry& entry : policy_catalog()) known.push_back(entry.name);
  if (text.find_first_of("[{:") != std::string::npos) {
    throw InputError("--policies",
                     fmt::format("found '{}', expected names such as fifo,sjf; parameters go by "
                                 "--set policies='[{{name: fifo, blocking: backfill}}]'",
                                 printable(text)));
  }
  std::string list;
  for (const std::string& part : split_text(text, ',')) {
    const std::string name(trimmed(part));
    if (std::ranges::find(known, name) == known.end()) {
      throw InputError("--policies",
                       fmt::format("found '{}': {}", printable(name), did_you_mean(name, known)));
    }
    list += (list.empty() ? "" : ", ") + yaml_word(name);
  }
  return "[" + list + "]";
}

}  // namespace

void add_columns_option(CommandLine& command) {
  command.own.add_options()(
      "columns", po::value<std::string>(),
      "names of the trace's columns: THEIRS=OURS,..., such as arrival=submit_s,minutes=solo_s*60; "
      "THEIRS= leaves one out. Ours: docs/formats.md");
}

std::vector<RenamedColumn> columns_option(const po::variables_map& values) {
  if (values.count("columns") == 0) return {};
  return parse_renamed_columns(values["columns"].as<std::string>(), "--columns");
}

void add_key_options(CommandLine& command) {
  add_columns_option(command);
  auto add = command.own.add_options();
  add("policies", po::value<std::string>(), "names of corun list policies, such as fifo,sjf");
  add("gpus", po::value<std::string>(), "GPUs of the cluster, on nodes of 8");
  add("cluster", po::value<std::string>(), "NODESxGPUS: nodes and GPUs of each, such as 4x8");
  add("replications", po::value<std::string>(), "the same as --set replications=N");
}

std::vector<KeyOverride> key_overrides(const po::variables_map& values,
                                       const std::vector<std::string>& set) {
  std::vector<KeyOverride> overrides;
  if (values.count("columns") != 0) {
    (void)columns_option(values);  // its errors name the flag
    overrides.push_back(
        {"--columns", "workload.columns=" + yaml_word(values["columns"].as<std::string>())});
  }
  if (values.count("policies") != 0) {
    overrides.push_back(
        {"--policies", "policies=" + policy_list(values["policies"].as<std::string>())});
  }
  if (values.count("gpus") != 0 || values.count("cluster") != 0) {
    const std::string flag = values.count("gpus") != 0 ? "--gpus" : "--cluster";
    const Machines machines = machines_of(values);
    overrides.push_back({flag, fmt::format("cluster.nodes={}", machines.nodes)});
    overrides.push_back({flag, fmt::format("cluster.gpus_per_node={}", machines.gpus_per_node)});
  }
  if (values.count("replications") != 0) {
    overrides.push_back(
        {"--replications",
         fmt::format("replications={}", whole_option(values, "replications", 1, kMostCounted))});
  }
  const auto key_of = [](const std::string& text) { return text.substr(0, text.find('=')); };
  for (const KeyOverride& option : overrides) {
    for (const std::string& text : set) {
      const std::string key = key_of(text);
      if (key_of(option.text) != key && !key_of(option.text).starts_with(key + ".")) continue;
      throw InputError(option.flag, fmt::format("--set {} gives {}, too; leave one of them out",
                                                printable(text), key_of(option.text)));
    }
  }
  return overrides;
}

bool is_job_trace(const std::string& path, bool with_columns) {
  if (format_of_name(path) == "yaml") return false;
  const FileKind kind = kind_of_file(path).kind;
  if (kind == FileKind::kJobs || kind == FileKind::kProfiles) return true;
  const bool csv =
      path.ends_with(".csv") || path.ends_with(".csv.gz") || path.ends_with(".csv.zst");
  return kind == FileKind::kUnknown && (csv || with_columns);
}

std::vector<KeyOverride> trace_overrides(const std::string& path, const po::variables_map& values) {
  const FoundKind found = kind_of_file(path);
  const bool known = found.kind == FileKind::kJobs && values.count("columns") == 0;
  const std::string_view format = known ? found.format : "csv";
  return {{"TRACE", fmt::format("workload.source={}", format)},
          {"TRACE", "workload.path=" + yaml_word(path)}};
}

InputError with_flag(const InputError& error, const std::vector<KeyOverride>& overrides) {
  const std::string_view text = error.what();
  for (const KeyOverride& option : overrides) {
    const std::string place = "--set " + option.text + ": ";
    if (text.starts_with(place)) {
      return {option.flag, std::string(text.substr(place.size()))};
    }
  }
  return error;
}

std::string give_estimates(Config& config) {
  if (config.places.contains("estimates.duration")) return "";
  std::string names;
  for (const PolicyConfig& policy : config.policies) {
    if (!find_policy(policy.name)->traits.needs_estimates) continue;
    names += (names.empty() ? "" : ", ") + policy.name;
  }
  if (names.empty()) return "";
  config.estimates.duration = DurationEstimates::kExact;
  return fmt::format(
      "exact run times are told to {} (estimates.duration: exact); real estimates have errors: "
      "--set estimates.duration=lognormal",
      names);
}

}  // namespace corun
