#include "evaluation/pair_evaluation_output.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "support/charts/svg_chart.hpp"
#include "support/json.hpp"
#include "traces/csv_reader.hpp"

namespace corun::inline evaluation {

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
                     e.rows > 0 ? fmt::format(" on at most {} pairs each", e.rows) : "");
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

}  // namespace

std::string pair_evaluation_table(const std::vector<PairEvaluation>& all) {
  std::string out;
  for (const PairEvaluation& e : all) out += (out.empty() ? "" : "\n") + table_of(e);
  return out +
         "\nMAE, RMSE: errors of ISD in percentage points; PS: MAE of PS in points; MAPE J_c: mean "
         "error of J_c in per cent of it\n"
         "in 90 %: share of co-runs within the 90 % interval; width: its median width in points of "
         "ISD; +-: one standard error\n"
         "regret: of pairing queues by the predictions, 0 the optimum, 1 random\n";
}

nlohmann::ordered_json pair_evaluation_json(const std::vector<PairEvaluation>& all) {
  Json json = Json::array();
  for (const PairEvaluation& e : all) json.push_back(json_of(e));
  return json;
}

std::string pair_evaluation_csv(const std::vector<PairEvaluation>& all) {
  std::string out =
      "data,split,rows,probes,predictor,mae,mae_error,rmse,mape,ps_mae,spearman,covered,covered_"
      "error,width,regret,regret_error\n";
  for (const PairEvaluation& e : all) {
    for (const PairScore& p : e.scores) {
      out += fmt::format("{},{},{},{},{}", csv_text(e.data), name_of(e.split),
                         e.rows > 0 ? std::to_string(e.rows) : "", e.probes, p.predictor);
      for (const double x : {p.mae, p.mae_error, p.rmse, p.mape, p.ps_mae, p.spearman, p.covered,
                             p.covered_error, p.width, p.regret, p.regret_error}) {
        out += "," + csv_number(x);
      }
      out += "\n";
    }
  }
  return out;
}

std::string pair_evaluation_figure(const std::vector<PairEvaluation>& all, PairFigure figure,
                                   std::uint64_t seed) {
  const bool by_rows = figure == PairFigure::kOverRows;
  const bool curve = figure != PairFigure::kCalibration;
  LineChart chart;
  chart.title = curve ? "Error of ISD in cross-validation" : "Calibration of the predicted speeds";
  chart.note = curve ? fmt::format("{}; seed {}", all.front().data, seed)
                     : fmt::format(
                           "{}; seed {}. On the line: as many co-runs are slower than a "
                           "quantile as it says.",
                           all.front().data, seed);
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

}  // namespace corun::inline evaluation
