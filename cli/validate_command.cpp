#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "cli/cli.hpp"
#include "cli/note.hpp"
#include "cli/option_values.hpp"
#include "evaluation/validation/validation_output.hpp"
#include "sim/base/text.hpp"
#include "sim/error.hpp"
#include "support/atomic_file.hpp"
#include "support/json.hpp"
#include "support/progress.hpp"

/// `corun validate`: corun beside published runs on a real cluster.
namespace corun::inline cli {

namespace {

namespace po = boost::program_options;
constexpr double kLeastLimit = 0.01;
constexpr double kMostLimit = 1000;
constexpr double kLongestRoundS = 1e6;

CommandLine validate_runs_line() {
  CommandLine command;
  command.name = "validate";
  command.usage = "corun validate DIR [options]";
  command.summary =
      "How far corun is from published runs on a real cluster that schedules in rounds, job by "
      "job:\n"
      "given the policy, given each round's allocations, and with parts of the model from the run\n"
      "itself. What reality adds (length of rounds, cost of starts, speeds) is fitted on some "
      "runs\n"
      "and tested on others. docs/real-runs.md has the files of DIR, docs/validity.md the "
      "findings.";
  command.examples =
      "  corun validate realruns/shockwave --fit real/min-makespan --limit real/max-min=1.5\n";
  command.positional = "DIR";
  command.configured = false;
  command.own.add_options()("fit", po::value<std::vector<std::string>>()->composing(),
                            "fit parameters on this run, such as real/max-min; may be repeated")(
      "test", po::value<std::vector<std::string>>()->composing(),
      "test on this run; may be repeated (default: every real run that is not fitted on)")(
      "limit", po::value<std::vector<std::string>>()->composing(),
      "RUN=FACTOR: in this run jobs were ended after FACTOR x their declared run time (default 1)")(
      "given", po::value<std::string>(),
      "policy or allocation: what is taken from the run (default: both)")(
      "round", po::value<std::string>(), "declared length of a round [s] (default 120)")(
      "seed", po::value<std::string>()->default_value("1"), "of the draws")(
      "draws", po::value<std::string>(),
      "simulations with the fitted noise, for intervals (default 100; 0: none)")(
      "figure", po::value<std::string>(),
      "write simulated against real completion times to this SVG");
  return command;
}

std::map<std::string, double> limits_of(const std::vector<std::string>& texts) {
  std::map<std::string, double> limits;
  for (const std::string& text : texts) {
    const std::size_t at = text.rfind('=');
    const auto factor = at == std::string::npos ? std::nullopt : parse_number(text.substr(at + 1));
    if (!factor || !(*factor >= kLeastLimit && *factor <= kMostLimit)) {
      throw InputError("--limit", "found '" + printable(text) +
                                      "', expected RUN=FACTOR with a factor from 0.01 to 1000, "
                                      "such as real/max-min=1.5");
    }
    if (!limits.emplace(text.substr(0, at), *factor).second) {
      throw InputError("--limit", "'" + printable(text.substr(0, at)) +
                                      "' has two limits, expected one; remove one of them");
    }
  }
  return limits;
}

}  // namespace

int validate_command(const std::vector<std::string>& arguments) {
  CommonOptions common;
  const auto parsed = parse_command_line(validate_runs_line(), arguments, common);
  if (!parsed) return kDone;
  const auto& values = *parsed;
  if (values.count("DIR") == 0) {
    throw InputError("corun validate", "which runs? Give their directory (docs/real-runs.md)");
  }
  ValidationRequest request;
  request.directory = find_input_file(values["DIR"].as<std::string>(), common, "DIR");
  request.fit = list_option(values, "fit");
  request.test = list_option(values, "test");
  request.limits = limits_of(list_option(values, "limit"));
  if (values.count("given") != 0) {
    const std::string given = choice_option(values, "given", {"policy", "allocation"});
    request.policy = given == "policy";
    request.allocation = given == "allocation";
  }
  if (values.count("round") != 0) {
    request.round_s = number_option(values, "round", 1, kLongestRoundS, "a number of seconds");
  }
  if (values.count("draws") != 0) {
    request.draws = static_cast<std::size_t>(whole_option(values, "draws", 0, 100'000));
  }
  request.seed = static_cast<std::uint64_t>(
      whole_option(values, "seed", 0, std::numeric_limits<std::int64_t>::max()));
  // Without a run to fit on there is no noise to draw.
  if (request.fit.empty()) request.draws = 0;
  std::string figure;
  if (values.count("figure") != 0) {
    figure = checked_output_path(values["figure"].as<std::string>(), "--figure");
    check_name(figure, "--figure", {"svg"});
  }
  const Validation validation = [&] {
    Progress progress("simulating runs", common.quiet);
    return validate_runs(
        request, [&](std::size_t done, std::size_t total) { progress.update(done, total); });
  }();
  for (const std::string& hint : validation.hints) {
    if (common.format != Format::kTable) note(common, hint);
  }
  std::vector<OutputText> files;
  if (!figure.empty()) files.push_back({"--figure", figure, validation_svg(validation)});
  emit(common,
       common.format == Format::kJson  ? json_text(validation_json(validation))
       : common.format == Format::kCsv ? validation_csv(validation)
                                       : validation_table(validation),
       std::move(files));
  return kDone;
}

}  // namespace corun::inline cli
