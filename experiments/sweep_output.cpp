#include "experiments/sweep_output.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "experiments/svg_chart.hpp"
#include "traces/csv_reader.hpp"

namespace corun {

namespace {

using Json = nlohmann::ordered_json;
using Rows = std::vector<std::vector<std::string>>;

constexpr double kLevel = 0.05;

double scale_of(Metric m) { return judged(m).percent ? 100 : 1; }

std::string name_of(Metric m) { return std::string(metric_info(m).name); }

std::string title_of(Metric m) { return name_of(m) + (judged(m).percent ? " %" : ""); }

/// Three or more significant digits, and none of noise.
std::string number(double x) {
  if (std::isnan(x)) return "-";
  const double size = std::abs(x);
  std::string text = fmt::format("{:.{}f}", x, size >= 100 ? 0 : size >= 10 || size == 0 ? 1 : 2);
  if (text.find_first_not_of("-0.") == std::string::npos && text.front() == '-') text.erase(0, 1);
  return text;
}

std::string with_interval(const Interval& i, Metric m) {
  if (std::isnan(i.mean)) return "-";
  const double s = scale_of(m);
  return fmt::format("{} [{}, {}]", number(i.mean * s), number(i.lo * s), number(i.hi * s));
}

std::string percent(double share) {
  return std::isnan(share) ? "-" : fmt::format("{:.0f} %", 100 * share);
}

std::string p_value(double p) {
  if (std::isnan(p)) return "-";
  return p < 0.0001 ? "<0.0001" : fmt::format("{:.4f}", p);
}

/// Columns to the left, two blanks between them.
std::string aligned(const Rows& rows) {
  std::vector<std::size_t> width;
  for (const auto& row : rows) {
    width.resize(std::max(width.size(), row.size()));
    for (std::size_t c = 0; c < row.size(); ++c) width[c] = std::max(width[c], row[c].size());
  }
  std::string out;
  for (const auto& row : rows) {
    std::string line = "  ";
    for (std::size_t c = 0; c < row.size(); ++c) line += fmt::format("{:<{}}  ", row[c], width[c]);
    line.erase(line.find_last_not_of(' ') + 1);
    out += line + "\n";
  }
  return out;
}

std::string labels(const SweepAnswers& answers, const std::vector<std::size_t>& of) {
  std::string out;
  for (const std::size_t q : of) out += (out.empty() ? "" : ", ") + answers.policies[q];
  return out.empty() ? "-" : out;
}

/// "cluster.nodes=4, belief.known=0.5"
std::string point_text(const SweepResults& results, std::size_t point) {
  std::string out;
  for (std::size_t k = 0; k < results.plan.keys().size(); ++k) {
    const std::string& text = results.plan.text(point, k);
    if (text.empty()) continue;
    out += (out.empty() ? "" : ", ") + results.plan.keys()[k] + "=" + text;
  }
  return out;
}

Json json_number(double x) { return std::isfinite(x) ? Json(x) : Json(nullptr); }

Json json_interval(const Interval& i) {
  return {{"mean", json_number(i.mean)}, {"lo", json_number(i.lo)}, {"hi", json_number(i.hi)}};
}

Json json_point(const SweepResults& results, std::size_t point) {
  if (point == kNoPoint) return nullptr;
  Json values = Json::object();
  for (std::size_t k = 0; k < results.plan.keys().size(); ++k) {
    const std::string& text = results.plan.text(point, k);
    if (!text.empty()) values[results.plan.keys()[k]] = text;
  }
  return {{"point", point}, {"values", std::move(values)}};
}

std::string best_table(const SweepAnswers& answers) {
  Rows rows{{"metric", "best", "mean [95 %]", "not told apart from it", "best at points"}};
  for (const BestAnswer& best : answers.best) {
    std::vector<std::size_t> winners = best.candidates;
    std::erase_if(winners, [&](std::size_t q) { return best.best_at[q] == 0; });
    std::ranges::stable_sort(winners, std::greater<>(),
                             [&](std::size_t q) { return best.best_at[q]; });
    std::string won;
    for (const std::size_t q : winners) {
      won += fmt::format("{}{} {}", won.empty() ? "" : ", ", answers.policies[q], best.best_at[q]);
    }
    rows.push_back({title_of(best.metric), answers.policies[best.best],
                    with_interval(best.means[best.best], best.metric),
                    labels(answers, best.undecided), won});
  }
  return "best policy, in the mean over all points; for isd of those that share GPUs\n" +
         aligned(rows);
}

std::string effects_table(const SweepAnswers& answers) {
  Rows rows{{"metric", "what", "share", "least at", "", "most at", "", "difference [95 %]"}};
  for (const EffectAnswer& effect : answers.effects) {
    if (!effect.policy.empty()) continue;
    const double s = scale_of(effect.metric);
    const auto& least = effect.levels[effect.least];
    const auto& most = effect.levels[effect.most];
    rows.push_back({title_of(effect.metric), effect.factor, percent(effect.share), least.text,
                    number(least.mean * s), most.text, number(most.mean * s),
                    with_interval(effect.difference, effect.metric)});
  }
  return "what matters: main effects, as a share of the variance between points and policies\n" +
         aligned(rows);
}

std::string front_table(const SweepResults& results, const SweepAnswers& answers) {
  Rows rows{{"policy", "isd %", "ps %", "stays", "point"}};
  for (const FrontAnswer& f : answers.policy_front) {
    rows.push_back({answers.policies[f.policy], number(100 * f.isd), number(100 * f.ps),
                    percent(f.stays), "mean over all points"});
  }
  for (std::size_t i = 0; i < answers.front.size(); ++i) {
    const FrontAnswer& f = answers.front[i];
    // Points that come out alike, because a key does not matter to a policy, are one line.
    std::size_t alike = 1;
    const auto is_alike = [&](const FrontAnswer& g) {
      return g.policy == f.policy && g.isd == f.isd && g.ps == f.ps;
    };
    while (i + 1 < answers.front.size() && is_alike(answers.front[i + 1])) {
      ++i;
      ++alike;
    }
    rows.push_back({answers.policies[f.policy], number(100 * f.isd), number(100 * f.ps),
                    percent(f.stays),
                    fmt::format("{}: {}{}", f.point, point_text(results, f.point),
                                alike > 1 ? fmt::format(", and {} more alike", alike - 1) : "")});
  }
  return "Pareto front: no other has both less ISD and more PS (stays: in so many resamples)\n" +
         aligned(rows);
}

std::string differences_table(const SweepAnswers& answers) {
  std::size_t significant = 0;
  Rows rows{{"metric", "ahead", "behind", "difference [95 %]", "p (Holm)", "better at points",
             "worse at points"}};
  for (const DifferenceAnswer& d : answers.differences) {
    if (d.p_holm < kLevel) ++significant;
    rows.push_back({title_of(d.metric), answers.policies[d.better], answers.policies[d.worse],
                    with_interval(d.difference, d.metric),
                    p_value(d.p_holm) + (d.p_holm < kLevel ? " *" : ""),
                    fmt::format("{} of {}", d.wins, answers.points),
                    fmt::format("{} of {}", d.losses, answers.points)});
  }
  return fmt::format(
             "differences between policies: {} of {} significant (*) at 5 % after Holm's "
             "correction; paired t-tests\n",
             significant, answers.differences.size()) +
         aligned(rows);
}

}  // namespace

std::string answers_table(const SweepResults& results, const SweepAnswers& answers) {
  std::string keys;
  for (const std::string& key : results.plan.keys()) keys += (keys.empty() ? "" : ", ") + key;
  std::string out = fmt::format("{} points of {}; {} policies, {} replications{}\n", answers.points,
                                keys, answers.policies.size(), answers.replications,
                                results.complete ? "" : "; not all points are there");
  for (const std::string& left : answers.left_out) out += "left out: " + left + "\n";
  out += "\n" + best_table(answers) + "\n" + effects_table(answers) + "\n" +
         front_table(results, answers);
  if (answers.policies.size() > 1) out += "\n" + differences_table(answers);
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
      item["means"][answers.policies[q]] = json_interval(best.means[q]);
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
              {"difference", json_interval(effect.difference)}};
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
                                  {"difference", json_interval(d.difference)},
                                  {"p", json_number(d.p)},
                                  {"p_holm", json_number(d.p_holm)},
                                  {"significant", d.p_holm < kLevel},
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
  const double none = kNotSaid;
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

std::string answers_figure(const SweepResults& results, const SweepAnswers& answers) {
  LineChart chart;
  chart.title = fmt::format("{} points, {} replications", answers.points, answers.replications);
  LinePanel pareto{"PS against ISD", "ISD [%]", "PS [%]", false, false, {}};
  LineSeries front{"Pareto front", {}};
  for (const FrontAnswer& f : answers.front) front.points.push_back({100 * f.isd, 100 * f.ps});
  for (std::size_t q = 0; q < answers.policies.size(); ++q) {
    LineSeries series{answers.policies[q], {}};
    for (const FrontAnswer& cell : answers.cells) {
      if (cell.policy != q) continue;
      series.points.push_back({100 * cell.isd, 100 * cell.ps});
      series.points.push_back({});  // breaks the line: marks only
    }
    pareto.series.push_back(std::move(series));
  }
  pareto.series.push_back(std::move(front));
  chart.panels.push_back(std::move(pareto));

  // One panel for each swept number and the first metric; more would not be read.
  constexpr std::size_t kPanelsMax = 4;
  const Metric metric = answers.metrics.front();
  std::size_t words = 0;
  for (const std::string& key : results.plan.keys()) {
    LinePanel panel{"Effect of " + key, key, title_of(metric), false, false, {}};
    for (const EffectAnswer& effect : answers.effects) {
      const bool own = answers.policies.size() > 1 ? !effect.policy.empty() : effect.policy.empty();
      if (effect.metric != metric || effect.factor != key || !own) continue;
      LineSeries series{effect.policy, {}};
      for (const auto& level : effect.levels) {
        series.points.push_back({level.position, level.mean * scale_of(metric)});
      }
      panel.series.push_back(std::move(series));
    }
    const bool numeric = std::ranges::any_of(panel.series, [](const LineSeries& series) {
      return std::ranges::any_of(series.points,
                                 [](const LinePoint& p) { return !std::isnan(p.x); });
    });
    if (!numeric) {
      ++words;
    } else if (chart.panels.size() < kPanelsMax) {
      chart.panels.push_back(std::move(panel));
    }
  }
  chart.note =
      "Each mark on the left is a policy at a point. Right: means over all other swept keys.";
  if (words > 0)
    chart.note += fmt::format(" Keys whose values are words are not drawn: {}.", words);
  return svg_line_chart(chart);
}

}  // namespace corun
