#include "evaluation/model_evaluation_output.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "sim/base/nan.hpp"
#include "support/build_info.hpp"
#include "support/json.hpp"
#include "traces/csv_reader.hpp"

namespace corun::inline evaluation {

namespace {

/// A number with `digits` decimals; "-" for NaN.
std::string shown(double value, int digits) {
  return std::isnan(value) ? "-" : fmt::format("{:.{}f}", value, digits);
}

std::string shown(const Estimate& estimate, double unit, int digits) {
  if (std::isnan(estimate.value)) return "-";
  const std::string value = shown(estimate.value * unit, digits);
  return std::isnan(estimate.error) ? value : value + " +- " + shown(estimate.error * unit, digits);
}

/// Held-out errors of ISD, one line per predictor that predicts ISD.
std::string errors_table(const ModelEvaluation& evaluation) {
  std::string out = fmt::format("{:<16}{:>15}{:>20}{:>8}{:>8}{:>10}\n", "predictor", "MAE",
                                "above contention", "RMSE", "bias", "Spearman");
  for (const PredictorScore& p : evaluation.predictors) {
    if (std::isnan(p.mae.value)) continue;
    out += fmt::format("{:<16}{:>15}{:>20}{:>8}{:>8}{:>10}\n", p.name, shown(p.mae, 100, 2),
                       p.name == "contention" ? "-" : shown(p.mae_above_contention, 100, 2),
                       shown(100 * p.rmse, 2), shown(100 * p.bias, 2), shown(p.spearman, 2));
  }
  for (const auto& [name, why] : evaluation.left_out) {
    out += fmt::format("{:<16}  - ({})\n", name, why);
  }
  return out;
}

/// A column of the table of regrets: what it is over, two figures of the queues, then the regrets.
struct RegretColumn {
  std::string head, jobs;
  double best = kNaN, random = kNaN;
  std::function<std::string(const PredictorScore&)> regret;
};

std::vector<RegretColumn> regret_columns(const ModelEvaluation& evaluation) {
  std::vector<RegretColumn> columns;
  for (std::size_t s = 0; s < evaluation.sessions.size(); ++s) {
    const SessionSummary& session = evaluation.sessions[s];
    if (session.matchings == 0) continue;
    columns.push_back({session.name, std::to_string(session.jobs), session.whole_best,
                       session.whole_random,
                       [s](const PredictorScore& p) { return shown(p.whole[s], 2); }});
  }
  for (std::size_t s = 0; s < evaluation.sessions.size(); ++s) {
    const SessionSummary& session = evaluation.sessions[s];
    if (session.queues == 0) continue;
    columns.push_back({fmt::format("{} x {}", session.queues, session.name), "",
                       session.queues_best, session.queues_random,
                       [s](const PredictorScore& p) { return shown(p.queues[s], 1, 2); }});
  }
  if (evaluation.sessions.size() > 1) {
    columns.push_back({"mean, whole", "", kNaN, kNaN,
                       [](const PredictorScore& p) { return shown(p.mean_whole, 2); }});
    columns.push_back({"mean, random", "", kNaN, kNaN,
                       [](const PredictorScore& p) { return shown(p.mean_queues, 1, 2); }});
  }
  return columns;
}

/// A column for each session, whole and with random queues; a line for each predictor that ranks
/// pairs.
std::string regret_table(const ModelEvaluation& evaluation) {
  const std::vector<RegretColumn> columns = regret_columns(evaluation);
  std::string out;
  const auto line = [&](std::string_view head, const auto& cell) {
    std::string text = fmt::format("{:<16}", head);
    for (const RegretColumn& c : columns) {
      text += fmt::format("{:>{}}", cell(c), std::max<std::size_t>(14, c.head.size() + 2));
    }
    text.resize(text.find_last_not_of(' ') + 1);
    out += text + "\n";
  };
  const auto percent = [](double isd) {
    return std::isnan(isd) ? std::string() : shown(100 * isd, 1) + " %";
  };
  line("queue", [](const RegretColumn& c) { return c.head; });
  line("jobs", [](const RegretColumn& c) { return c.jobs; });
  line("best", [&](const RegretColumn& c) { return percent(c.best); });
  line("random", [&](const RegretColumn& c) { return percent(c.random); });
  for (const PredictorScore& p : evaluation.predictors) {
    if (!p.queues.empty()) line(p.name, [&](const RegretColumn& c) { return c.regret(p); });
  }
  return out;
}

/// Groups of more than two jobs, one line per model.
std::string groups_table(const std::vector<GroupScore>& groups) {
  if (groups.empty()) return "";
  std::string out = fmt::format(
      "Groups of three and more, from the pairs alone: mean ISD [%]\n\n{:<22}{:>6}{:>10}  "
      "{:<14}{:>8}",
      "group", "jobs", "measured", "model", "its own");
  for (const GroupRule& rule : group_rules()) out += fmt::format("{:>11}", rule.name);
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

std::string claims_list(const ModelEvaluation& evaluation) {
  std::string out;
  for (const Claim& c : evaluation.claims) {
    const double unit = c.text.starts_with("MAE") ? 100 : 1;
    const bool is_judged = !std::isnan(c.ours) && !std::isnan(c.theirs);
    out += fmt::format("{}  {}: {} against {}\n",
                       !is_judged  ? "not judged"
                       : c.holds() ? "holds"
                                   : "FAILS",
                       c.text, shown(unit * c.ours, 2), shown(unit * c.theirs, 2));
  }
  return out;
}

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
        rules[std::string(group_rules()[r].name)] = m.rules[r];
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

}  // namespace

std::string model_evaluation_table(const ModelEvaluation& evaluation,
                                   const std::vector<GroupScore>& groups, std::uint64_t seed) {
  return fmt::format(
             "{}: {} measured pairs of {} jobs, mean ISD {:.1f} %\n\n"
             "Predicting ISD of jobs left out of the fit [percentage points]\n\n",
             evaluation.data, evaluation.pairs, evaluation.jobs, 100 * evaluation.mean_isd) +
         errors_table(evaluation) +
         "\nPairing queues by those predictions: regret (0 the optimum, 1 random)\n\n" +
         regret_table(evaluation) + "\n" + groups_table(groups) +
         fmt::format("+- is one standard error; seed {}. Best and random are mean ISDs.\n\n",
                     seed) +
         claims_list(evaluation);
}

nlohmann::ordered_json model_evaluation_json(const ModelEvaluation& evaluation,
                                             const std::vector<GroupScore>& groups,
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
  Json left_out = Json::object();
  for (const auto& [name, why] : evaluation.left_out) left_out[name] = why;
  return {{"corun", version()},
          {"pairs", evaluation.data},
          {"seed", seed},
          {"measured_pairs", evaluation.pairs},
          {"jobs", evaluation.jobs},
          {"mean_isd", evaluation.mean_isd},
          {"sessions", std::move(sessions)},
          {"predictors", std::move(predictors)},
          {"left_out", std::move(left_out)},
          {"groups", json_of(groups)},
          {"claims", std::move(claims)}};
}

std::string model_evaluation_csv(const ModelEvaluation& evaluation,
                                 const std::vector<GroupScore>& groups) {
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

}  // namespace corun::inline evaluation
