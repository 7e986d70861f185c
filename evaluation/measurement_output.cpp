#include "evaluation/measurement_output.hpp"

#include <algorithm>
#include <string_view>

#include <fmt/format.h>

#include "support/json.hpp"
#include "support/text_table.hpp"
#include "traces/csv_reader.hpp"

namespace corun::inline evaluation {

namespace {

std::string percentage_points(double fraction) { return fmt::format("{:.2f}", 100 * fraction); }

const std::string& name_of(const SuggestedMeasurements& s, const ChosenMeasurement& c, bool first) {
  const MeasurementProblem::Pair& pair = s.problem.pairs[c.pair];
  return s.names[first ? pair.a : pair.b];
}

double regret_after(const MeasurementPlan& plan) {
  return plan.chosen.empty() ? plan.regret : plan.chosen.back().regret_after;
}

std::ptrdiff_t measurable(const MeasurementProblem& problem) {
  return std::ranges::count(problem.pairs, true, &MeasurementProblem::Pair::may_be_measured);
}

}  // namespace

std::string suggested_table(const SuggestedMeasurements& s) {
  std::string out =
      fmt::format("{}: {} jobs, {} pairs to measure, {} measured; model {}; seed {}\n", s.source,
                  s.problem.kinds.size(), measurable(s.problem), s.measured, s.model, s.seed);
  out += fmt::format("expected regret: {} % ISD per job now, {} after these {} measurements\n\n",
                     percentage_points(s.plan.regret), percentage_points(regret_after(s.plan)),
                     s.plan.chosen.size());
  TextTable table({TextTable::Align::kRight, TextTable::Align::kLeft, TextTable::Align::kLeft,
                   TextTable::Align::kRight});
  table.add({"rank", "job", "job", "ISD %", "sd", "in best %", "regret %", "after"});
  std::size_t rank = 0;
  for (const ChosenMeasurement& c : s.plan.chosen) {
    table.add({std::to_string(++rank), name_of(s, c, true), name_of(s, c, false),
               fmt::format("{:.1f}", 50 * c.cost), fmt::format("{:.1f}", 50 * c.sd),
               fmt::format("{:.0f}", 100 * c.in_best), percentage_points(c.regret_before),
               percentage_points(c.regret_after)});
  }
  out += table.text();
  out +=
      "\nISD: mean of both jobs, expected; sd: its standard deviation; in best: draws of the costs "
      "whose best pairing has the pair\n"
      "regret: expected ISD of the pairing chosen by what is known, less that of the best, before "
      "and after the measurement\n";
  return out;
}

nlohmann::ordered_json suggested_json(const SuggestedMeasurements& s) {
  Json json{
      {"jobs", s.source},        {"queue", s.problem.kinds.size()},     {"model", s.model},
      {"seed", s.seed},          {"measurable", measurable(s.problem)}, {"measured", s.measured},
      {"regret", s.plan.regret}, {"regret_after", regret_after(s.plan)}};
  json["measurements"] = Json::array();
  for (const ChosenMeasurement& c : s.plan.chosen) {
    json["measurements"].push_back({{"job_a", name_of(s, c, true)},
                                    {"job_b", name_of(s, c, false)},
                                    {"isd", c.cost / 2},
                                    {"sd", c.sd / 2},
                                    {"in_best", c.in_best},
                                    {"regret_before", c.regret_before},
                                    {"regret_after", c.regret_after}});
  }
  return json;
}

std::string suggested_csv(const SuggestedMeasurements& s) {
  std::string out = "rank,job_a,job_b,isd,sd,in_best,regret_before,regret_after\n";
  std::size_t rank = 0;
  for (const ChosenMeasurement& c : s.plan.chosen) {
    out += fmt::format("{},{},{}", ++rank, csv_text(name_of(s, c, true)),
                       csv_text(name_of(s, c, false)));
    for (const double x : {c.cost / 2, c.sd / 2, c.in_best, c.regret_before, c.regret_after}) {
      out += "," + csv_number(x);
    }
    out += "\n";
  }
  return out;
}

}  // namespace corun::inline evaluation
