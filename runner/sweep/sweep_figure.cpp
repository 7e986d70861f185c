#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <map>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "runner/sweep/sweep_output.hpp"
#include "sim/base/text.hpp"
#include "support/charts/svg_chart.hpp"

namespace corun::inline runner {

namespace {

/// The keys by the size of their main effects, largest first.
std::vector<std::string> keys_by_share(const SweepResults& results, const SweepAnswers& answers) {
  std::map<std::string, double> share;
  for (const EffectAnswer& effect : answers.effects) {
    if (!effect.policy.empty() || std::isnan(effect.share)) continue;
    share[effect.factor] = std::max(share[effect.factor], effect.share);
  }
  std::vector<std::string> keys = results.plan.keys();
  std::ranges::stable_sort(keys, std::greater<>(), [&](const std::string& k) { return share[k]; });
  return keys;
}

/// "control.round_s [s]": a key with the unit in which its name ends.
std::string with_unit(const std::string& key) {
  constexpr std::array<std::pair<std::string_view, std::string_view>, 4> kUnits{
      {{"_s", "s"}, {"_pct", "%"}, {"_mib", "MiB"}, {"_milli", "1/1000 core"}}};
  for (const auto& [ending, unit] : kUnits) {
    if (key.ends_with(ending)) return fmt::format("{} [{}]", key, unit);
  }
  return key;
}

/// "jct [min]" of "jct min".
std::string axis_of(Metric metric, const std::string& title) {
  const bool plain = metric_info(metric).unit == "1" && !judged(metric).percent;
  return title.ends_with("_s") ? title.substr(0, title.size() - 2) + " [s]"
         : plain
             ? title
             : title.substr(0, title.rfind(' ')) + " [" + title.substr(title.rfind(' ') + 1) + "]";
}

LinePanel policies_panel(const SweepAnswers& answers, const BestAnswer& best) {
  const auto [title, s] = shown_as(best.metric, answers);
  LinePanel panel{fmt::format("{} ({})", title, better_side(best.metric)),
                  "",
                  axis_of(best.metric, title),
                  false,
                  false,
                  {},
                  answers.policies};
  for (std::size_t q = 0; q < answers.policies.size(); ++q) {
    const Interval& i = best.means[q];
    panel.series.push_back(
        {answers.policies[q], {{static_cast<double>(q), i.mean * s, i.lo * s, i.hi * s}}, false});
  }
  return panel;
}

LinePanel key_panel(const SweepAnswers& answers, Metric metric, const std::string& key) {
  const auto [title, scale] = shown_as(metric, answers);
  LinePanel panel{fmt::format("{} by {}", title, key),
                  with_unit(key),
                  axis_of(metric, title),
                  false,
                  false,
                  {}};
  const bool many = answers.policies.size() > 1;
  for (const EffectAnswer& effect : answers.effects) {
    if (effect.metric != metric || effect.factor != key || effect.policy.empty() == many) continue;
    const bool words = std::ranges::any_of(
        effect.levels, [](const auto& level) { return std::isnan(level.position); });
    LineSeries series{many ? effect.policy : answers.policies.front(), {}};
    panel.x_names.clear();
    for (std::size_t l = 0; l < effect.levels.size(); ++l) {
      const auto& level = effect.levels[l];
      series.points.push_back(
          {words ? static_cast<double>(l) : level.position, level.mean * scale});
      if (words) panel.x_names.push_back(level.text);
    }
    panel.series.push_back(std::move(series));
  }
  return panel;
}

LinePanel front_panel(const SweepAnswers& answers) {
  LinePanel panel{"ps % against isd %, point by point", "isd [%]", "ps [%]", false, false, {}};
  for (std::size_t q = 0; q < answers.policies.size(); ++q) {
    LineSeries series{answers.policies[q], {}, false};
    for (const FrontAnswer& cell : answers.cells) {
      if (cell.policy == q) series.points.push_back({100 * cell.isd, 100 * cell.ps});
    }
    panel.series.push_back(std::move(series));
  }
  LineSeries front{"Pareto front", {}, true, false};
  for (const FrontAnswer& f : answers.front) front.points.push_back({100 * f.isd, 100 * f.ps});
  panel.series.push_back(std::move(front));
  return panel;
}

}  // namespace

std::string answers_figure(const SweepResults& results, const SweepAnswers& answers) {
  constexpr std::size_t kMetricsMax = 4;  // more would be unreadable
  constexpr std::size_t kKeysMax = 4;
  LineChart chart;
  chart.title = fmt::format("{} points, {} replications", answers.points, answers.replications);
  const std::size_t metrics = std::min(answers.best.size(), kMetricsMax);
  chart.columns = std::max<std::size_t>(metrics, 2);
  chart.one_legend = true;
  chart.plot_wide = 270;
  chart.plot_high = 170;
  for (std::size_t m = 0; m < metrics; ++m) {
    chart.panels.push_back(policies_panel(answers, answers.best[m]));
  }
  const std::vector<std::string> keys = keys_by_share(results, answers);
  for (std::size_t k = 0; k < std::min(keys.size(), kKeysMax); ++k) {
    for (std::size_t m = 0; m < metrics; ++m) {
      chart.panels.push_back(key_panel(answers, answers.best[m].metric, keys[k]));
    }
  }
  chart.panels.push_back(front_panel(answers));
  chart.note =
      "First the policies: means over all points with their 95 % intervals. By a key: means over "
      "all "
      "other swept keys. Last: each mark is a policy at a point, and the line is the Pareto front.";
  if (keys.size() > kKeysMax) {
    chart.note += fmt::format(" Not drawn: {} keys that matter less.", keys.size() - kKeysMax);
  }
  constexpr std::size_t kNotesMax = 4;
  for (std::size_t n = 0; n < std::min(results.notes.size(), kNotesMax); ++n) {
    const SweepResults::Note& note = results.notes[n];
    chart.note +=
        fmt::format(" Note, {}: {}.", points_of_note(results, note), printable(note.text, 300));
  }
  if (results.notes.size() > kNotesMax) {
    chart.note +=
        fmt::format(" {} more notes: corun sweep --answers.", results.notes.size() - kNotesMax);
  }
  return svg_line_chart(chart);
}

}  // namespace corun::inline runner
