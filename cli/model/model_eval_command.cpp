#include <algorithm>
#include <array>
#include <filesystem>
#include <limits>
#include <optional>
#include <string_view>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "cli/model/model_commands.hpp"
#include "cli/model/model_options.hpp"
#include "cli/note.hpp"
#include "evaluation/model_evaluation_output.hpp"
#include "knowledge/model_origin.hpp"
#include "models/interference/measured_speeds.hpp"
#include "runner/inputs/file_kind.hpp"
#include "sim/base/text.hpp"
#include "sim/error.hpp"
#include "support/atomic_file.hpp"
#include "support/json.hpp"
#include "support/progress.hpp"
#include "traces/gpu_catalog.hpp"
#include "traces/tables/measurements.hpp"

/// `corun model eval`: evaluates predictions of interference models on held-out pairs.
namespace corun::inline cli {

namespace {

namespace po = boost::program_options;

CommandLine model_eval_command_line() {
  CommandLine command;
  command.name = "model eval";
  command.usage =
      "corun model eval [--pairs papers|lucid|FILE] [--split pairs|job|family|all] [options]";
  command.summary =
      "Leaves one job out at a time, fits the models of `corun list models` on the measured pairs\n"
      "that remain and predicts the rest: errors of ISD, and the regret of pairing queues by "
      "those\n"
      "predictions; --split cross-validates otherwise. A model file is judged as it is. On the\n"
      "papers' tables this is a check: exit code 1 unless contention beats the mean and both "
      "cluster\n"
      "means in MAE and the policy `opposites` in regret.";
  command.examples =
      "  corun model eval                           the papers' tables, compiled in\n"
      "  corun model eval --model contention --format csv   in a second; one row per figure\n"
      "  corun model eval --model mine.model        what `corun model fit` wrote\n"
      "  corun model eval --pairs lucid             needs the data directory, see --data\n"
      "  corun model eval --split all --pairs papers                      every model\n"
      "  corun model eval --split all --pairs lucid/lucid_pairs.csv       needs --data\n"
      "  corun model eval --measure 0,5,10 --queues 4 --pairs lucid/lucid_pairs.csv   likewise\n";
  command.configured = false;
  auto add = command.own.add_options();
  add("pairs", po::value<std::vector<std::string>>()->composing(),
      "papers (the default): JRS II to VII and PriRecT III, IV; lucid: lucid/lucid_pairs.csv of "
      "the data directory; or a table of measured co-runs, as by --split job if it has no run "
      "times; with --split several tables, and papers-published, which scores no pair of a job "
      "whose profile the papers keep back");
  add("split", po::value<std::string>(),
      "cross-validate the model of `corun model fit` on tables of pairs: pairs, job, family or all "
      "are held out");
  add("model", po::value<std::vector<std::string>>()->composing(),
      "a model of `corun list models`, a file of `corun model fit` or prefitted, what comes with "
      "corun, once for each; else all of the list");
  add("rows", po::value<std::string>(),
      "with --split: learning curve, fits on at most so many measured pairs, as 10,30,100");
  add("probes", po::value<std::string>(),
      "with --split job or family: so many pairs of each job held out are known, as 0,1,3,5");
  add("measure", po::value<std::string>(),
      "in place of --split: learning curve over so many pairs of a queue, as 0,5,10,20, chosen by "
      "`corun model suggest`, at random, and by standard deviation");
  add("known", po::value<std::string>()->default_value("30"),
      "with --measure: pairs that are known before");
  add("figure", po::value<std::string>(),
      "with --split or --measure: draw the calibration, or the curve over --rows, --probes or "
      "--measure, to this SVG");
  add("queues", po::value<std::string>()->default_value("100"),
      "random queues per session; 1 to 100000");
  add("seed", po::value<std::string>()->default_value("1"), "which queues are drawn");
  add_effort_option(add);
  return command;
}

constexpr std::string_view kLucidFile = "lucid/lucid_pairs.csv";

/// The path of a file that a value of --pairs names. InputError for a misspelt name, and as find_input_file().
std::string file_of(const std::string& pairs, const CommonOptions& common) {
  std::error_code error;
  if (!pairs.ends_with(".csv") && !std::filesystem::exists(pairs, error)) {
    constexpr std::array<std::string_view, 2> kKnown{"papers", "lucid"};
    throw InputError("--pairs", "no pairs '" + printable(pairs) +
                                    "', expected the path of a "
                                    "FILE.corun.csv or a known name; " +
                                    did_you_mean(pairs, kKnown));
  }
  return find_input_file(pairs, common, "--pairs");
}

/// Whether --pairs names one table without run times, which the evaluation without --split needs.
bool lacks_run_times(const std::vector<std::string>& given, const CommonOptions& common) {
  if (given.size() != 1 || given.front() == "lucid" || papers_named(given.front())) return false;
  const std::optional<MeasurementForm> form = measurement_form(file_of(given.front(), common));
  return form && *form != MeasurementForm::kCoruns && *form != MeasurementForm::kRates;
}

/// The path of what `--pairs lucid` names. InputError if it is not there.
std::string lucid_table(const CommonOptions& common) {
  const std::string& directory = common.data;
  if (directory.empty()) {
    throw InputError("--pairs lucid", "there is no data directory, expected one that holds " +
                                          std::string(kLucidFile) +
                                          "; name it with --data DIR or CORUN_DATA");
  }
  std::string path = directory + "/" + std::string(kLucidFile);
  std::error_code error;
  if (!std::filesystem::exists(path, error)) {
    throw InputError("--pairs lucid", "'" + printable(directory, 200) + "' has no " +
                                          std::string(kLucidFile) +
                                          "; name the right directory with --data DIR or "
                                          "CORUN_DATA");
  }
  return path;
}

EvaluationData data_of(const std::string& pairs, const CommonOptions& common, WorkloadKeys& keys) {
  if (pairs == "papers") return papers_evaluation(keys);
  if (pairs == "papers-published") {
    throw InputError("--pairs", "papers-published goes with --split only; take 'papers'");
  }
  if (pairs == "lucid") return lucid_evaluation(lucid_table(common), keys);
  const std::string path = file_of(pairs, common);
  check_kind(path, {FileKind::kPairs}, "a table of measured co-runs");
  const Measurements table = read_measurements(path, keys, CorunsAs::kRuns);
  for (const std::string& text : table.notes) note(common, text);
  return evaluation_data(pairs, table.runs);
}

/// "10,30,100" as whole numbers of at least `least`; empty if not given.
std::vector<std::size_t> counts_option(const po::variables_map& values, const std::string& key,
                                       std::int64_t least) {
  std::vector<std::size_t> out;
  if (values.count(key) == 0) return out;
  const auto text = values[key].as<std::string>();
  for (std::size_t from = 0; from <= text.size();) {
    const std::size_t end = std::min(text.find(',', from), text.size());
    const auto number = parse_integer(std::string_view(text).substr(from, end - from));
    constexpr std::int64_t kMost = 1'000'000;
    if (!number || *number < least || *number > kMost) {
      throw InputError("--" + key,
                       fmt::format("found '{}', expected whole numbers from {} to {} with "
                                   "commas between",
                                   printable(text), least, kMost));
    }
    out.push_back(static_cast<std::size_t>(*number));
    from = end + 1;
  }
  return out;
}

CrossValidation cross_validation_options(const po::variables_map& values) {
  CrossValidation asked;
  asked.split = values.count("split") != 0 ? values["split"].as<std::string>() : "job";
  asked.models = list_option(values, "model");
  asked.rows = counts_option(values, "rows", 1);
  asked.probes = counts_option(values, "probes", 0);
  if (values.count("figure") != 0) asked.figure = values["figure"].as<std::string>();
  return asked;
}

/// InputError at --model if the model asks for features that profiles do not have. One that was fitted to several
/// campaigns may have some of them.
void check_profile_features(const FittedModel& fitted) {
  const std::vector<SpeedTable::Feature>& features = fitted.model->features();
  const bool shares = std::ranges::any_of(
      features, [](const SpeedTable::Feature& f) { return is_of_profile(f.name); });
  if (shares && is_of_several_campaigns(*fitted.model)) return;
  for (const SpeedTable::Feature& feature : features) {
    if (is_of_profile(feature.name)) continue;
    throw InputError("--model", fmt::format("{} was fitted on {}, and these pairs have profiles "
                                            "only; judge it with --split on a table of the form "
                                            "it was fitted on",
                                            fitted.name, printable(feature.name)));
  }
}

/// Leave-one-job-out evaluation. `given`: the values of --pairs; `models`: of --model.
int evaluate_left_out(const std::vector<std::string>& given, const std::vector<std::string>& models,
                      std::size_t queues, std::uint64_t seed, double effort,
                      const CommonOptions& common) {
  if (given.size() != 1) throw InputError("--pairs", "given twice, which goes with --split only");
  const std::string& pairs = given.front();
  const ModelsAsked asked = models_asked(models, common);
  std::vector<NamedFile> inputs = as_inputs(asked.files);
  if (!papers_named(pairs)) {
    inputs.push_back({"--pairs", pairs == "lucid" ? lucid_table(common) : file_of(pairs, common)});
  }
  if (common.output) {
    check_outputs_differ({{"--output", *common.output}}, inputs);
  }
  WorkloadKeys keys;
  const EvaluationData data = data_of(pairs, common, keys);
  JudgedModels judged;
  judged.models = asked.models;
  judged.fitted = read_fitted_models(asked.files, common, keys);
  const CorunMeasurement& where = data.pairs.front();
  for (std::size_t m = 0; m < judged.fitted.size(); ++m) {
    FittedModel& fitted = judged.fitted[m];
    check_profile_features(fitted);
    fitted.model = model_on(fitted.model, where.gpu_type, where.sharing);
    SpeedTable table = speed_table(data.pairs, ImputedProfiles::kBelieved);
    table.campaigns = {campaign_on(where.gpu_type, table.campaigns.front().sharing)};
    note_origin(asked.files[m], *fitted.model, table, common);
  }
  judged.threads = common.threads;
  judged.effort = effort;
  note_fits(judged.models, effort, common);
  Progress progress("fitting", common.quiet);
  judged.on_fitted = [&](std::size_t done, std::size_t jobs) { progress.update(done, jobs); };
  const ModelEvaluation evaluation = evaluate_models(data, queues, seed, judged);
  constexpr std::array<std::string_view, 3> kOfGroups{"default", "contention", "cluster-mean"};
  const std::vector<GroupScore> groups =
      evaluate_groups(data.pairs, data.groups, kOfGroups, effort, common.threads);
  emit(common, common.format == Format::kJson
                   ? json_text(model_evaluation_json(evaluation, groups, seed))
               : common.format == Format::kCsv ? model_evaluation_csv(evaluation, groups)
                                               : model_evaluation_table(evaluation, groups, seed));
  return pairs != "papers" || evaluation.claims_hold() ? kDone : kCheckFailed;
}

}  // namespace

int model_eval_command(const std::vector<std::string>& arguments) {
  CommonOptions common;
  const auto values = parse_command_line(model_eval_command_line(), arguments, common);
  if (!values) return kDone;
  std::vector<std::string> tables = values->count("pairs") != 0
                                        ? list_option(*values, "pairs")
                                        : std::vector<std::string>{"papers"};
  if (values->count("split") + values->count("measure") != 0) {
    for (std::string& table : tables) {
      if (table == "lucid") table = lucid_table(common);
    }
  }
  const auto queues = static_cast<std::size_t>(whole_option(*values, "queues", 1, 100'000));
  const auto seed = static_cast<std::uint64_t>(
      whole_option(*values, "seed", 0, std::numeric_limits<std::int64_t>::max()));
  const double effort = effort_option(*values);
  if (values->count("measure") != 0) {
    for (const char* key : {"split", "rows", "probes"}) {
      if (values->count(key) != 0)
        throw InputError("--measure", std::string("goes without --") + key);
    }
    MeasurementCurveAsked asked;
    asked.tables = tables;
    asked.models = list_option(*values, "model");
    asked.measured = counts_option(*values, "measure", 0);
    asked.known = static_cast<std::size_t>(whole_option(*values, "known", 1, 1'000'000));
    if (values->count("figure") != 0) asked.figure = (*values)["figure"].as<std::string>();
    asked.queues = queues;
    asked.seed = seed;
    asked.effort = effort;
    return model_measurement_curve(asked, common);
  }
  if (!(*values)["known"].defaulted()) throw InputError("--known", "goes with --measure only");
  const auto cross_validate = [&] {
    CrossValidation asked = cross_validation_options(*values);
    asked.tables = tables;
    asked.queues = queues;
    asked.seed = seed;
    asked.effort = effort;
    return model_cross_validate(asked, common);
  };
  if (values->count("split") != 0) return cross_validate();
  for (const char* key : {"rows", "probes", "figure"}) {
    if (values->count(key) != 0) {
      throw InputError(std::string("--") + key,
                       std::string("goes with --split ") +
                           (key == std::string_view("figure") ? "or --measure only" : "only"));
    }
  }
  if (lacks_run_times(tables, common)) {
    note(common, printable(tables.front()) + " has no run times: judged as by --split job");
    return cross_validate();
  }
  return evaluate_left_out(tables, list_option(*values, "model"), queues, seed, effort, common);
}

}  // namespace corun::inline cli
