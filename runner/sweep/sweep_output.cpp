#include "runner/sweep/sweep_output.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <numeric>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "sim/base/nan.hpp"
#include "sim/base/text.hpp"
#include "support/json.hpp"
#include "support/statistics/interval_output.hpp"
#include "support/text_table.hpp"
#include "support/time_unit.hpp"
#include "traces/csv_reader.hpp"

namespace corun::inline runner {

namespace {

using Rows = std::vector<std::vector<std::string>>;

std::string name_of(Metric m) { return std::string(metric_info(m).name); }

/// A number with at least three significant digits; "-" for NaN.
std::string number(double x) {
  if (std::isnan(x)) return "-";
  const double size = std::abs(x);
  std::string text = fmt::format("{:.{}f}", x, size >= 100 ? 0 : size >= 10 || size == 0 ? 1 : 2);
  if (text.find_first_not_of("-0.") == std::string::npos && text.front() == '-') text.erase(0, 1);
  return text;
}

std::string with_interval(const Interval& i, double s) {
  if (std::isnan(i.mean)) return "-";
  return interval_text(i, number(i.mean * s), number(i.lo * s), number(i.hi * s));
}

std::string percent(double share) {
  if (std::isnan(share)) return "-";
  return share > 0 && share < 0.005 ? "<1 %" : fmt::format("{:.0f} %", 100 * share);
}

std::string p_value(double p) {
  if (std::isnan(p)) return "-";
  return p < 0.0001 ? "<0.0001" : fmt::format("{:.4f}", p);
}

/// A table of left-aligned columns, indented by two blanks.
std::string indented(Rows rows) {
  TextTable table({TextTable::Align::kLeft}, "  ");
  for (std::vector<std::string>& row : rows) table.add(std::move(row));
  return table.text();
}

/// The swept keys, all or those that are scenarios or choices, as indices into SweepPlan::keys().
using Keys = std::vector<std::size_t>;

Keys all_keys(const SweepPlan& plan) {
  Keys keys(plan.keys().size());
  std::iota(keys.begin(), keys.end(), std::size_t{0});
  return keys;
}

Keys keys_of(const SweepPlan& plan, bool scenarios) {
  Keys keys = all_keys(plan);
  std::erase_if(keys, [&](std::size_t k) { return plan.is_scenario(k) != scenarios; });
  return keys;
}

/// The keys of a ranking over all scenarios: the choices; without scenarios all.
Keys ranked_keys(const SweepResults& results, const SweepAnswers& answers) {
  return answers.scenarios.empty() ? all_keys(results.plan) : keys_of(results.plan, false);
}

void add_names(std::vector<std::string>& row, const SweepPlan& plan, const Keys& keys) {
  for (const std::size_t k : keys) row.push_back(plan.keys()[k]);
}

void add_values(std::vector<std::string>& row, const SweepPlan& plan, const Keys& keys,
                std::size_t point) {
  for (const std::size_t k : keys) row.push_back(plan.text(point, k));
}

/// "cluster.nodes=4, belief.known=0.5"
std::string point_text(const SweepPlan& plan, const Keys& keys, std::size_t point) {
  std::string out;
  for (const std::size_t k : keys) {
    const std::string& text = plan.text(point, k);
    if (text.empty()) continue;
    out += (out.empty() ? "" : ", ") + plan.keys()[k] + "=" + text;
  }
  return out;
}

std::string point_text(const SweepResults& results, std::size_t point) {
  return point_text(results.plan, all_keys(results.plan), point);
}

Json json_values(const SweepPlan& plan, const Keys& keys, std::size_t point) {
  Json values = Json::object();
  for (const std::size_t k : keys) {
    if (!plan.text(point, k).empty()) values[plan.keys()[k]] = plan.text(point, k);
  }
  return values;
}

Json json_point(const SweepResults& results, const Keys& keys, std::size_t point) {
  if (point == kNoPoint) return nullptr;
  return {{"point", point}, {"values", json_values(results.plan, keys, point)}};
}

Json json_point(const SweepResults& results, std::size_t point) {
  return json_point(results, all_keys(results.plan), point);
}

/// policy - best, from a difference with either sign.
Interval minus_best(const DifferenceAnswer& d, std::size_t best) {
  if (d.worse == best) return d.difference;
  return d.difference.negated();
}

/// The configurations that differ in value from the better ones of their policy: a key that does not
/// affect a policy gives equal ones. `rank` counts from 0.
struct ShownConfiguration {
  std::size_t rank;
  std::size_t alike = 1;  ///< configurations with these values
};

std::vector<ShownConfiguration> without_equals(const std::vector<ConfigurationAnswer>& ranked) {
  const auto same = [](double x, double y) { return x == y || (std::isnan(x) && std::isnan(y)); };
  const auto is_alike = [&](const ConfigurationAnswer& a, const ConfigurationAnswer& b) {
    // The best has no difference from itself.
    const bool of_best =
        std::isnan(a.minus_best.mean) && b.minus_best.mean == 0 && (b.p == 1 || std::isnan(b.p));
    return a.policy == b.policy && a.mean.mean == b.mean.mean && same(a.mean.lo, b.mean.lo) &&
           (of_best || (same(a.minus_best.mean, b.minus_best.mean) && same(a.p, b.p)));
  };
  std::vector<ShownConfiguration> shown;
  for (std::size_t i = 0; i < ranked.size(); ++i) {
    if (!shown.empty() && is_alike(ranked[shown.back().rank], ranked[i])) {
      ++shown.back().alike;
    } else {
      shown.push_back({i});
    }
  }
  return shown;
}

/// The best configuration, the next three, and the best of each other policy.
std::string ranking_table(const SweepResults& results, const SweepAnswers& answers,
                          const RankingAnswer& ranking) {
  constexpr std::size_t kNext = 3;
  const double scale = shown_as(ranking.metric, answers).scale;
  const Keys keys = ranked_keys(results, answers);
  Rows rows{{"rank", "policy", "point"}};
  add_names(rows.front(), results.plan, keys);
  rows.front().insert(rows.front().end(), {"mean [95 %]", "minus the best [95 %]", "p (Holm)"});
  std::vector<bool> listed(answers.policies.size(), false);
  std::size_t before = 0;
  for (const ShownConfiguration& shown : without_equals(ranking.ranked)) {
    const ConfigurationAnswer& one = ranking.ranked[shown.rank];
    if (before++ > kNext && listed[one.policy]) continue;
    listed[one.policy] = true;
    std::vector<std::string>& row = rows.emplace_back();
    row = {std::to_string(shown.rank + 1), answers.policies[one.policy],
           shown.alike > 1 ? fmt::format("{} (+{} equal)", one.point, shown.alike - 1)
                           : std::to_string(one.point)};
    add_values(row, results.plan, keys, one.point);
    row.push_back(with_interval(one.mean, scale));
    if (shown.rank == 0) continue;
    row.insert(row.end(), {with_interval(one.minus_best, scale),
                           p_value(one.p_holm) + (one.significant() ? " *" : "")});
  }
  return indented(std::move(rows));
}

std::size_t not_significant(const RankingAnswer& ranking) {
  return static_cast<std::size_t>(std::ranges::count_if(
             ranking.ranked, [](const auto& one) { return !one.significant(); })) -
         (ranking.ranked.empty() ? 0 : 1);
}

/// The best configuration of each scenario by a metric, with the best of the other policies.
std::string scenarios_table(const SweepResults& results, const SweepAnswers& answers,
                            std::size_t metric) {
  constexpr std::size_t kScenariosMax = 24;
  const SweepPlan& plan = results.plan;
  const Keys scenario = keys_of(plan, true);
  const Keys choice = keys_of(plan, false);
  const double scale = shown_as(answers.metrics[metric], answers).scale;
  Rows rows{{}};
  add_names(rows.front(), plan, scenario);
  rows.front().push_back("best policy");
  add_names(rows.front(), plan, choice);
  rows.front().insert(rows.front().end(),
                      {"mean [95 %]", "next policy", "minus the best [95 %]", "p (Holm)"});
  for (const ScenarioAnswer& one : answers.scenarios) {
    if (rows.size() > kScenariosMax) break;
    const std::vector<ConfigurationAnswer>& ranked = one.rankings[metric].ranked;
    std::vector<std::string>& row = rows.emplace_back();
    add_values(row, plan, scenario, one.point);
    if (ranked.empty()) continue;
    const ConfigurationAnswer& best = ranked.front();
    row.push_back(answers.policies[best.policy]);
    add_values(row, plan, choice, best.point);
    row.push_back(with_interval(best.mean, scale));
    const auto next = std::ranges::find_if(
        ranked, [&](const ConfigurationAnswer& other) { return other.policy != best.policy; });
    if (next == ranked.end()) continue;
    row.insert(row.end(), {answers.policies[next->policy], with_interval(next->minus_best, scale),
                           p_value(next->p_holm) + (next->significant() ? " *" : "")});
  }
  std::string out = indented(std::move(rows));
  if (answers.scenarios.size() > kScenariosMax) {
    out += fmt::format("  and {} more: --format csv\n", answers.scenarios.size() - kScenariosMax);
  }
  return out;
}

std::string rankings_text(const SweepResults& results, const SweepAnswers& answers) {
  std::string out;
  const std::string over = answers.scenarios.empty() ? ""
                                                     : fmt::format(", means over all {} scenarios",
                                                                   answers.scenarios.size());
  for (std::size_t m = 0; m < answers.rankings.size(); ++m) {
    const RankingAnswer& ranking = answers.rankings[m];
    const std::string title = fmt::format("in {}, {}", shown_as(ranking.metric, answers).title,
                                          better_side(ranking.metric));
    if (!answers.scenarios.empty()) {
      out += "\nbest configuration of each scenario " + title + "\n" +
             scenarios_table(results, answers, m);
    }
    if (ranking.ranked.empty()) {
      if (!answers.scenarios.empty()) out += "  no configuration was run in all scenarios\n";
      continue;
    }
    out += fmt::format("\nbest configuration {}{}\n", title, over) +
           ranking_table(results, answers, ranking);
    const std::size_t others = ranking.ranked.size() - 1;
    if (answers.replications < kFewestReplications) {
      out += fmt::format("  fewer than {} replications: no interval, no significance\n",
                         kFewestReplications);
    } else if (others > 0) {
      out += fmt::format("  not significantly different from the best: {} of {} others\n",
                         not_significant(ranking), others);
    }
  }
  const auto first = std::ranges::find_if(
      answers.rankings, [](const RankingAnswer& ranking) { return !ranking.ranked.empty(); });
  if (first != answers.rankings.end()) {
    const std::size_t point = first->ranked.front().point;
    const std::uint64_t seed =
        results.plan.config_of(point).seed + results.plan.replications(point);
    out += fmt::format(
        "\nthese replications chose the best, so its mean is optimistic; to confirm it with other "
        "seeds:\n"
        "  corun sweep CONFIG --dump-config --point {} > best.yaml && corun replay best.yaml --set "
        "seed={}\n",
        point, seed);
  }
  return out;
}

/// Table of the policies by one metric, each compared with the best.
std::string policies_table(const SweepAnswers& answers, const BestAnswer& best) {
  const Metric m = best.metric;
  const double scale = shown_as(m, answers).scale;
  std::vector<std::size_t> order(answers.policies.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  const auto is_candidate = [&](std::size_t q) {
    return std::ranges::find(best.candidates, q) != best.candidates.end();
  };
  std::ranges::stable_sort(order, [&](std::size_t a, std::size_t b) {
    if (is_candidate(a) != is_candidate(b)) return is_candidate(a);
    const double x = best.means[a].mean;
    const double y = best.means[b].mean;
    if (std::isnan(x) || std::isnan(y)) return !std::isnan(x);
    return judged(m).smaller_is_better ? x < y : x > y;
  });
  Rows rows{{"policy", "mean [95 %]", "best at", "minus the best [95 %]", "p", "p (Holm)",
             "worse at", "better at"}};
  for (const std::size_t q : order) {
    std::vector<std::string> row{answers.policies[q], with_interval(best.means[q], scale),
                                 std::to_string(best.best_at[q])};
    if (!is_candidate(q)) {
      row = {answers.policies[q], with_interval(best.means[q], scale), "-", "never shares a GPU"};
    }
    for (const DifferenceAnswer& d : answers.differences) {
      const bool pair =
          (d.better == q && d.worse == best.best) || (d.worse == q && d.better == best.best);
      if (d.metric != m || !pair || row.back() == "never shares a GPU") continue;
      const bool ahead = d.better == q;
      row.insert(row.end(), {with_interval(minus_best(d, best.best), scale), p_value(d.p),
                             p_value(d.p_holm) + (d.p_holm < kSignificant ? " *" : ""),
                             std::to_string(ahead ? d.losses : d.wins),
                             std::to_string(ahead ? d.wins : d.losses)});
    }
    rows.push_back(std::move(row));
  }
  return indented(std::move(rows));
}

std::string effects_table(const SweepAnswers& answers, Metric metric) {
  Rows rows{
      {"effect of each setting", "share", "least at", "", "most at", "", "difference [95 %]"}};
  const double s = shown_as(metric, answers).scale;
  for (const EffectAnswer& effect : answers.effects) {
    if (!effect.policy.empty() || effect.metric != metric) continue;
    const auto& least = effect.levels[effect.least];
    const auto& most = effect.levels[effect.most];
    rows.push_back({effect.factor, percent(effect.share), least.text, number(least.mean * s),
                    most.text, number(most.mean * s), with_interval(effect.difference, s)});
  }
  return indented(std::move(rows));
}

std::string front_table(const SweepResults& results, const SweepAnswers& answers) {
  constexpr std::size_t kRowsMax = 12;
  Rows rows{{"policy", "isd %", "ps %", "stays", "point"}};
  const std::vector<std::string>& keys = results.plan.keys();
  rows.front().insert(rows.front().end(), keys.begin(), keys.end());
  const auto add = [&](const FrontAnswer& f, const std::string& where) {
    rows.push_back({answers.policies[f.policy], number(100 * f.isd), number(100 * f.ps),
                    percent(f.stays), where});
  };
  for (const FrontAnswer& f : answers.policy_front) add(f, "all");
  std::size_t left_out = 0;
  for (std::size_t i = 0; i < answers.front.size(); ++i) {
    const FrontAnswer& f = answers.front[i];
    // Points with equal results, because a key does not affect a policy, share one line.
    std::size_t alike = 1;
    const auto is_alike = [&](const FrontAnswer& g) {
      return g.policy == f.policy && g.isd == f.isd && g.ps == f.ps;
    };
    while (i + 1 < answers.front.size() && is_alike(answers.front[i + 1])) {
      ++i;
      ++alike;
    }
    if (rows.size() > kRowsMax + answers.policy_front.size()) {
      ++left_out;
      continue;
    }
    add(f, alike > 1 ? fmt::format("{} (+{} equal)", f.point, alike - 1) : std::to_string(f.point));
    for (std::size_t k = 0; k < keys.size(); ++k) {
      rows.back().push_back(results.plan.text(f.point, k));
    }
  }
  std::string out =
      "Pareto front: no other has both less ISD and more PS; over all points, then "
      "point by point\n" +
      indented(std::move(rows));
  if (left_out > 0) out += fmt::format("  and {} more: --format csv\n", left_out);
  return out;
}

/// The policies that broke a rule, each with its number of runs and the first reason.
std::string failures_text(const SweepResults& results) {
  std::map<std::string, std::vector<const SweepResults::FailedRun*>> by_policy;
  for (const SweepResults::FailedRun& run : results.failures) by_policy[run.label].push_back(&run);
  std::string out;
  for (const auto& [label, runs] : by_policy) {
    out +=
        fmt::format("failed: {} in {} run{}, which its means lack; point {}, replication {}: {}\n",
                    label, runs.size(), runs.size() == 1 ? "" : "s", runs.front()->point,
                    runs.front()->replication, runs.front()->reason);
  }
  return out;
}

}  // namespace

std::string better_side(Metric m) {
  return judged(m).smaller_is_better ? "less is better" : "more is better";
}

ShownMetric shown_as(Metric m, const SweepAnswers& answers) {
  if (judged(m).percent) return {name_of(m) + " %", 100};
  double largest = kNaN;
  for (const BestAnswer& best : answers.best) {
    if (best.metric != m) continue;
    for (const Interval& mean : best.means) largest = std::fmax(largest, mean.mean);
  }
  const TimeUnit unit = time_unit(largest);
  std::string name = name_of(m);
  if (metric_info(m).unit != "s" || unit.seconds == 1) return {name};
  if (name.ends_with("_s")) name.resize(name.size() - 2);
  return {name + " " + unit.name, 1 / unit.seconds};
}

std::string points_of_note(const SweepResults& results, const SweepResults::Note& note) {
  constexpr std::size_t kMost = 4;
  const std::vector<std::size_t> all = results.points();
  if (note.points.size() >= all.size()) return "all points";
  for (std::size_t k = 0; k < results.plan.keys().size(); ++k) {
    std::vector<std::string> levels;  // of this key at the points of the note
    for (const std::size_t p : note.points) {
      const std::string& text = results.plan.text(p, k);
      if (std::ranges::find(levels, text) == levels.end()) levels.push_back(text);
      if (levels.size() > kMost) break;
    }
    const auto with_levels = std::ranges::count_if(all, [&](std::size_t p) {
      return std::ranges::find(levels, results.plan.text(p, k)) != levels.end();
    });
    if (levels.size() > kMost || static_cast<std::size_t>(with_levels) != note.points.size() ||
        std::ranges::find(levels, "") != levels.end()) {
      continue;
    }
    return fmt::format("{}={}", results.plan.keys()[k], fmt::join(levels, " or "));
  }
  const std::size_t named = std::min(note.points.size(), kMost);
  return fmt::format(
      "point{} {}{}", note.points.size() == 1 ? "" : "s",
      fmt::join(note.points.begin(), note.points.begin() + static_cast<std::ptrdiff_t>(named),
                ", "),
      note.points.size() > named ? fmt::format(" and {} more", note.points.size() - named) : "");
}

std::string answers_table(const SweepResults& results, const SweepAnswers& answers) {
  std::string keys;
  for (const std::string& key : results.plan.keys()) keys += (keys.empty() ? "" : ", ") + key;
  std::string out = fmt::format("{} points of {}; {} policies, {} replications{}\n", answers.points,
                                keys, answers.policies.size(), answers.replications,
                                results.complete ? "" : "; not all points are there");
  if (!answers.scenarios.empty()) {
    const auto names = [&](bool scenarios) {
      std::vector<std::string> list;
      add_names(list, results.plan, keys_of(results.plan, scenarios));
      if (!scenarios) list.insert(list.begin(), "policy");
      return fmt::format("{}", fmt::join(list, ", "));
    };
    out += fmt::format("scenarios: {}; choices: {} (sweep.scenario says otherwise)\n", names(true),
                       names(false));
  }
  for (const std::string& left : answers.left_out) out += "left out: " + left + "\n";
  out += failures_text(results);
  out += rankings_text(results, answers);
  out +=
      "\nbest at: points with the best mean; worse, better at: points where it differs "
      "significantly from the best\n";
  for (const BestAnswer& best : answers.best) {
    out +=
        fmt::format("\n{}, {}\n", shown_as(best.metric, answers).title, better_side(best.metric)) +
        policies_table(answers, best) + "\n" + effects_table(answers, best.metric);
  }
  out += "\n" + front_table(results, answers);
  const auto significant = std::ranges::count_if(
      answers.differences, [](const auto& d) { return d.p_holm < kSignificant; });
  if (!answers.differences.empty()) {
    out += fmt::format(
        "\n{} of {} differences between two policies are significant (*) at 5 % after Holm's "
        "correction; all: --format csv\n",
        significant, answers.differences.size());
  }
  for (const SweepResults::Note& note : results.notes) {
    out += fmt::format("{}note, {}: {}\n", &note == results.notes.data() ? "\n" : "",
                       points_of_note(results, note), printable(note.text, 600));
  }
  return out;
}

Json answers_json(const SweepResults& results, const SweepAnswers& answers) {
  Json out;
  out["points"] = answers.points;
  out["replications"] = answers.replications;
  out["complete"] = results.complete;
  out["keys"] = results.plan.keys();
  out["policies"] = answers.policies;
  out["left_out"] = answers.left_out;
  for (const SweepResults::FailedRun& run : results.failures) {
    out["failures"].push_back({{"point", run.point},
                               {"policy", run.label},
                               {"replication", run.replication},
                               {"reason", run.reason}});
  }
  out["notes"] = Json::array();
  for (const SweepResults::Note& note : results.notes) {
    out["notes"].push_back(
        {{"text", note.text}, {"where", points_of_note(results, note)}, {"points", note.points}});
  }
  out["configurations"] = Json::array();
  for (const RankingAnswer& ranking : answers.rankings) {
    Json item{{"metric", name_of(ranking.metric)},
              {"smaller_is_better", judged(ranking.metric).smaller_is_better}};
    item["not_significantly_different"] = not_significant(ranking);
    item["ranked"] = Json::array();
    for (const ConfigurationAnswer& one : ranking.ranked) {
      Json row = json_point(results, ranked_keys(results, answers), one.point);
      row["policy"] = answers.policies[one.policy];
      row["mean"] = interval_json(one.mean);
      const bool best = item["ranked"].empty();
      row["minus_best"] = best ? Json(nullptr) : interval_json(one.minus_best);
      row["p"] = json_number(one.p);
      row["p_holm"] = json_number(one.p_holm);
      row["significant"] = one.significant();
      item["ranked"].push_back(std::move(row));
    }
    out["configurations"].push_back(std::move(item));
  }
  out["scenarios"] = Json::array();
  for (const ScenarioAnswer& scenario : answers.scenarios) {
    Json item{{"values", json_values(results.plan, keys_of(results.plan, true), scenario.point)}};
    item["best"] = Json::array();
    for (const RankingAnswer& ranking : scenario.rankings) {
      if (ranking.ranked.empty()) continue;
      const ConfigurationAnswer& one = ranking.ranked.front();
      Json row{{"metric", name_of(ranking.metric)}};
      row.update(json_point(results, keys_of(results.plan, false), one.point));
      row["policy"] = answers.policies[one.policy];
      row["mean"] = interval_json(one.mean);
      row["not_significantly_different"] = not_significant(ranking);
      item["best"].push_back(std::move(row));
    }
    out["scenarios"].push_back(std::move(item));
  }
  out["best"] = Json::array();
  for (const BestAnswer& best : answers.best) {
    Json item{{"metric", name_of(best.metric)},
              {"smaller_is_better", judged(best.metric).smaller_is_better},
              {"policy", answers.policies[best.best]}};
    item["not_told_apart"] = Json::array();
    for (const std::size_t q : best.undecided) {
      item["not_told_apart"].push_back(answers.policies[q]);
    }
    item["means"] = Json::object();
    item["best_at"] = Json::object();
    for (std::size_t q = 0; q < answers.policies.size(); ++q) {
      item["means"][answers.policies[q]] = interval_json(best.means[q]);
      item["best_at"][answers.policies[q]] = best.best_at[q];
    }
    out["best"].push_back(std::move(item));
  }
  out["effects"] = Json::array();
  for (const EffectAnswer& effect : answers.effects) {
    Json item{{"metric", name_of(effect.metric)},
              {"factor", effect.factor},
              {"policy", effect.policy.empty() ? Json(nullptr) : Json(effect.policy)},
              {"share", json_number(effect.share)},
              {"least", effect.levels[effect.least].text},
              {"most", effect.levels[effect.most].text},
              {"difference", interval_json(effect.difference)}};
    item["levels"] = Json::array();
    for (const auto& level : effect.levels) {
      item["levels"].push_back(
          {{"level", level.text}, {"mean", json_number(level.mean)}, {"cells", level.cells}});
    }
    out["effects"].push_back(std::move(item));
  }
  const auto front = [&](const std::vector<FrontAnswer>& of) {
    Json list = Json::array();
    for (const FrontAnswer& f : of) {
      Json item = f.point == kNoPoint ? Json::object() : json_point(results, f.point);
      item["policy"] = answers.policies[f.policy];
      item["isd"] = json_number(f.isd);
      item["ps"] = json_number(f.ps);
      item["stays"] = f.stays;
      list.push_back(std::move(item));
    }
    return list;
  };
  out["pareto"] = {{"policies", front(answers.policy_front)}, {"points", front(answers.front)}};
  out["differences"] = Json::array();
  for (const DifferenceAnswer& d : answers.differences) {
    out["differences"].push_back({{"metric", name_of(d.metric)},
                                  {"better", answers.policies[d.better]},
                                  {"worse", answers.policies[d.worse]},
                                  {"difference", interval_json(d.difference)},
                                  {"p", json_number(d.p)},
                                  {"p_holm", json_number(d.p_holm)},
                                  {"significant", d.p_holm < kSignificant},
                                  {"better_at", d.wins},
                                  {"worse_at", d.losses}});
  }
  return out;
}

std::string answers_csv(const SweepResults& results, const SweepAnswers& answers) {
  const auto cell = [](double x) { return std::isnan(x) ? std::string() : csv_number(x); };
  std::string out = "question,metric,a,b,value,lo,hi,share,points\n";
  const auto row = [&](const char* question, const std::string& metric, const std::string& a,
                       const std::string& b, const Interval& value, double share,
                       const std::string& points) {
    out += fmt::format("{},{},{},{},{},{},{},{},{}\n", question, metric, csv_text(a), csv_text(b),
                       cell(value.mean), cell(value.lo), cell(value.hi), cell(share), points);
  };
  const double none = kNaN;
  for (const SweepResults::FailedRun& run : results.failures) {
    row("failure", "", run.label, run.reason, {static_cast<double>(run.replication), none, none},
        none, std::to_string(run.point));
  }
  for (const SweepResults::Note& note : results.notes) {
    row("note", "", note.text, points_of_note(results, note), {none, none, none}, none,
        std::to_string(note.points.size()));
  }
  for (const RankingAnswer& ranking : answers.rankings) {
    for (const ConfigurationAnswer& one : ranking.ranked) {
      const std::string& policy = answers.policies[one.policy];
      const std::string at = point_text(results.plan, ranked_keys(results, answers), one.point);
      const std::string point = std::to_string(one.point);
      row("configuration", name_of(ranking.metric), policy, at, one.mean, none, point);
      if (&one == &ranking.ranked.front()) continue;
      row("minus-best", name_of(ranking.metric), policy, at, one.minus_best, one.p_holm, point);
    }
  }
  for (const ScenarioAnswer& scenario : answers.scenarios) {
    for (const RankingAnswer& ranking : scenario.rankings) {
      for (const ConfigurationAnswer& one : ranking.ranked) {
        row(&one == &ranking.ranked.front() ? "scenario-best" : "scenario", name_of(ranking.metric),
            answers.policies[one.policy], point_text(results, one.point), one.mean, one.p_holm,
            std::to_string(one.point));
      }
    }
  }
  for (const BestAnswer& best : answers.best) {
    for (const std::size_t q : best.candidates) {
      row(q == best.best ? "best" : "policy", name_of(best.metric), answers.policies[q], "",
          best.means[q], none, std::to_string(best.best_at[q]));
    }
  }
  for (const EffectAnswer& effect : answers.effects) {
    row("effect", name_of(effect.metric), effect.factor, effect.policy, effect.difference,
        effect.share, "");
    for (const auto& level : effect.levels) {
      row("level", name_of(effect.metric), effect.factor + "=" + level.text, effect.policy,
          {level.mean, none, none}, none, std::to_string(level.cells));
    }
  }
  const auto front = [&](const std::vector<FrontAnswer>& of) {
    for (const FrontAnswer& f : of) {
      const std::string at = f.point == kNoPoint ? "" : point_text(results, f.point);
      const std::string point = f.point == kNoPoint ? "" : std::to_string(f.point);
      row("front", "isd", answers.policies[f.policy], at, {f.isd, none, none}, f.stays, point);
      row("front", "ps", answers.policies[f.policy], at, {f.ps, none, none}, f.stays, point);
    }
  };
  front(answers.policy_front);
  front(answers.front);
  for (const DifferenceAnswer& d : answers.differences) {
    row("difference", name_of(d.metric), answers.policies[d.better], answers.policies[d.worse],
        d.difference, d.p_holm, fmt::format("{}-{}", d.wins, d.losses));
  }
  return out;
}

}  // namespace corun::inline runner
