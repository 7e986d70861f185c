#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cli/cli.hpp"
#include "cli/live/live_runs.hpp"
#include "cli/note.hpp"
#include "cli/option_values.hpp"
#include "evaluation/validation/validation_output.hpp"
#include "report/report.hpp"
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
      "  corun validate realruns/shockwave --fit real/min-makespan --limit real/max-min=1.5\n"
      "  corun validate realruns/shockwave --fit real/max-min --write-config real.yaml\n";
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
      "write simulated against real completion times to this SVG")(
      "report", po::value<std::string>(), "write all of it as a page for the browser (HTML)")(
      "write-config", po::value<std::string>(),
      "write what was fitted to this YAML, as keys of a configuration of corun replay");
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

/// The options that say how runs in rounds are simulated.
constexpr std::array<const char*, 6> kOfRounds{"fit",   "test",  "limit",
                                               "round", "draws", "write-config"};

/// Where the files go; empty: not asked for.
struct ValidationFiles {
  std::string figure;
  std::string page;
  std::string config;
};

ValidationFiles files_of(const po::variables_map& values) {
  ValidationFiles files;
  const auto path = [&](const char* name, std::initializer_list<std::string_view> endings) {
    if (values.count(name) == 0) return std::string();
    const std::string flag = std::string("--") + name;
    std::string found = checked_output_path(values[name].as<std::string>(), flag);
    check_name(found, flag, endings);
    return found;
  };
  files.figure = path("figure", {"svg"});
  files.page = path("report", {"html"});
  files.config = path("write-config", {"yaml", "yml"});
  if (!files.page.empty()) required_report_page("--report");
  return files;
}

ValidationRequest request_of(const po::variables_map& values) {
  ValidationRequest request;
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
  return request;
}

/// Of a results directory of `corun live run`.
Validation validate_live(const po::variables_map& values, const CommonOptions& common,
                         const ValidationRequest& request, const std::string& title) {
  for (const char* option : kOfRounds) {
    if (values.count(option) == 0) continue;
    throw InputError(std::string("--") + option, "is for runs in rounds, and '" + printable(title) +
                                                     "' holds live runs; leave it out");
  }
  const live::RunValidation run = live::validate_run({request.directory, nullptr, {}, common.data});
  for (const std::string& text : run.notes) note(common, text);
  Validation validation = live::as_validation(run, title, request.policy, request.allocation);
  if (validation.runs.empty()) {
    throw InputError("corun validate", "no job in '" + printable(title) +
                                           "' has finished both on the GPUs and in the simulation; "
                                           "run corun live run CONFIG again");
  }
  return validation;
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
  const std::string title = values["DIR"].as<std::string>();
  ValidationRequest request = request_of(values);
  request.directory = find_input_file(title, common, "DIR");
  const ValidationFiles asked = files_of(values);
  if (!asked.config.empty() && request.fit.empty()) {
    throw InputError("--write-config",
                     "nothing is fitted, expected --fit RUN beside it, such as --fit real/max-min");
  }
  const Validation validation = [&] {
    if (live::is_live_directory(request.directory)) {
      return validate_live(values, common, request, title);
    }
    Progress progress("simulating runs", common.quiet);
    return validate_runs(
        request, [&](std::size_t done, std::size_t total) { progress.update(done, total); });
  }();
  for (const std::string& hint : validation.hints) {
    if (common.format != Format::kTable) note(common, hint);
  }
  std::vector<OutputText> files;
  if (!asked.figure.empty())
    files.push_back({"--figure", asked.figure, validation_svg(validation)});
  if (!asked.page.empty()) {
    const Json data = validation_report_json(validation_page_json(validation), title, request.seed);
    files.push_back({"--report", asked.page, report_html(required_report_page("--report"), data)});
  }
  if (!asked.config.empty()) {
    files.push_back({"--write-config", asked.config, validation_config(validation)});
  }
  emit(common,
       common.format == Format::kJson  ? json_text(validation_json(validation))
       : common.format == Format::kCsv ? validation_csv(validation)
                                       : validation_table(validation),
       std::move(files));
  return kDone;
}

}  // namespace corun::inline cli
