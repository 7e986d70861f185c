#include <array>
#include <cmath>
#include <iostream>
#include <limits>
#include <sstream>
#include <stdexcept>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "experiments/atomic_file.hpp"
#include "experiments/model_file.hpp"
#include "experiments/model_words.hpp"
#include "experiments/pair_evaluation.hpp"
#include "experiments/progress.hpp"
#include "models/device.hpp"
#include "sim/error.hpp"
#include "sim/text.hpp"
#include "traces/csv_reader.hpp"
#include "traces/pair_table.hpp"

/// `corun model fit` and `corun model predict`, and cross-validation for `corun model eval`: what pairs
/// of jobs cost each other, learnt from measured pairs.
namespace corun {

namespace {

namespace po = boost::program_options;
using Json = nlohmann::ordered_json;

PairTable read_tables(const std::vector<std::string>& paths, const CommonOptions& common,
                      WorkloadKeys& keys) {
  PairTable all;
  for (const std::string& path : paths) {
    append(all, read_pair_table(find_input_file(path, common, "--pairs"), keys));
  }
  return all;
}

/// What predicts a table: its features must be those that the model was fitted on.
void check_features(const FactorModel& model, const PairTable& table) {
  if (model.features() == table.speeds.features) return;
  std::vector<std::string> ours, theirs;
  for (const auto& f : model.features()) ours.push_back(f.name);
  for (const auto& f : table.speeds.features) theirs.push_back(f.name);
  throw InputError(table.source,
                   fmt::format("its features are {}, the model was fitted on {}; predict tables of "
                               "the form it was fitted on",
                               fmt::join(theirs, ", "), fmt::join(ours, ", ")));
}

std::string cell(double x, double unit, int digits) {
  return std::isnan(x) ? "-" : fmt::format("{:.{}f}", unit * x, digits);
}

std::string cell(double x, double error, double unit, int digits) {
  return std::isnan(x)       ? "-"
         : std::isnan(error) ? cell(x, unit, digits)
                             : cell(x, unit, digits) + " +- " + cell(error, unit, digits);
}

Json number(double x) { return std::isfinite(x) ? Json(x) : Json(nullptr); }

std::string table_of(const PairEvaluation& e) {
  constexpr std::array<std::string_view, 3> kHeldOut{"random pairs, five folds", "unseen job",
                                                     "unseen family"};
  std::string out = fmt::format(
      "{}: {} scored pairs of {} jobs; held out: {} ({} fits)\n"
      "  {:<14}{:>17}{:>8}{:>10}{:>11}{:>12}{:>16}\n",
      e.data, e.pairs, e.jobs, kHeldOut[static_cast<std::size_t>(e.split)], e.folds, "predictor",
      "MAE ISD %", "RMSE", "Spearman", "in 90 %", "its width %", "regret");
  for (const PairScore& s : e.scores) {
    out += fmt::format("  {:<14}{:>17}{:>8}{:>10}{:>11}{:>12}{:>16}\n", s.predictor,
                       cell(s.mae, s.mae_error, 100, 2), cell(s.rmse, 100, 1),
                       cell(s.spearman, 1, 2), cell(s.covered, 100, 1), cell(s.width, 100, 1),
                       cell(s.regret, s.regret_error, 1, 2));
  }
  if (e.queues > 0) {
    out += fmt::format(
        "  {} queues of 24 jobs: mean ISD {:.1f} % paired as well as can be, {:.1f} % at random\n",
        e.queues, 100 * e.best_isd, 100 * e.random_isd);
  }
  return out;
}

Json json_of(const PairEvaluation& e) {
  Json json{{"data", e.data},         {"split", name_of(e.split)}, {"pairs", e.pairs},
            {"jobs", e.jobs},         {"folds", e.folds},          {"queues", e.queues},
            {"best_isd", e.best_isd}, {"random_isd", e.random_isd}};
  json["predictors"] = Json::array();
  for (const PairScore& s : e.scores) {
    json["predictors"].push_back({{"predictor", s.predictor},
                                  {"mae", s.mae},
                                  {"mae_error", number(s.mae_error)},
                                  {"rmse", s.rmse},
                                  {"spearman", number(s.spearman)},
                                  {"covered", number(s.covered)},
                                  {"width", number(s.width)},
                                  {"regret", number(s.regret)},
                                  {"regret_error", number(s.regret_error)}});
  }
  return json;
}

}  // namespace

int model_fit(const std::vector<std::string>& arguments) {
  CommandLine command;
  command.name = "model fit";
  command.usage = "corun model fit --pairs FILE [--pairs FILE ...] --out MODEL [options]";
  command.summary =
      "Learns what pairs of jobs cost each other from tables of measured pairs (Lucid's, Gavel's, "
      "or\n"
      "*.corun.csv; docs/formats.md) and keeps it in a file for `corun model predict`. One model\n"
      "serves jobs that were measured in other company and jobs that were never measured.";
  command.examples =
      "  corun model fit --pairs examples/mine.corun.csv --out mine.model\n"
      "  corun model fit --pairs lucid/lucid_pairs.csv --out lucid.model    needs --data\n";
  command.configured = false;
  auto add = command.own.add_options();
  add("pairs", po::value<std::vector<std::string>>()->composing(),
      "table of measured pairs; once for each");
  add("out", po::value<std::string>(), "the model");
  add("model", po::value<std::string>()->default_value("default"),
      "which: factors, which is the default");
  add("seed", po::value<std::string>()->default_value("1"), "of the fit's draws");
  CommonOptions common;
  const auto parsed = parse_command_line(command, arguments, common);
  if (!parsed) return kDone;
  choose_device(common.device);
  const std::vector<std::string> pairs = list_option(*parsed, "pairs");
  if (pairs.empty()) throw InputError("corun model fit", "from what? Give --pairs FILE");
  const std::string name = (*parsed)["model"].as<std::string>();
  constexpr std::array<std::string_view, 2> kKnown{"default", "factors"};
  if (std::find(kKnown.begin(), kKnown.end(), name) == kKnown.end()) {
    throw InputError("--model", "found '" + printable(name) + "': " + did_you_mean(name, kKnown));
  }
  // --output is the same flag by the name that all commands have.
  const auto out =
      parsed->count("out") != 0 ? std::optional((*parsed)["out"].as<std::string>()) : common.output;
  if (!out) throw InputError("corun model fit", "where to? Give --out MODEL");
  const std::string output = checked_output_path(*out, "--out");
  std::vector<NamedFile> inputs;
  for (const std::string& path : pairs) inputs.push_back({"--pairs", path});
  check_outputs_differ({{"--out", output}}, inputs);
  const std::int64_t seed =
      whole_option(*parsed, "seed", 0, std::numeric_limits<std::int64_t>::max());

  WorkloadKeys keys;
  const PairTable table = read_tables(pairs, common, keys);
  FactorOptions options;
  options.seed = static_cast<std::uint64_t>(seed);
  options.threads = static_cast<int>(common.threads);
  std::optional<FactorModel> model;
  try {
    model = FactorModel::fit(table.speeds, options);
  } catch (const std::invalid_argument& e) {
    throw InputError(table.source, e.what());
  }
  const std::string about =
      fmt::format("{} rows of {} jobs, seed {}", table.speeds.rows.size(), model->jobs(), seed);
  write_model_file(output, {*model, workload_digests(*model, keys), about}, "--out");
  const std::size_t measured =
      static_cast<std::size_t>(std::count(table.scored.begin(), table.scored.end(), true));
  if (common.format == Format::kJson) {
    std::cout << Json{{"model", "factors"}, {"pairs", measured}, {"jobs", model->jobs()}}.dump(2)
              << "\n";
  } else {
    std::cout << fmt::format("factors, fitted on {} measured pairs of {} jobs\n", measured,
                             model->jobs());
  }
  if (!common.quiet) std::cerr << "note: wrote " << printable(output, 200) << "\n";
  return kDone;
}

int model_predict(const std::vector<std::string>& arguments) {
  CommandLine command;
  command.name = "model predict";
  command.usage = "corun model predict --model MODEL --pairs IN.csv --out OUT.csv";
  command.summary =
      "Predicts the normalised speeds of pairs of jobs: the table is written back, every row in "
      "its\n"
      "place, with pred_norm_a, pred_norm_b (the speed of each beside the other) and their "
      "standard\n"
      "deviations pred_sd_a, pred_sd_b. Columns of outcomes may be there or not; they are not "
      "read.";
  command.examples =
      "  corun model fit --pairs examples/mine.corun.csv --out m.model && corun model predict \\\n"
      "      --model m.model --pairs examples/mine.corun.csv --out predicted.csv\n";
  command.configured = false;
  auto add = command.own.add_options();
  add("model", po::value<std::string>(), "what `corun model fit` wrote");
  add("pairs", po::value<std::string>(), "table of pairs of the form it was fitted on");
  add("out", po::value<std::string>(), "the table with predictions");
  CommonOptions common;
  const auto parsed = parse_command_line(command, arguments, common);
  if (!parsed) return kDone;
  choose_device(common.device);
  for (const char* key : {"model", "pairs"}) {
    if (parsed->count(key) == 0) {
      throw InputError("corun model predict", std::string("--") + key + " is missing");
    }
  }
  const auto out =
      parsed->count("out") != 0 ? std::optional((*parsed)["out"].as<std::string>()) : common.output;
  if (!out) throw InputError("corun model predict", "where to? Give --out OUT.csv");
  const std::string output = checked_output_path(*out, "--out");
  const std::string model_path =
      find_input_file((*parsed)["model"].as<std::string>(), common, "--model");
  const std::string pairs =
      find_input_file((*parsed)["pairs"].as<std::string>(), common, "--pairs");
  check_outputs_differ({{"--out", output}}, {{"--model", model_path}, {"--pairs", pairs}});

  WorkloadKeys keys;
  const PairTable table = read_pair_table(pairs, keys);
  const FactorModel model = read_model_file(model_path, keys, table.names).model;
  check_features(model, table);
  std::vector<PairJob> jobs;
  for (std::size_t j = 0; j < table.speeds.jobs.size(); ++j) {
    jobs.push_back({table.speeds.jobs[j], {table.speeds.of(j), table.speeds.features.size()}});
  }
  std::vector<PairQuery> queries;
  for (const SpeedTable::Row& row : table.speeds.rows) {
    queries.push_back({row.a, row.b});
    queries.push_back({row.b, row.a});
  }
  std::vector<SpeedPrediction> speeds;
  try {
    speeds = model.predict(jobs, queries);
  } catch (const std::invalid_argument& e) {
    throw InputError(table.source, e.what());
  }
  std::vector<std::array<double, 4>> predictions;
  for (std::size_t r = 0; r < table.speeds.rows.size(); ++r) {
    const SpeedPrediction& a = speeds[2 * r];
    const SpeedPrediction& b = speeds[2 * r + 1];
    predictions.push_back({a.speed, b.speed, a.sd, b.sd});
  }
  std::ostringstream text;
  write_predictions(text, table, predictions);
  write_file_atomically(output, text.str());
  std::size_t unseen = 0;
  for (const WorkloadKey key : table.speeds.jobs) unseen += model.knows(key) ? 0 : 1;
  std::cout << fmt::format("{} pairs of {} jobs predicted, {} of the jobs never measured\n",
                           predictions.size(), table.speeds.jobs.size(), unseen);
  return kDone;
}

int model_cross_validate(const std::vector<std::string>& tables, const std::string& split,
                         std::size_t queues, std::uint64_t seed, const CommonOptions& common) {
  std::vector<PairSplit> splits;
  for (const PairSplit s : {PairSplit::kPairs, PairSplit::kJob, PairSplit::kFamily}) {
    if (split == name_of(s) || split == "all") splits.push_back(s);
  }
  if (splits.empty()) {
    constexpr std::array<std::string_view, 4> kKnown{"pairs", "job", "family", "all"};
    throw InputError("--split", "found '" + printable(split) + "': " + did_you_mean(split, kKnown));
  }
  WorkloadKeys keys;
  const PairTable table = read_tables(tables, common, keys);
  PairEvaluationOptions options;
  options.seed = seed;
  options.queues = queues;
  options.threads = common.threads;
  std::string text;
  Json json = Json::array();
  std::string csv =
      "data,split,predictor,mae,mae_error,rmse,spearman,covered,width,regret,regret_error\n";
  for (const PairSplit s : splits) {
    Progress progress("fitting", common.quiet);
    const PairEvaluation e = evaluate_pairs(
        table, s, options, [&](std::size_t done, std::size_t of) { progress.update(done, of); });
    text += (text.empty() ? "" : "\n") + table_of(e);
    json.push_back(json_of(e));
    for (const PairScore& p : e.scores) {
      csv += fmt::format("{},{},{},{},{},{},{},{},{},{},{}\n", csv_text(e.data), name_of(e.split),
                         p.predictor, csv_number(p.mae), csv_number(p.mae_error),
                         csv_number(p.rmse), csv_number(p.spearman), csv_number(p.covered),
                         csv_number(p.width), csv_number(p.regret), csv_number(p.regret_error));
    }
  }
  emit(common, common.format == Format::kJson  ? json.dump(2) + "\n"
               : common.format == Format::kCsv ? csv
                                               : text);
  return kDone;
}

}  // namespace corun
