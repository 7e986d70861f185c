#include "knowledge/knowledge_report.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include <fmt/format.h>

#include "sim/base/text.hpp"
#include "support/charts/svg_chart.hpp"
#include "support/json.hpp"
#include "traces/csv_reader.hpp"

namespace corun::inline knowledge {

namespace {

std::vector<ClusterPairKnowledge> ranked(const KnowledgeBase& kb, bool isd) {
  std::vector<ClusterPairKnowledge> known;
  for (int a = 0; a < kb.clusters(); ++a) {
    for (int b = isd ? 0 : a; b < kb.clusters(); ++b) {
      const Statistic& s = isd ? kb.isd(a, b) : kb.ps(a, b);
      if (s.count() == 0) continue;
      known.push_back({a, b, &s, isd ? isd_interval(kb, a, b) : ps_interval(kb, a, b), 0});
    }
  }
  std::stable_sort(known.begin(), known.end(), [&](const auto& x, const auto& y) {
    return isd ? x.statistic->mean() < y.statistic->mean()
               : x.statistic->mean() > y.statistic->mean();
  });
  for (std::size_t i = 0; i < known.size(); ++i) known[i].rank = static_cast<int>(i) + 1;
  return known;
}

constexpr std::array<double, 3> kQuartiles{0.25, 0.5, 0.75};

std::string percent(double fraction) {
  return std::isfinite(fraction) ? fmt::format("{:.1f}", 100 * fraction) : "-";
}

void add_table(std::string& out, const char* title, const char* joint, const char* counted,
               const std::vector<ClusterPairKnowledge>& pairs) {
  out += fmt::format("\n{}\n  {:<4}  {:<12}{:>7}{:>8}{:>8}{:>8}{:>8}{:>8}{:>8}{:>8}  {:>16}\n",
                     title, "rank", "clusters", counted, "mean", "sd", "min", "q1", "median", "q3",
                     "max", "next, 90 %");
  for (const ClusterPairKnowledge& p : pairs) {
    const Statistic& s = *p.statistic;
    const bool listed = s.has_quantiles();
    const std::string next = std::isfinite(p.interval.lo)
                                 ? percent(p.interval.lo) + " to " + percent(p.interval.hi)
                                 : "-";
    out += fmt::format("  {:<4}  {:<12}{:>7}{:>8}{:>8}{:>8}{:>8}{:>8}{:>8}{:>8}  {:>16}\n", p.rank,
                       fmt::format("{} {} {}", p.cluster, joint, p.co_runner), s.count(),
                       percent(s.mean()), s.count() > 1 ? percent(std::sqrt(s.variance())) : "-",
                       listed ? percent(s.min()) : "-", percent(s.quantile(kQuartiles[0])),
                       percent(s.quantile(kQuartiles[1])), percent(s.quantile(kQuartiles[2])),
                       listed ? percent(s.max()) : "-", next);
  }
  if (pairs.empty()) out += "  nothing observed\n";
}

Json to_json(const std::vector<ClusterPairKnowledge>& pairs) {
  Json list = Json::array();
  for (const ClusterPairKnowledge& p : pairs) {
    const Statistic& s = *p.statistic;
    Json entry{{"cluster", p.cluster},
               {"partner", p.co_runner},
               {"rank", p.rank},
               {"count", s.count()},
               {"mean", s.mean()},
               {"variance", s.variance()},
               {"min", s.has_quantiles() ? json_number(s.min()) : Json(nullptr)}};
    entry["quartiles"] = Json::array();
    for (const double q : kQuartiles) entry["quartiles"].push_back(json_number(s.quantile(q)));
    entry["max"] = s.has_quantiles() ? json_number(s.max()) : Json(nullptr);
    entry["next_90pct"] = {json_number(p.interval.lo), json_number(p.interval.hi)};
    list.push_back(std::move(entry));
  }
  return list;
}

}  // namespace

std::vector<ClusterPairKnowledge> ranked_isd(const KnowledgeBase& kb) { return ranked(kb, true); }
std::vector<ClusterPairKnowledge> ranked_ps(const KnowledgeBase& kb) { return ranked(kb, false); }

std::string knowledge_table(const KnowledgeBase& kb) {
  const Clusters& c = kb.clustering();
  std::string out =
      fmt::format("{} clusters, {} pairs of jobs observed{}\n\n  {:<10}{:>16}{:>16}{:>16}\n",
                  kb.clusters(), kb.pairs_observed(),
                  kb.decay() > 0 ? fmt::format(", older ones fade by {} each", kb.decay()) : "",
                  "centre", kFeatureNames[0], kFeatureNames[1], kFeatureNames[2]);
  const auto rows = [&](const std::vector<FeatureVector>& centres) {
    for (std::size_t i = 0; i < centres.size(); ++i) {
      out += fmt::format("  {:<10}{:>16.3f}{:>16.3f}{:>16.3f}\n", i, centres[i][0], centres[i][1],
                         centres[i][2]);
    }
  };
  rows(c.centres);
  if (!c.distance_centres.empty()) {
    out += "  distances are taken to\n";
    rows(c.distance_centres);
  }
  if (c.scale != FeatureVector{1, 1, 1}) {
    out += fmt::format("  {:<10}{:>16.3f}{:>16.3f}{:>16.3f}\n", "scale", c.scale[0], c.scale[1],
                       c.scale[2]);
  }
  out += fmt::format("  uncertainty: {}\n", c.rule == Uncertainty::kAllCentres
                                                ? "sum of the distances to all centres"
                                                : "distance to the own centre");
  add_table(out, "ISD % of a job of the first cluster beside one of the second", "beside", "jobs",
            ranked_isd(kb));
  add_table(out, "PS % of the two together", "with", "pairs", ranked_ps(kb));
  return out;
}

nlohmann::ordered_json knowledge_json(const KnowledgeBase& kb) {
  const Clusters& c = kb.clustering();
  Json json;
  json["features"] = kFeatureNames;
  json["centres"] = c.centres;
  json["distance_centres"] = c.distance_centres;
  json["scale"] = c.scale;
  json["uncertainty"] = name_of(c.rule);
  json["decay"] = kb.decay();
  json["pairs"] = kb.pairs_observed();
  json["isd"] = to_json(ranked_isd(kb));
  json["ps"] = to_json(ranked_ps(kb));
  return json;
}

std::string knowledge_file_table(const KnowledgeFile& file) {
  std::string out = file.about.empty() ? "" : printable(file.about, 200) + "\n";
  out += knowledge_table(file.kb);
  if (!file.sources.empty()) out += "\nlearnt from\n";
  for (const KnowledgeSource& s : file.sources) {
    out +=
        fmt::format("  {}: {} pairs on {}\n", printable(s.name), s.pairs, printable(s.measured_on));
  }
  return out;
}

nlohmann::ordered_json knowledge_file_json(const KnowledgeFile& file) {
  Json json = knowledge_json(file.kb);
  json["about"] = file.about;
  json["sources"] = Json::array();
  for (const KnowledgeSource& s : file.sources) {
    json["sources"].push_back({{"name", s.name},
                               {"sha256", s.sha256},
                               {"rows_sha256", s.rows_sha256},
                               {"pairs", s.pairs},
                               {"measured_on", s.measured_on}});
  }
  return json;
}

std::string knowledge_csv(const KnowledgeBase& kb) {
  std::string out = "metric,cluster,partner,count,mean,variance,min,q1,median,q3,max,lo,hi,rank\n";
  const auto add = [&](const char* metric, const std::vector<ClusterPairKnowledge>& pairs) {
    for (const ClusterPairKnowledge& p : pairs) {
      const Statistic& s = *p.statistic;
      out += fmt::format(
          "{},{},{},{},{},{},{},{},{},{},{},{},{},{}\n", metric, p.cluster, p.co_runner, s.count(),
          csv_number(s.mean()), csv_number(s.variance()),
          s.has_quantiles() ? csv_number(s.min()) : "", csv_number(s.quantile(kQuartiles[0])),
          csv_number(s.quantile(kQuartiles[1])), csv_number(s.quantile(kQuartiles[2])),
          s.has_quantiles() ? csv_number(s.max()) : "", csv_number(p.interval.lo),
          csv_number(p.interval.hi), p.rank);
    }
  };
  add("isd", ranked_isd(kb));
  add("ps", ranked_ps(kb));
  return out;
}

std::string knowledge_figure(const KnowledgeBase& kb, const std::string& title) {
  const auto boxes = [](const std::vector<ClusterPairKnowledge>& pairs, const char* joint) {
    std::vector<BoxSummary> all;
    for (const ClusterPairKnowledge& p : pairs) {
      const Statistic& s = *p.statistic;
      BoxSummary box;
      box.label = fmt::format("{}{}{}", p.cluster, joint, p.co_runner);
      box.count = static_cast<std::size_t>(s.count());
      box.mean = 100 * s.mean();
      if (s.has_quantiles()) {
        box.min = 100 * s.min();
        box.q1 = 100 * s.quantile(kQuartiles[0]);
        box.median = 100 * s.quantile(kQuartiles[1]);
        box.q3 = 100 * s.quantile(kQuartiles[2]);
        box.max = 100 * s.max();
        for (const auto& [value, weight] : s.state().values) box.points.push_back(100 * value);
      }
      all.push_back(std::move(box));
    }
    return all;
  };
  BoxChart chart;
  chart.title = title;
  chart.note = fmt::format("{} pairs of jobs; best rank first", kb.pairs_observed());
  chart.panels.push_back({"Individual slowdown", "ISD [%]", "cluster of the job | of its co-runner",
                          boxes(ranked_isd(kb), "|")});
  chart.panels.push_back(
      {"Packing saving", "PS [%]", "clusters of the two", boxes(ranked_ps(kb), "-")});
  return svg_box_chart(chart);
}

}  // namespace corun::inline knowledge
