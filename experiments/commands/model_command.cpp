#include <cmath>
#include <filesystem>
#include <iostream>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "experiments/base/atomic_file.hpp"
#include "experiments/base/build_info.hpp"
#include "experiments/base/json.hpp"
#include "experiments/commands/cli.hpp"
#include "experiments/commands/model_words.hpp"
#include "experiments/evaluation/company_evaluation.hpp"
#include "experiments/evaluation/model_evaluation.hpp"
#include "sim/base/text.hpp"
#include "sim/error.hpp"
#include "traces/corun_csv.hpp"
#include "traces/csv_reader.hpp"

/// `corun model eval`: how well interference models predict what they have not seen.
namespace corun {

namespace {

namespace po = boost::program_options;
constexpr std::string_view kLucidFile = "lucid/lucid_pairs.csv";

EvaluationData data_of(const std::string& pairs, const std::string& directory) {
  if (pairs == "papers") return papers_evaluation();
  if (pairs == "papers-published") {
    throw InputError("--pairs", "papers-published goes with --split only; take 'papers'");
  }
  if (pairs == "lucid") {
    if (directory.empty()) {
      throw InputError("--pairs lucid", "there is no data directory, expected one that holds " +
                                            std::string(kLucidFile) +
                                            "; name it with --data DIR or CORUN_DATA");
    }
    const std::string path = directory + "/" + std::string(kLucidFile);
    std::error_code error;
    if (!std::filesystem::exists(path, error)) {
      throw InputError("--pairs lucid", "'" + printable(directory, 200) + "' has no " +
                                            std::string(kLucidFile) +
                                            "; name the right directory with --data DIR or "
                                            "CORUN_DATA");
    }
    return lucid_evaluation(path);
  }
  std::error_code error;
  if (!pairs.ends_with(".csv") && !std::filesystem::exists(pairs, error)) {
    constexpr std::array<std::string_view, 2> kKnown{"papers", "lucid"};
    throw InputError("--pairs", "no pairs '" + printable(pairs) +
                                    "', expected the path of a "
                                    "FILE.corun.csv or a known name; " +
                                    did_you_mean(pairs, kKnown));
  }
  WorkloadKeys keys;
  return evaluation_data(pairs, read_corun_csv(pairs, keys).measurements);
}

// ---- table ------------------------------------------------------------------------------------

/// `digits` decimals; "-" where there is nothing.
std::string shown(double value, int digits) {
  return std::isnan(value) ? "-" : fmt::format("{:.{}f}", value, digits);
}

std::string shown(const Estimate& estimate, double unit, int digits) {
  if (std::isnan(estimate.value)) return "-";
  const std::string value = shown(estimate.value * unit, digits);
  return std::isnan(estimate.error) ? value : value + " +- " + shown(estimate.error * unit, digits);
}

/// Predictors that rank pairs, in the order of the columns.
std::vector<const PredictorScore*> with_regret(const ModelEvaluation& evaluation) {
  std::vector<const PredictorScore*> all;
  for (const PredictorScore& p : evaluation.predictors) {
    if (!p.queues.empty()) all.push_back(&p);
  }
  return all;
}

/// Groups of more than two, a line for each model.
std::string table_of(const std::vector<GroupScore>& groups) {
  if (groups.empty()) return "";
  std::string out = fmt::format(
      "Groups of three and more, from the pairs alone: mean ISD [%]\n\n{:<22}{:>6}{:>10}  "
      "{:<14}{:>8}",
      "group", "jobs", "measured", "model", "its own");
  for (const CompanyRule& rule : company_rules()) out += fmt::format("{:>11}", rule.name);
  out += "\n";
  for (const GroupScore& g : groups) {
    for (const GroupScore::Model& m : g.models) {
      out += fmt::format("{:<22}{:>6}{:>10.1f}  {:<14}{:>8.1f}", g.group, g.jobs, 100 * g.measured,
                         m.name, 100 * m.own);
      for (const double isd : m.rules) out += fmt::format("{:>11.1f}", 100 * isd);
      out += "\n";
    }
  }
  return out + "\n";
}

std::string table_of(const ModelEvaluation& evaluation, const std::vector<GroupScore>& groups,
                     std::uint64_t seed) {
  std::string out = fmt::format(
      "{}: {} measured pairs of {} jobs, mean ISD {:.1f} %\n\n"
      "Predicting ISD of jobs left out of the fit [percentage points]\n\n"
      "{:<16}{:>15}{:>20}{:>8}{:>8}{:>10}\n",
      evaluation.data, evaluation.pairs, evaluation.jobs, 100 * evaluation.mean_isd, "predictor",
      "MAE", "above contention", "RMSE", "bias", "Spearman");
  for (const PredictorScore& p : evaluation.predictors) {
    if (std::isnan(p.mae.value)) continue;
    out += fmt::format("{:<16}{:>15}{:>20}{:>8}{:>8}{:>10}\n", p.name, shown(p.mae, 100, 2),
                       p.name == "contention" ? "-" : shown(p.mae_above_contention, 100, 2),
                       shown(100 * p.rmse, 2), shown(100 * p.bias, 2), shown(p.spearman, 2));
  }

  const auto columns = with_regret(evaluation);
  out += fmt::format(
      "\nPairing queues by those predictions: regret (0 the optimum, 1 random)\n\n"
      "{:<22}{:>6}{:>9}{:>9}",
      "queue", "jobs", "best", "random");
  for (const PredictorScore* p : columns) out += fmt::format("{:>16}", p->name);
  out += "\n";
  for (std::size_t s = 0; s < evaluation.sessions.size(); ++s) {
    const SessionSummary& session = evaluation.sessions[s];
    if (session.matchings == 0) continue;
    out += fmt::format("{:<22}{:>6}{:>9}{:>9}", session.name, session.jobs,
                       shown(100 * session.whole_best, 1) + " %",
                       shown(100 * session.whole_random, 1) + " %");
    for (const PredictorScore* p : columns) out += fmt::format("{:>16}", shown(p->whole[s], 2));
    out += "\n";
  }
  for (std::size_t s = 0; s < evaluation.sessions.size(); ++s) {
    const SessionSummary& session = evaluation.sessions[s];
    out += fmt::format(
        "{:<22}{:>6}{:>9}{:>9}", fmt::format("{} x {}", session.queues, session.name), "",
        shown(100 * session.queues_best, 1) + " %", shown(100 * session.queues_random, 1) + " %");
    for (const PredictorScore* p : columns) out += fmt::format("{:>16}", shown(p->queues[s], 1, 2));
    out += "\n";
  }
  if (evaluation.sessions.size() > 1) {
    out += fmt::format("{:<46}", "mean of the whole sessions");
    for (const PredictorScore* p : columns) out += fmt::format("{:>16}", shown(p->mean_whole, 2));
    out += fmt::format("\n{:<46}", "mean of the random queues");
    for (const PredictorScore* p : columns) {
      out += fmt::format("{:>16}", shown(p->mean_queues, 1, 2));
    }
    out += "\n";
  }
  out += "\n" + table_of(groups);
  out += fmt::format("+- is one standard error; seed {}. Best and random are mean ISDs.\n\n", seed);
  for (const Claim& c : evaluation.claims) {
    const bool error = c.text.starts_with("MAE");
    out += fmt::format("{}  {}: {} against {}\n", c.holds() ? "holds" : "FAILS", c.text,
                       shown(error ? 100 * c.ours : c.ours, 2),
                       shown(error ? 100 * c.theirs : c.theirs, 2));
  }
  return out;
}

// ---- json and csv -----------------------------------------------------------------------------

Json json_of(const Estimate& estimate) {
  return {{"value", json_number(estimate.value)}, {"error", json_number(estimate.error)}};
}

Json json_of(const std::vector<GroupScore>& groups) {
  Json out = Json::array();
  for (const GroupScore& g : groups) {
    Json models = Json::array();
    for (const GroupScore::Model& m : g.models) {
      Json rules = Json::object();
      for (std::size_t r = 0; r < m.rules.size(); ++r) {
        rules[std::string(company_rules()[r].name)] = m.rules[r];
      }
      models.push_back({{"model", m.name}, {"isd", m.own}, {"rules", std::move(rules)}});
    }
    out.push_back({{"group", g.group},
                   {"jobs", g.jobs},
                   {"measured_isd", g.measured},
                   {"models", std::move(models)}});
  }
  return out;
}

Json json_of(const ModelEvaluation& evaluation, const std::vector<GroupScore>& groups,
             std::uint64_t seed) {
  Json sessions = Json::array();
  for (const SessionSummary& s : evaluation.sessions) {
    sessions.push_back({{"session", s.name},
                        {"jobs", s.jobs},
                        {"pairs", s.pairs},
                        {"matchings", s.matchings > 0 ? Json(s.matchings) : Json(nullptr)},
                        {"whole_best_isd", json_number(s.whole_best)},
                        {"whole_random_isd", json_number(s.whole_random)},
                        {"queues", s.queues},
                        {"queues_best_isd", json_number(s.queues_best)},
                        {"queues_random_isd", json_number(s.queues_random)}});
  }
  Json predictors = Json::array();
  for (const PredictorScore& p : evaluation.predictors) {
    Json regret = Json::array();
    for (std::size_t s = 0; s < p.queues.size(); ++s) {
      regret.push_back({{"session", evaluation.sessions[s].name},
                        {"whole", json_number(p.whole[s])},
                        {"queues", json_of(p.queues[s])}});
    }
    predictors.push_back({{"predictor", p.name},
                          {"mae", json_of(p.mae)},
                          {"mae_above_contention", json_of(p.mae_above_contention)},
                          {"rmse", json_number(p.rmse)},
                          {"bias", json_number(p.bias)},
                          {"spearman", json_number(p.spearman)},
                          {"regret_whole", json_number(p.mean_whole)},
                          {"regret_queues", json_of(p.mean_queues)},
                          {"regret", std::move(regret)}});
  }
  Json claims = Json::array();
  for (const Claim& c : evaluation.claims) {
    claims.push_back({{"claim", c.text},
                      {"contention", json_number(c.ours)},
                      {"other", json_number(c.theirs)},
                      {"holds", c.holds()}});
  }
  return {{"corun", version()},
          {"pairs", evaluation.data},
          {"seed", seed},
          {"measured_pairs", evaluation.pairs},
          {"jobs", evaluation.jobs},
          {"mean_isd", evaluation.mean_isd},
          {"sessions", std::move(sessions)},
          {"predictors", std::move(predictors)},
          {"groups", json_of(groups)},
          {"claims", std::move(claims)}};
}

/// One row per figure; session "all" is the mean over sessions.
std::string csv_of(const ModelEvaluation& evaluation, const std::vector<GroupScore>& groups) {
  std::string out = "predictor,metric,session,value,error\n";
  const auto row = [&](const std::string& name, std::string_view metric, const std::string& session,
                       const Estimate& e) {
    if (std::isnan(e.value)) return;
    out += fmt::format("{},{},{},{},{}\n", csv_text(name), metric, csv_text(session),
                       csv_number(e.value), csv_number(e.error));
  };
  for (const PredictorScore& p : evaluation.predictors) {
    row(p.name, "mae", "all", p.mae);
    row(p.name, "mae_above_contention", "all", p.mae_above_contention);
    row(p.name, "rmse", "all", {.value = p.rmse});
    row(p.name, "bias", "all", {.value = p.bias});
    row(p.name, "spearman", "all", {.value = p.spearman});
    row(p.name, "regret_whole", "all", {.value = p.mean_whole});
    row(p.name, "regret_queues", "all", p.mean_queues);
    for (std::size_t s = 0; s < p.queues.size(); ++s) {
      row(p.name, "regret_whole", evaluation.sessions[s].name, {.value = p.whole[s]});
      row(p.name, "regret_queues", evaluation.sessions[s].name, p.queues[s]);
    }
  }
  for (const GroupScore& g : groups) {
    row("measured", "group_isd", g.group, {.value = g.measured});
    for (const GroupScore::Model& m : g.models) {
      row(m.name, "group_isd", g.group, {.value = m.own});
    }
  }
  return out;
}

/// "10,30,100" as whole numbers from `least`; empty when not given.
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

int eval(const std::vector<std::string>& arguments) {
  CommandLine command;
  command.name = "model eval";
  command.usage =
      "corun model eval [--pairs papers|lucid|FILE] [--split pairs|job|family|all] [options]";
  command.summary =
      "Leaves one job out at a time, fits every interference model on the measured pairs that\n"
      "remain and predicts the rest: errors of ISD, and the regret of pairing queues by those\n"
      "predictions. On the papers' tables this is a check: exit code 1 unless contention beats "
      "the\n"
      "mean and both cluster means in MAE and the policy `opposites` in regret.";
  command.examples =
      "  corun model eval                           the papers' tables, compiled in\n"
      "  corun model eval --queues 50 --format csv  one row per figure\n"
      "  corun model eval --pairs lucid             needs the data directory, see --data\n"
      "  corun model eval --split all --pairs papers --model all          every model\n"
      "  corun model eval --split all --pairs lucid/lucid_pairs.csv       needs --data\n";
  command.configured = false;
  auto add = command.own.add_options();
  add("pairs", po::value<std::vector<std::string>>()->composing(),
      "papers (the default): JRS II to VII and PriRecT III, IV; lucid: lucid/lucid_pairs.csv of "
      "the "
      "data directory; or a file of co-run measurements; with --split tables of pairs, and "
      "papers-published, which scores no pair of a job whose profile the papers keep back");
  add("split", po::value<std::string>(),
      "cross-validate the model of `corun model fit` on tables of pairs: pairs, job, family or all "
      "are held out");
  add("model", po::value<std::vector<std::string>>()->composing(),
      "with --split: which models of `corun list models`, once for each, or all; else the default "
      "and "
      "cluster-mean");
  add("rows", po::value<std::string>(),
      "with --split: learning curve, fits on at most so many measured pairs, as 10,30,100");
  add("probes", po::value<std::string>(),
      "with --split job or family: so many pairs of each job held out are known, as 0,1,3,5");
  add("figure", po::value<std::string>(),
      "with --split: draw the calibration, or the curve over --rows or --probes, to this SVG");
  add("queues", po::value<std::string>()->default_value("100"),
      "random queues per session; 1 to 100000");
  add("seed", po::value<std::string>()->default_value("1"), "which queues are drawn");
  CommonOptions common;
  const auto values = parse_command_line(command, arguments, common);
  if (!values) return kDone;

  const std::string output =
      common.output ? checked_output_path(*common.output, "--output") : std::string();
  const auto tables = values->count("pairs") != 0
                          ? (*values)["pairs"].as<std::vector<std::string>>()
                          : std::vector<std::string>{"papers"};
  const auto queues = static_cast<std::uint64_t>(whole_option(*values, "queues", 1, 100'000));
  const auto seed = static_cast<std::uint64_t>(
      whole_option(*values, "seed", 0, std::numeric_limits<std::int64_t>::max()));
  if (values->count("split") != 0) {
    CrossValidation asked;
    asked.tables = tables;
    asked.split = (*values)["split"].as<std::string>();
    asked.models = list_option(*values, "model");
    asked.rows = counts_option(*values, "rows", 1);
    asked.probes = counts_option(*values, "probes", 0);
    if (values->count("figure") != 0) asked.figure = (*values)["figure"].as<std::string>();
    asked.queues = static_cast<std::size_t>(queues);
    asked.seed = seed;
    return model_cross_validate(asked, common);
  }
  for (const char* key : {"model", "rows", "probes", "figure"}) {
    if (values->count(key) != 0) {
      throw InputError(std::string("--") + key, "goes with --split only");
    }
  }
  if (tables.size() != 1) throw InputError("--pairs", "given twice, which goes with --split only");
  const std::string& pairs = tables.front();
  std::error_code error;
  if (common.output && std::filesystem::exists(pairs, error)) {
    check_outputs_differ({{"--output", output}}, {{"--pairs", pairs}});
  }
  const EvaluationData data = data_of(pairs, common.data);
  const ModelEvaluation evaluation = evaluate_models(data, static_cast<std::size_t>(queues), seed);
  constexpr std::array<std::string_view, 3> kOfGroups{"default", "contention", "cluster-mean"};
  const std::vector<GroupScore> groups = evaluate_groups(data.pairs, data.groups, kOfGroups);

  std::string text;
  switch (common.format) {
    case Format::kTable:
      text = table_of(evaluation, groups, seed);
      break;
    case Format::kJson:
      text = json_of(evaluation, groups, seed).dump(2) + "\n";
      break;
    case Format::kCsv:
      text = csv_of(evaluation, groups);
      break;
  }
  if (common.output) {
    write_file_atomically(output, text);
  } else {
    std::cout << text;
  }
  return pairs != "papers" || evaluation.claims_hold() ? kDone : kCheckFailed;
}

}  // namespace

int model_command(const std::vector<std::string>& arguments) {
  const std::string action = arguments.empty() ? "" : arguments.front();
  const std::vector<std::string> rest(arguments.begin() + (arguments.empty() ? 0 : 1),
                                      arguments.end());
  if (action == "fit") return model_fit(rest);
  if (action == "predict") return model_predict(rest);
  if (action == "eval") return eval(rest);
  if (action == "--help" || action == "-h") {
    std::cout << "usage: corun model fit|predict|eval [options]\n\n"
                 "What pairs of jobs cost each other, learnt from measured pairs.\n\n"
                 "  fit      from tables of measured pairs to a model\n"
                 "  predict  a table of pairs in, the same with predicted speeds out\n"
                 "  eval     how well interference models predict what they have not seen\n\n"
                 "`corun model WORD --help` teaches each of them.\n\nExamples:\n"
                 "  corun model eval\n";
    return kDone;
  }
  constexpr std::array<std::string_view, 3> kActions{"fit", "predict", "eval"};
  throw InputError("corun model", action.empty() ? "do what? There is: fit, predict, eval"
                                                 : "no action '" + printable(action) +
                                                       "': " + did_you_mean(action, kActions));
}

}  // namespace corun
