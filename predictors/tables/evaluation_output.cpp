#include "predictors/tables/evaluation_output.hpp"

#include <array>
#include <cmath>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "sim/base/csv_text.hpp"
#include "support/text_table.hpp"

namespace corun::inline predictors {

namespace {

struct ScoreColumn {
  const char* name;   ///< in CSV and JSON
  const char* title;  ///< in the table
  int decimals;
  double (*of)(const PredictionScore&);
};
constexpr std::array<ScoreColumn, 10> kScores{{
    {"jobs", "jobs", 0, [](const PredictionScore& s) { return static_cast<double>(s.jobs); }},
    {"mape_pct", "MAPE %", 1, [](const PredictionScore& s) { return s.mape; }},
    {"median_ape_pct", "median %", 1, [](const PredictionScore& s) { return s.median_ape; }},
    {"p95_ape_pct", "p95 %", 1, [](const PredictionScore& s) { return s.p95_ape; }},
    {"mae", "MAE", 1, [](const PredictionScore& s) { return s.mae; }},
    {"rmsle", "RMSLE", 3, [](const PredictionScore& s) { return s.rmsle; }},
    {"coverage_pct", "coverage %", 1, [](const PredictionScore& s) { return s.coverage; }},
    {"width_pct", "width %", 0, [](const PredictionScore& s) { return s.width; }},
    {"least_group_coverage_pct", "least group %", 1,
     [](const PredictionScore& s) { return s.least_coverage; }},
    {"most_group_coverage_pct", "most group %", 1,
     [](const PredictionScore& s) { return s.most_coverage; }},
}};

struct OomColumn {
  const char* name;
  const char* title;
  int decimals;
  double (*of)(const OomScore&);
};
constexpr std::array<OomColumn, 6> kOoms{{
    {"too_large", "too large", 0,
     [](const OomScore& s) { return static_cast<double>(s.too_large); }},
    {"fitting", "fitting", 0, [](const OomScore& s) { return static_cast<double>(s.fitting); }},
    {"caught_pct", "caught %", 1, [](const OomScore& s) { return s.caught; }},
    {"false_alarms_pct", "false alarms %", 1, [](const OomScore& s) { return s.false_alarms; }},
    {"caught_by_median_pct", "caught, no margin %", 1,
     [](const OomScore& s) { return s.caught_by_median; }},
    {"false_alarms_by_median_pct", "false alarms, no margin %", 1,
     [](const OomScore& s) { return s.false_alarms_by_median; }},
}};

std::string number_text(double value, int decimals) {
  return std::isnan(value) ? "-" : fmt::format("{:.{}f}", value, decimals);
}

std::string held_out_text(const PredictorEvaluation& e) {
  std::string text = e.split == JobSplit::kRandom ? "random jobs"
                     : e.split == JobSplit::kFamilyAndGpu
                         ? "unseen family and gpu"
                         : fmt::format("unseen {}", name_of(e.split));
  if (e.known > 0) text += fmt::format(", {} known", e.known);
  return text;
}

}  // namespace

std::string predictor_evaluation_table(const JobTable& table,
                                       std::span<const PredictorEvaluation> evaluations) {
  using Align = TextTable::Align;
  TextTable scores({Align::kLeft, Align::kLeft, Align::kRight});
  std::vector<std::string> head{"held out", "predictor"};
  for (const ScoreColumn& column : kScores) head.emplace_back(column.title);
  scores.add(std::move(head));
  std::string last;
  for (const PredictorEvaluation& e : evaluations) {
    const std::string held_out = held_out_text(e);
    std::vector<std::string> row{held_out == last ? "" : held_out, e.predictor};
    last = held_out;
    for (const ScoreColumn& column : kScores) {
      row.push_back(number_text(column.of(e.score), column.decimals));
    }
    scores.add(std::move(row));
  }
  std::string text =
      fmt::format("{} of {}: predicted by predictors that were fitted without them [{}]\n\n",
                  name_of(table.target), table.form->name(), unit_of(table.target));
  text += scores.text();
  bool any = false;
  TextTable ooms({Align::kLeft, Align::kLeft, Align::kRight});
  head = {"held out", "predictor", "capacity MiB"};
  for (const OomColumn& column : kOoms) head.emplace_back(column.title);
  ooms.add(std::move(head));
  for (const PredictorEvaluation& e : evaluations) {
    for (const OomScore& oom : e.oom) {
      any = true;
      std::vector<std::string> row{held_out_text(e), e.predictor,
                                   fmt::format("{:.0f}", oom.capacity_mib)};
      for (const OomColumn& column : kOoms) {
        row.push_back(number_text(column.of(oom), column.decimals));
      }
      ooms.add(std::move(row));
    }
  }
  if (any) text += "\nJobs that do not fit into a GPU's memory:\n\n" + ooms.text();
  return text;
}

std::string predictor_evaluation_csv(std::span<const PredictorEvaluation> evaluations) {
  std::string text = "held_out,known,predictor,capacity_mib,figure,value\n";
  for (const PredictorEvaluation& e : evaluations) {
    const std::string start = fmt::format("{},{},{},", name_of(e.split), e.known, e.predictor);
    for (const ScoreColumn& column : kScores) {
      text += start + fmt::format(",{},{}\n", column.name, csv_number(column.of(e.score)));
    }
    for (const OomScore& oom : e.oom) {
      for (const OomColumn& column : kOoms) {
        text += start + fmt::format("{},{},{}\n", csv_number(oom.capacity_mib), column.name,
                                    csv_number(column.of(oom)));
      }
    }
  }
  return text;
}

Json predictor_evaluation_json(const JobTable& table,
                               std::span<const PredictorEvaluation> evaluations) {
  Json list = Json::array();
  for (const PredictorEvaluation& e : evaluations) {
    Json entry{{"held_out", name_of(e.split)}, {"known", e.known}, {"predictor", e.predictor}};
    for (const ScoreColumn& column : kScores) {
      entry[column.name] = json_number(column.of(e.score));
    }
    Json ooms = Json::array();
    for (const OomScore& oom : e.oom) {
      Json one{{"capacity_mib", json_number(oom.capacity_mib)}};
      for (const OomColumn& column : kOoms) one[column.name] = json_number(column.of(oom));
      ooms.push_back(std::move(one));
    }
    if (!ooms.empty()) entry["out_of_memory"] = std::move(ooms);
    list.push_back(std::move(entry));
  }
  return {{"target", name_of(table.target)},
          {"unit", unit_of(table.target)},
          {"table", table.form->name()},
          {"evaluations", std::move(list)}};
}

}  // namespace corun::inline predictors
