#include "cli/live/live_options.hpp"

#include <filesystem>
#include <system_error>

#include "sim/base/text.hpp"
#include "sim/error.hpp"

namespace corun::live {

namespace fs = std::filesystem;
namespace po = boost::program_options;

void add_live_options(CommandLine& command, bool runs_jobs) {
  command.own.add_options()("nvml", po::value<std::string>()->default_value(Nvml::kLibrary),
                            "NVIDIA's management library")(
      "record", po::value<std::string>(),
      "write everything that NVML says to this file, too (JSON lines)");
  if (runs_jobs) {
    command.own.add_options()("allow-others",
                              "use GPUs that another user has; what is measured then cannot "
                              "be repeated");
  }
}

Nvml open_nvml(const po::variables_map& values, std::vector<NamedFile> outputs,
               const std::string& directory) {
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

std::string config_path(const CommandLine& command, const po::variables_map& values) {
  if (values.count("CONFIG") == 0) {
    throw InputError("corun " + command.name, "no configuration given; see docs/live.md for one");
  }
  return values["CONFIG"].as<std::string>();
}

LiveConfig load_live_config(const std::string& path, const CommonOptions& common) {
  LiveConfig config = read_live_config(path, common.overrides);
  if (common.output) config.output = *common.output;
  config.existing = common.existing;
  return config;
}

void make_results_directory(const LiveConfig& config, const CommonOptions& common) {
  std::error_code error;
  fs::create_directories(config.output, error);
  if (error) {
    throw InputError(common.output ? "--output" : "live.output",
                     "'" + config.output + "' cannot be made: " + error.message());
  }
}

}  // namespace corun::live
