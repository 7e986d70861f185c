#include "experiments/evaluation/model_evaluation_output.hpp"

#include <cmath>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "experiments/base/build_info.hpp"
#include "experiments/base/json.hpp"
#include "traces/csv_reader.hpp"

namespace corun {

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

/// Predictors that rank pairs, in the order of the columns.
std::vector<const PredictorScore*> with_regret(const ModelEvaluation& evaluation) {
  std::vector<const PredictorScore*> all;
  for (const PredictorScore& p : evaluation.predictors) {
    if (!p.queues.empty()) all.push_back(&p);
  }
  return all;
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
  return out;
}

/// A line of regrets: `head`, then a column per predictor that ranks pairs.
template <typename Regret>
std::string regret_line(const std::string& head, const std::vector<const PredictorScore*>& columns,
                        const Regret& regret) {
  std::string line = head;
  for (const PredictorScore* p : columns) line += fmt::format("{:>16}", regret(*p));
  return line + "\n";
}

std::string regret_table(const ModelEvaluation& evaluation) {
  const auto columns = with_regret(evaluation);
  const auto head = [](const std::string& name, const std::string& jobs, double best,
                       double random) {
    return fmt::format("{:<22}{:>6}{:>9}{:>9}", name, jobs, shown(100 * best, 1) + " %",
                       shown(100 * random, 1) + " %");
  };
  std::string out =
      regret_line(fmt::format("{:<22}{:>6}{:>9}{:>9}", "queue", "jobs", "best", "random"), columns,
                  [](const PredictorScore& p) { return p.name; });
  for (std::size_t s = 0; s < evaluation.sessions.size(); ++s) {
    const SessionSummary& session = evaluation.sessions[s];
    if (session.matchings == 0) continue;
    out += regret_line(
        head(session.name, std::to_string(session.jobs), session.whole_best, session.whole_random),
        columns, [&](const PredictorScore& p) { return shown(p.whole[s], 2); });
  }
  for (std::size_t s = 0; s < evaluation.sessions.size(); ++s) {
    const SessionSummary& session = evaluation.sessions[s];
    out += regret_line(head(fmt::format("{} x {}", session.queues, session.name), "",
                            session.queues_best, session.queues_random),
                       columns, [&](const PredictorScore& p) { return shown(p.queues[s], 1, 2); });
  }
  if (evaluation.sessions.size() > 1) {
    out += regret_line(fmt::format("{:<46}", "mean of the whole sessions"), columns,
                       [](const PredictorScore& p) { return shown(p.mean_whole, 2); });
    out += regret_line(fmt::format("{:<46}", "mean of the random queues"), columns,
                       [](const PredictorScore& p) { return shown(p.mean_queues, 1, 2); });
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
  for (const CoRunnerRule& rule : co_runner_rules()) out += fmt::format("{:>11}", rule.name);
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
    out += fmt::format("{}  {}: {} against {}\n", c.holds() ? "holds" : "FAILS", c.text,
                       shown(unit * c.ours, 2), shown(unit * c.theirs, 2));
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
        rules[std::string(co_runner_rules()[r].name)] = m.rules[r];
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

}  // namespace corun
