#include "experiments/commands/live_command.hpp"

#include <algorithm>
#include <array>
#include <filesystem>
#include <iostream>
#include <sstream>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "experiments/base/json.hpp"
#include "experiments/commands/live_workload_command.hpp"
#include "experiments/live/gpu/gpu_box.hpp"
#include "sim/base/text.hpp"
#include "sim/error.hpp"
#include "traces/csv_reader.hpp"

namespace corun {

namespace {

struct Word {
  std::string_view name;
  std::string_view summary;
  int (*run)(const std::vector<std::string>&);
};

constexpr std::array<Word, 7> kWords{{
    {"probe", "what is here: GPUs, driver, MPS, who uses them, and what would be refused",
     live::probe_command},
    {"profile", "run one command alone and watch it: 66 attributes and the three-feature profile",
     live::profile_command},
    {"solo", "solo times and profiles of the workloads of a configuration", live::solo_command},
    {"corun", "solo times and co-runs of all pairs: a *.corun.csv", live::corun_command},
    {"run", "a queue of real jobs under real policies, beside what the simulator predicts",
     live::run_command},
    {"validate", "what a run has measured, beside the prediction and a replay of its decisions",
     live::validate_command},
    {"workload", "a built-in training-like job: --list shows them", live::workload_command},
}};

void print_help() {
  std::cout << "corun live: the same policies on a real GPU box\n\nusage: corun live WORD "
               "[options]\n\nWords:\n";
  for (const Word& w : kWords) {
    std::cout << "  " << w.name << std::string(10 - w.name.size(), ' ') << w.summary << "\n";
  }
  std::cout << "\n`corun live WORD --help` teaches each of them; docs/live.md tells the story.\n";
}

}  // namespace

int live_command(const std::vector<std::string>& arguments) {
  if (arguments.empty() || arguments[0] == "--help" || arguments[0] == "-h") {
    print_help();
    return arguments.empty() ? kBadInput : kDone;
  }
  std::vector<std::string_view> known;
  for (const Word& w : kWords) {
    if (w.name == arguments[0]) return w.run({arguments.begin() + 1, arguments.end()});
    known.push_back(w.name);
  }
  throw InputError("corun live", "no word '" + printable(arguments[0]) +
                                     "': " + did_you_mean(arguments[0], known));
}

}  // namespace corun

