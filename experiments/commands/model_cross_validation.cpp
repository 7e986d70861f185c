#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "experiments/base/atomic_file.hpp"
#include "experiments/base/json.hpp"
#include "experiments/base/progress.hpp"
#include "experiments/charts/svg_chart.hpp"
#include "experiments/commands/model_words.hpp"
#include "experiments/evaluation/pair_evaluation.hpp"
#include "sim/base/text.hpp"
#include "sim/error.hpp"
#include "traces/csv_reader.hpp"

/// `corun model eval --split ...`: cross-validation of interference models over tables of pairs.
namespace corun {

namespace {

std::string cell(double x, double unit, int digits) {
  return std::isnan(x) ? "-" : fmt::format("{:.{}f}", unit * x, digits);
}

std::string cell(double x, double error, double unit, int digits) {
  return std::isnan(x)       ? "-"
         : std::isnan(error) ? cell(x, unit, digits)
                             : cell(x, unit, digits) + " +- " + cell(error, unit, digits);
}

std::string table_of(const PairEvaluation& e) {
  constexpr std::array<std::string_view, 3> kHeldOut{"random pairs, five folds", "unseen job",
                                                     "unseen family"};
  std::string out = fmt::format("{}: {} scored pairs of {} jobs; held out: {}", e.data, e.pairs,
                                e.jobs, kHeldOut[static_cast<std::size_t>(e.split)]);
  if (e.probes > 0) out += fmt::format(", {} pairs of each known", e.probes);
  out += fmt::format(" ({} fits{})\n", e.folds,
                     e.rows > 0 ? fmt::format(" on {} pairs each", e.rows) : "");
  out += fmt::format("  {:<14} {:>15} {:>6} {:>8} {:>6} {:>9} {:>13} {:>9} {:>14}\n", "predictor",
                     "MAE ISD %", "RMSE", "MAPE J_c", "PS %", "Spearman", "in 90 %", "width %",
                     "regret");
  for (const PairScore& s : e.scores) {
    out += fmt::format("  {:<14} {:>15} {:>6} {:>8} {:>6} {:>9} {:>13} {:>9} {:>14}\n", s.predictor,
                       cell(s.mae, s.mae_error, 100, 2), cell(s.rmse, 100, 1), cell(s.mape, 100, 1),
                       cell(s.ps_mae, 100, 2), cell(s.spearman, 1, 2),
                       cell(s.covered, s.covered_error, 100, 1), cell(s.width, 100, 1),
                       cell(s.regret, s.regret_error, 1, 2));
  }
  for (const auto& [name, why] : e.left_out) out += fmt::format("  {:<14}  - ({})\n", name, why);
  if (e.queues > 0) {
    out += fmt::format(
        "  {} queues of 24 jobs: mean ISD {:.1f} % paired as well as can be, {:.1f} % at random\n",
        e.queues, 100 * e.best_isd, 100 * e.random_isd);
  }
  return out;
}

Json json_of(const PairEvaluation& e) {
  Json json{{"data", e.data},
            {"split", name_of(e.split)},
            {"rows", e.rows > 0 ? Json(e.rows) : Json(nullptr)},
            {"probes", e.probes},
            {"pairs", e.pairs},
            {"jobs", e.jobs},
            {"folds", e.folds},
            {"queues", e.queues},
            {"best_isd", e.best_isd},
            {"random_isd", e.random_isd}};
  json["predictors"] = Json::array();
  for (const PairScore& s : e.scores) {
    Json calibration = Json::array();
    for (std::size_t l = 0; l < s.calibration.size(); ++l) {
      calibration.push_back({{"level", kLevels[l]}, {"below", s.calibration[l]}});
    }
    json["predictors"].push_back({{"predictor", s.predictor},
                                  {"mae", s.mae},
                                  {"mae_error", json_number(s.mae_error)},
                                  {"rmse", s.rmse},
                                  {"mape", s.mape},
                                  {"ps_mae", s.ps_mae},
                                  {"spearman", json_number(s.spearman)},
                                  {"covered", json_number(s.covered)},
                                  {"covered_error", json_number(s.covered_error)},
                                  {"width", json_number(s.width)},
                                  {"regret", json_number(s.regret)},
                                  {"regret_error", json_number(s.regret_error)},
                                  {"calibration", std::move(calibration)}});
  }
  json["left_out"] = Json::object();
  for (const auto& [name, why] : e.left_out) json["left_out"][name] = why;
  return json;
}

constexpr std::string_view kCsvHeader =
    "data,split,rows,probes,predictor,mae,mae_error,rmse,mape,ps_mae,spearman,covered,covered_"
    "error,width,"
    "regret,regret_error\n";

std::string csv_of(const PairEvaluation& e) {
  std::string out;
  for (const PairScore& p : e.scores) {
    out += fmt::format("{},{},{},{},{}", csv_text(e.data), name_of(e.split),
                       e.rows > 0 ? std::to_string(e.rows) : "", e.probes, p.predictor);
    for (const double x : {p.mae, p.mae_error, p.rmse, p.mape, p.ps_mae, p.spearman, p.covered,
                           p.covered_error, p.width, p.regret, p.regret_error}) {
      out += "," + csv_number(x);
    }
    out += "\n";
  }
  return out;
}

std::vector<const InterferenceModelEntry*> models_of(const std::vector<std::string>& names) {
  std::vector<const InterferenceModelEntry*> models;
  const auto add = [&](const InterferenceModelEntry* entry) {
    if (std::ranges::find(models, entry) == models.end()) models.push_back(entry);
  };
  if (names.empty()) {
    add(find_interference_model("cluster-mean"));
    add(find_interference_model("default"));
  }
  for (const std::string& name : names) {
    if (name == "all") {
      for (const InterferenceModelEntry& entry : interference_model_catalog()) add(&entry);
      continue;
    }
    const InterferenceModelEntry* entry = find_interference_model(name);
    if (entry == nullptr) {
      std::vector<std::string_view> known{"all", "default"};
      for (const InterferenceModelEntry& e : interference_model_catalog()) known.push_back(e.name);
      throw InputError("--model", "found '" + printable(name) + "': " + did_you_mean(name, known));
    }
    add(entry);
  }
  return models;
}

/// Curves where rows or probes are varied, else how well intervals are calibrated.
std::string figure_of(const std::vector<PairEvaluation>& all, const CrossValidation& asked) {
  const bool by_rows = asked.rows.size() > 1;
  const bool curve = by_rows || asked.probes.size() > 1;
  LineChart chart;
  chart.title = curve ? "Error of ISD in cross-validation" : "Calibration of the predicted speeds";
  chart.note = curve ? fmt::format("{}; seed {}", all.front().data, asked.seed)
                     : fmt::format(
                           "{}; seed {}. On the line: as many co-runs are slower than a "
                           "quantile as it says.",
                           all.front().data, asked.seed);
  for (const PairEvaluation& e : all) {
    const std::string title = fmt::format("held out: {}", name_of(e.split));
    if (chart.panels.empty() || chart.panels.back().title != title) {
      LinePanel panel;
      panel.title = title;
      panel.x_axis = !curve    ? "predicted quantile"
                     : by_rows ? "measured pairs that were known"
                               : "pairs known of each job held out";
      panel.y_axis = curve ? "MAE of ISD [percentage points]" : "share of co-runs below it";
      panel.log_x = by_rows;
      if (!curve) panel.series.push_back({"calibrated", {{0, 0}, {1, 1}}});
      chart.panels.push_back(std::move(panel));
    }
    for (const PairScore& score : e.scores) {
      LineSeries line{score.predictor, {}};
      for (std::size_t l = 0; l < score.calibration.size() && !curve; ++l) {
        line.points.push_back({kLevels[l], score.calibration[l]});
      }
      if (curve) {
        line.points.push_back({static_cast<double>(by_rows ? e.rows : e.probes), 100 * score.mae});
      }
      if (line.points.empty()) continue;
      auto& series = chart.panels.back().series;
      const auto at = std::ranges::find(series, line.name, &LineSeries::name);
      if (at == series.end()) {
        series.push_back(std::move(line));
      } else {
        at->points.push_back(line.points.front());
      }
    }
  }
  return svg_line_chart(chart);
}

/// Nothing for the name of a file.
std::optional<PapersScored> papers_named(const std::string& name) {
  if (name == "papers") return PapersScored::kAll;
  if (name == "papers-published") return PapersScored::kPublished;
  return std::nullopt;
}

}  // namespace

PairTable read_pair_tables(const std::vector<std::string>& paths, const CommonOptions& common,
                           WorkloadKeys& keys) {
  PairTable all;
  std::set<std::string> read;
  for (const std::string& path : paths) {
    const std::optional<PapersScored> papers = papers_named(path);
    const std::string file =
        papers
            ? "papers"
            : std::filesystem::weakly_canonical(find_input_file(path, common, "--pairs")).string();
    if (!read.insert(file).second) {
      throw InputError("--pairs", "'" + printable(path) + "' is given twice; once is enough");
    }
    append(all, papers ? papers_pair_table(keys, *papers) : read_pair_table(file, keys));
  }
  return all;
}

int model_cross_validate(const CrossValidation& asked, const CommonOptions& common) {
  WorkloadKeys keys;
  const PairTable table = read_pair_tables(asked.tables, common, keys);
  const std::set<std::string> families(table.families.begin(), table.families.end());
  const bool has_families = families.size() > 1 && !families.contains("");
  std::vector<PairSplit> splits;
  for (const PairSplit s : {PairSplit::kPairs, PairSplit::kJob, PairSplit::kFamily}) {
    const bool possible = s != PairSplit::kFamily || has_families;
    if (asked.split == name_of(s) || (asked.split == "all" && possible)) splits.push_back(s);
  }
  if (splits.empty()) {
    constexpr std::array<std::string_view, 4> kKnown{"pairs", "job", "family", "all"};
    throw InputError(
        "--split", "found '" + printable(asked.split) + "': " + did_you_mean(asked.split, kKnown));
  }
  if (!asked.probes.empty() && asked.split != "job" && asked.split != "family") {
    throw InputError("--probes", "goes with --split job or family, where somebody is held out");
  }
  PairEvaluationOptions options;
  options.models = models_of(asked.models);
  options.seed = asked.seed;
  options.queues = asked.queues;
  options.threads = common.threads;
  // Points of the curves; 0 rows are all of them.
  const auto or_none = [](const std::vector<std::size_t>& points) {
    return points.empty() ? std::vector<std::size_t>{0} : points;
  };
  const std::string figure =
      asked.figure.empty() ? "" : checked_output_path(asked.figure, "--figure");
  std::vector<NamedFile> outputs;
  if (!figure.empty()) outputs.push_back({"--figure", figure});
  if (common.output) outputs.push_back({"--output", *common.output});
  std::vector<NamedFile> inputs;
  for (const std::string& path : asked.tables) {
    if (!papers_named(path))
      inputs.push_back({"--pairs", find_input_file(path, common, "--pairs")});
  }
  check_outputs_differ(outputs, inputs);
  std::vector<PairEvaluation> all;
  std::string text;
  Json json = Json::array();
  std::string csv(kCsvHeader);
  for (const PairSplit split : splits) {
    for (const std::size_t rows : or_none(asked.rows)) {
      for (const std::size_t probes : or_none(asked.probes)) {
        options.rows = rows;
        options.probes = probes;
        Progress progress("fitting", common.quiet);
        const PairEvaluation e =
            evaluate_pairs(table, split, options,
                           [&](std::size_t done, std::size_t of) { progress.update(done, of); });
        text += (text.empty() ? "" : "\n") + table_of(e);
        json.push_back(json_of(e));
        csv += csv_of(e);
        all.push_back(e);
      }
    }
  }
  if (!figure.empty()) write_file_atomically(figure, figure_of(all, asked));
  emit(common, common.format == Format::kJson  ? json.dump(2) + "\n"
               : common.format == Format::kCsv ? csv
                                               : text);
  return kDone;
}

}  // namespace corun
