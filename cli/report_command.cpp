#include <filesystem>
#include <string_view>

#include <fmt/format.h>

#include "cli/cli.hpp"
#include "cli/note.hpp"
#include "report/report.hpp"
#include "runner/inputs/file_kind.hpp"
#include "sim/error.hpp"
#include "support/output_file.hpp"

/// `corun report`: results as one HTML page.
namespace corun::inline cli {

int report_command(const std::vector<std::string>& arguments) {
  CommandLine command;
  command.name = "report";
  command.usage = "corun report RESULTS [--output FILE.html]";
  command.summary =
      "Results of corun replay, live run or sweep as one HTML file: what the run says in words, "
      "policies\n"
      "with intervals and differences, distributions, sharing, the timeline of GPUs, coverage,\n"
      "configuration and checksums. The file opens offline and loads nothing (docs/report.md).\n"
      "Without --output it lies beside RESULTS.";
  command.examples =
      "  corun replay --output results.h5\n"
      "  corun report results.h5 --output report.html\n";
  command.positional = "RESULTS";
  command.configured = false;
  command.output = OutputUse::kOwn;
  CommonOptions common;
  const auto values = parse_command_line(command, arguments, common);
  if (!values) return kDone;
  if (values->count("RESULTS") == 0) {
    throw InputError("corun report", "expected a results file, such as corun report results.h5");
  }
  const std::string path = (*values)["RESULTS"].as<std::string>();
  const std::string output =
      common.output.value_or(std::filesystem::path(path).replace_extension(".html").string());
  check_name(output, "--output", {"html"});
  const std::string_view page = required_report_page("corun report");
  check_outputs_differ({{"--output", output}}, {{"RESULTS", path}});
  check_kind(path, {FileKind::kHdf5}, "results of corun replay, live run or sweep");
  write_outputs({{"--output", output, report_html(page, report_json(path))}}, common.existing);
  note(common, output + ": open it in a browser");
  return kDone;
}

}  // namespace corun::inline cli