namespace corun::live {

namespace po = boost::program_options;
void add_live_options(CommandLine& command, bool runs_jobs) {
  command.own.add_options()("nvml", po::value<std::string>()->default_value(Nvml::kLibrary),
                            "NVIDIA's management library")(
      "record", po::value<std::string>(),
      "write everything that NVML says to this file, too (JSON lines)");
  if (runs_jobs) {
    command.own.add_options()("allow-others",
                              "use GPUs that somebody else is using; what is measured then cannot "
                              "be repeated");
  }
}

Nvml open_nvml(const po::variables_map& values, std::vector<NamedFile> outputs,
               const std::string& directory) {
  namespace fs = std::filesystem;
  const std::string library = values["nvml"].as<std::string>();
  if (values.count("record") == 0) return Nvml(library);
  const auto file = values["record"].as<std::string>();
  if (file.empty()) throw InputError("--record", "found an empty name, expected that of a file");
  outputs.insert(outputs.begin(), {"--record", file});
  check_outputs_differ(outputs, {});
  std::error_code error;
  if (!directory.empty()) {
    const fs::path inside = fs::weakly_canonical(file, error)
                                .lexically_relative(fs::weakly_canonical(directory, error));
    if (!inside.empty() && *inside.begin() != "..") {
      throw InputError("--record", "'" + printable(file) +
                                       "' is in the directory of results, whose files corun names "
                                       "itself; choose another place");
    }
  }
  return Nvml(library, file);
}

std::string aligned(const std::vector<std::vector<std::string>>& rows) {
  std::vector<std::size_t> width(rows.front().size());
  for (const auto& row : rows) {
    for (std::size_t c = 0; c < row.size(); ++c) width[c] = std::max(width[c], row[c].size());
  }
  std::string text;
  for (const auto& row : rows) {
    std::string line = fmt::format("{:<{}}", row[0], width[0]);
    for (std::size_t c = 1; c < row.size(); ++c) line += fmt::format("  {:>{}}", row[c], width[c]);
    text += line + "\n";
  }
  return text;
}

std::string shown(const std::optional<double>& value, int digits) {
  return value ? fmt::format("{:.{}f}", *value, digits) : "-";
}

int probe_command(const std::vector<std::string>& arguments) {
  CommandLine command;
  command.name = "live probe";
  command.usage = "corun live probe [options]";
  command.summary =
      "What is here, and for each GPU whether jobs may run on it alone and share it, or why not.\n"
      "Starts nothing. Exit code 3 where there is no GPU at all.";
  command.examples = "  corun live probe\n  corun live probe --format json\n";
  command.configured = false;
  add_live_options(command, false);
  CommonOptions common;
  const auto parsed = parse_command_line(command, arguments, common);
  if (!parsed) return kDone;

  std::vector<NamedFile> outputs;
  if (common.output) outputs.push_back({"--output", *common.output});
  const Nvml nvml = open_nvml(*parsed, outputs);
  const std::string mps = mps_state();
  struct Use {
    std::string_view name;
    GpuRules rules;
  };
  const std::array<Use, 3> uses{{{"alone", {false, false, false}},
                                 {"time-slicing", {true, false, false}},
                                 {"mps", {true, true, false}}}};
  const auto reasons = [&](std::size_t gpu, const Use& use) {
    std::vector<std::string> all = refusals(nvml, gpu, use.rules);
    if (use.rules.mps && !mps_installed()) {
      all.emplace_back(
          "MPS is not installed: nvidia-cuda-mps-control, which comes with the driver, "
          "is not in PATH");
    }
    return all;
  };
  const auto mode = [](const GpuFacts& facts, const char* untold) {
    return facts.mode ? std::string(name_of(*facts.mode)) : untold;
  };
  const auto or_null = [](const std::optional<double>& v) { return v ? Json(*v) : Json(nullptr); };
  std::ostringstream out;
  if (common.format == Format::kJson) {
    const auto told = [](const std::string& text) {
      return text.empty() ? Json(nullptr) : Json(text);
    };
    Json json{{"driver", told(nvml.driver_version())},
              {"cuda", told(nvml.cuda_version())},
              {"mps", mps},
              {"gpus", Json::array()}};
    for (std::size_t g = 0; g < nvml.gpus().size(); ++g) {
      const GpuFacts& facts = nvml.gpus()[g];
      const GpuReading now = nvml.read(g);
      Json gpu{{"index", facts.index},
               {"name", facts.name},
               {"uuid", facts.uuid},
               {"memory_mib", facts.memory_mib},
               {"memory_used_mib", now.memory_used_mib},
               {"util_pct", or_null(now.util_pct)},
               {"temperature_c", or_null(now.temperature_c)},
               {"sm_clock_mhz", or_null(now.sm_clock_mhz)},
               {"mig", facts.mig ? Json(*facts.mig) : Json(nullptr)},
               {"compute_mode", facts.mode ? Json(name_of(*facts.mode)) : Json(nullptr)},
               {"processes", nullptr},
               {"refused", Json::object()}};
      if (const auto processes = nvml.processes(g)) {
        gpu["processes"] = Json::array();
        for (const GpuProcess& p : *processes) {
          gpu["processes"].push_back({{"pid", p.pid}, {"memory_mib", or_null(p.memory_mib)}});
        }
      }
      for (const Use& use : uses) gpu["refused"][std::string(use.name)] = reasons(g, use);
      json["gpus"].push_back(std::move(gpu));
    }
    out << json.dump(2, ' ', false, Json::error_handler_t::replace) << "\n";
  } else if (common.format == Format::kCsv) {
    out << "index,name,uuid,memory_mib,memory_used_mib,util_pct,temperature_c,mig,compute_mode,"
           "refused_alone,refused_time_slicing,refused_mps\n";
    for (std::size_t g = 0; g < nvml.gpus().size(); ++g) {
      const GpuFacts& facts = nvml.gpus()[g];
      const GpuReading now = nvml.read(g);
      out << facts.index << ',' << csv_text(facts.name) << ',' << csv_text(facts.uuid) << ','
          << csv_number(facts.memory_mib) << ',' << csv_number(now.memory_used_mib) << ','
          << (now.util_pct ? csv_number(*now.util_pct) : "") << ','
          << (now.temperature_c ? csv_number(*now.temperature_c) : "") << ','
          << (facts.mig ? (*facts.mig ? "1" : "0") : "") << ',' << mode(facts, "");
      for (const Use& use : uses) {
        out << ',' << csv_text(fmt::format("{}", fmt::join(reasons(g, use), "; ")));
      }
      out << '\n';
    }
  } else {
    const auto told = [](const std::string& text) { return text.empty() ? "-" : text; };
    out << "driver " << told(nvml.driver_version()) << ", CUDA up to " << told(nvml.cuda_version())
        << "; MPS: " << mps << "\n\n";
    std::vector<std::vector<std::string>> rows{
        {"GPU", "MiB", "used", "util %", "deg C", "processes", "MIG", "compute mode"}};
    for (std::size_t g = 0; g < nvml.gpus().size(); ++g) {
      const GpuFacts& facts = nvml.gpus()[g];
      const GpuReading now = nvml.read(g);
      const auto processes = nvml.processes(g);
      rows.push_back({fmt::format("{} {}", facts.index, facts.name), shown(facts.memory_mib, 0),
                      shown(now.memory_used_mib, 0), shown(now.util_pct, 0),
                      shown(now.temperature_c, 0),
                      processes ? std::to_string(processes->size()) : "-",
                      facts.mig ? (*facts.mig ? "on" : "off") : "-", mode(facts, "-")});
    }
    out << aligned(rows) << "(-: the driver does not tell)\n\n";
    for (std::size_t g = 0; g < nvml.gpus().size(); ++g) {
      for (const Use& use : uses) {
        const auto why = reasons(g, use);
        const std::string yes = nvml.processes(g) ? "yes" : "yes, if nobody else uses it";
        out << "GPU " << g << ", " << use.name << ": "
            << (why.empty() ? yes : "refused: " + fmt::format("{}", fmt::join(why, "; "))) << "\n";
      }
    }
  }
  emit(common, out.str());
  return kDone;
}

}  // namespace corun::live
