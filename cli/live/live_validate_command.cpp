#include <filesystem>
#include <iostream>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "cli/cli.hpp"
#include "cli/live/live_command.hpp"
#include "cli/live/live_runs.hpp"
#include "cli/note.hpp"
#include "evaluation/validation/validation_output.hpp"
#include "live/validation/validation_figure.hpp"
#include "live/validation/validation_output.hpp"
#include "report/report.hpp"
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
                            "write measured over predicted and replayed ISD to this SVG")(
      "report", po::value<std::string>(),
      "write the page of corun validate for the browser (HTML): completion times, job by job");
  return command;
}

/// Writes --figure and --report; empty: not asked for.
void write_files(const std::string& figure, const std::string& page, const RunValidation& run,
                 const std::string& given, Existing existing) {
  std::vector<NamedFile> read{{kPlace, given}};
  for (const std::string& file : run.files) read.push_back({kPlace, file});
  std::vector<NamedFile> written;
  if (!figure.empty()) written.push_back({"--figure", figure});
  if (!page.empty()) written.push_back({"--report", page});
  check_outputs_differ(written, read);
  std::vector<OutputText> files;
  if (!figure.empty()) {
    check_name(figure, "--figure", {"svg"});
    files.push_back({"--figure", figure, validation_figure(run)});
  }
  if (!page.empty()) {
    check_name(page, "--report", {"html"});
    const Json data = validation_report_json(
        validation_page_json(as_validation(run, given, true, true)), given, 0);
    files.push_back({"--report", page, report_html(required_report_page("--report"), data)});
  }
  write_outputs(files, existing);
}

/// Its figures, and the rows of `corun validate` on the same run.
Json all_json(const RunValidation& run, const std::string& given) {
  Json json = validation_json(run);
  json["runs"] = corun::validation_json(as_validation(run, given, true, true))["runs"];
  return json;
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
  const auto output = [&](const char* name) {
    return values.count(name) == 0
               ? std::string()
               : checked_output_path(values[name].as<std::string>(), std::string("--") + name);
  };
  const std::string figure = output("figure");
  const std::string page = output("report");

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
  if (!figure.empty() || !page.empty()) write_files(figure, page, run, given, common.existing);
  for (const std::string& text : run.notes) note(common, text);
  std::cout << (common.format == Format::kJson  ? json_text(all_json(run, given))
                : common.format == Format::kCsv ? validation_csv(run)
                                                : validation_table(run));
  return kDone;
}

}  // namespace corun::live
