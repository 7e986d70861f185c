#include <filesystem>
#include <iostream>
#include <optional>

#include "cli/cli.hpp"
#include "cli/live/live_command.hpp"
#include "cli/note.hpp"
#include "live/validation/validation_figure.hpp"
#include "live/validation/validation_output.hpp"
#include "sim/base/text.hpp"
#include "sim/error.hpp"
#include "support/atomic_file.hpp"

/// `corun live validate`: compares measurements of `corun live run` with the simulator.
namespace corun::live {

namespace {

namespace po = boost::program_options;
constexpr const char* kPlace = "corun live validate";

CommandLine validate_command_line() {
  CommandLine command;
  command.name = "live validate";
  command.usage = "corun live validate CONFIG|DIRECTORY [options]";
  command.summary =
      "What `corun live run CONFIG` has measured, compared with the simulator, job by\n"
      "job: ISD, JCT and PS as measured, as predicted before the run, and as replayed after it\n"
      "with the decisions of the run, so that the error of the world is separate from that of\n"
      "other decisions; means with 95 % intervals over jobs. Reads the directory of results\n"
      "(live.output, or --output DIR) alone: needs no GPU, and the directory may have been moved.\n"
      "--set reaches the simulator: world.noise=false, say.";
  command.examples =
      "  corun live run my-box.yaml && corun live validate my-box.yaml --figure isd.svg\n"
      "  corun live validate live-out --format csv\n";
  command.positional = "CONFIG";
  command.output = OutputUse::kOwn;
  command.own.add_options()("figure", po::value<std::string>(),
                            "write measured over predicted and replayed ISD to this SVG");
  return command;
}

void write_figure(const std::string& path, const RunValidation& run, const std::string& given,
                  Existing existing) {
  std::vector<NamedFile> read{{kPlace, given}};
  for (const std::string& file : run.files) read.push_back({kPlace, file});
  check_outputs_differ({{"--figure", path}}, read);
  check_name(path, "--figure", {"svg"});
  write_outputs({{"--figure", path, validation_figure(run)}}, existing);
}

}  // namespace

int validate_command(const std::vector<std::string>& arguments) {
  CommonOptions common;
  const auto parsed = parse_command_line(validate_command_line(), arguments, common);
  if (!parsed) return kDone;
  const auto& values = *parsed;
  if (values.count("CONFIG") == 0) {
    throw InputError(kPlace,
                     "which run? Give the configuration of corun live run, or its directory");
  }
  std::string figure;
  if (values.count("figure") != 0) {
    figure = checked_output_path(values["figure"].as<std::string>(), "--figure");
  }

  const std::string given = values["CONFIG"].as<std::string>();
  ValidationRequest request{given, nullptr, common.overrides, common.data};
  std::optional<LiveConfig> live;
  std::error_code error;
  if (!std::filesystem::is_directory(given, error)) {
    live = read_live_config(given, common.overrides);
    request.live = &*live;
    request.directory = common.output.value_or(live->output);
  } else if (common.output) {
    throw InputError("--output", "'" + printable(given) + "' is the directory of results already");
  }
  const RunValidation run = validate_run(request);
  if (!figure.empty()) write_figure(figure, run, given, common.existing);
  for (const std::string& text : run.notes) note(common, text);
  std::cout << (common.format == Format::kJson  ? json_text(validation_json(run))
                : common.format == Format::kCsv ? validation_csv(run)
                                                : validation_table(run));
  return kDone;
}

}  // namespace corun::live
