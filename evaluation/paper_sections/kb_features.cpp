#include "evaluation/paper_sections/kb_features.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <stdexcept>
#include <string_view>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "evaluation/paper_sections/usable_profiles.hpp"
#include "models/knowledge/feature_ranking.hpp"
#include "sim/error.hpp"
#include "support/charts/svg_chart.hpp"
#include "support/json.hpp"
#include "support/progress.hpp"

namespace corun::inline evaluation {

namespace {

/// The table's names of the three features.
struct AttributeNames {
  std::string utilisation;
  std::string memory;
  std::string access;
};

std::string attribute_called(const ProfileTable& table, std::string_view data_set_name,
                             std::string_view own_name) {
  for (const std::string& a : table.attributes) {
    if (a == data_set_name) return a;
  }
  return std::string(own_name);
}

/// Rankings of attributes: for utilisation over all that the paper kept, for utilisation without its own
/// parts (its minimum and range), and for memory.
struct Rankings {
  FeatureRanking all;
  FeatureRanking honest;
  FeatureRanking of_memory;
};

FeatureRanking ranking_of(const ProfileTable& table, const std::string& target,
                          const std::set<std::string>& without, unsigned threads) {
  const MatrixView view{table.values, table.jobs.size(), table.attributes.size()};
  std::vector<std::size_t> excluded;
  std::size_t column = table.attributes.size();
  for (std::size_t c = 0; c < table.attributes.size(); ++c) {
    const std::string& name = table.attributes[c];
    if (name == target) {
      column = c;
    } else if (without.contains(name) ||
               std::find(kNotRanked.begin(), kNotRanked.end(), name) != kNotRanked.end()) {
      excluded.push_back(c);
    }
  }
  RankingOptions options;
  options.threads = static_cast<int>(threads);
  try {
    return rank_features(view, table.attributes, column, excluded, options);
  } catch (const std::invalid_argument& e) {
    throw InputError(table.source, fmt::format("feature importance for {}: {}", target, e.what()));
  }
}

Rankings rank_all(const ProfileTable& table, const AttributeNames& names, unsigned threads,
                  bool quiet) {
  const std::set<std::string> parts(kOwnParts.begin(), kOwnParts.end());
  constexpr std::size_t kRankings = 3;
  Progress progress("ranking", quiet);
  Rankings r;
  progress.update(0, kRankings);
  r.all = ranking_of(table, names.utilisation, {}, threads);
  progress.update(1, kRankings);
  r.honest = ranking_of(table, names.utilisation, parts, threads);
  progress.update(2, kRankings);
  r.of_memory = ranking_of(table, names.memory, {}, threads);
  return r;
}

Json to_json(const FeatureRanking& ranking) {
  Json list = Json::array();
  for (const RankedFeature& f : ranking.features) {
    list.push_back({{"attribute", f.name},
                    {"mean_rank", rounded(f.mean_rank)},
                    {"rank_sd", rounded(f.rank_deviation)},
                    {"pearson", rounded(f.pearson.value)},
                    {"spearman", rounded(f.spearman.value)},
                    {"kendall", rounded(f.kendall.value)},
                    {"forest", rounded(f.forest.value)},
                    {"ridge", rounded(f.ridge.value)},
                    {"lasso", rounded(f.lasso.value)},
                    {"ranks", {f.pearson.rank, f.forest.rank, f.ridge.rank, f.lasso.rank}}});
  }
  return {{"target", ranking.target}, {"attributes", list}};
}

/// The first `shown` attributes of a ranking.
std::string table_of(const FeatureRanking& ranking, const std::string& title, std::size_t shown) {
  std::string text = fmt::format("\n{}\n  {:<5}{:<24}{:>9}{:>7}{:>9}{:>10}{:>9}{:>9}{:>9}{:>9}\n",
                                 title, "rank", "attribute", "mean rank", "sd", "pearson",
                                 "spearman", "kendall", "forest", "ridge", "lasso");
  for (std::size_t i = 0; i < std::min(shown, ranking.features.size()); ++i) {
    const RankedFeature& f = ranking.features[i];
    text += fmt::format(
        "  {:<5}{:<24}{:>9.2f}{:>7.2f}{:>9.2f}{:>10.2f}{:>9.2f}{:>9.3f}{:>9.2f}{:>9.2f}\n", i + 1,
        f.name, f.mean_rank, f.rank_deviation, f.pearson.value, f.spearman.value, f.kendall.value,
        f.forest.value, f.ridge.value, f.lasso.value);
  }
  if (ranking.features.size() > shown) {
    text += fmt::format("  ... and {} more (--format json has them all)\n",
                        ranking.features.size() - shown);
  }
  std::map<std::string_view, std::vector<std::string>> skipped;
  for (const SkippedFeature& s : ranking.skipped) skipped[to_string(s.reason)].push_back(s.name);
  for (const auto& [reason, names] : skipped) {
    text += fmt::format("  not ranked, {}: {}\n", reason, fmt::join(names, ", "));
  }
  return text;
}

const RankedFeature& strongest(const FeatureRanking& r) {
  return *std::max_element(r.features.begin(), r.features.end(), [](const auto& a, const auto& b) {
    return std::abs(a.pearson.value) < std::abs(b.pearson.value);
  });
}

std::string said(const RankedFeature& f) {
  return fmt::format("{} ({:.2f})", f.name, f.pearson.value);
}

constexpr double kWeak = 0.5;

/// Attributes whose |Pearson| is below kWeak.
std::ptrdiff_t weak(const FeatureRanking& r) {
  return std::count_if(r.features.begin(), r.features.end(),
                       [](const auto& f) { return std::abs(f.pearson.value) < kWeak; });
}

std::string place_of(const std::string& name, const FeatureRanking& r) {
  const auto at = std::ranges::find(r.features, name, &RankedFeature::name);
  return at == r.features.end()
             ? name + " is not ranked"
             : fmt::format("{} is place {} (mean rank {:.2f}), first is {}", name,
                           at - r.features.begin() + 1, at->mean_rank, r.features.front().name);
}

void add_claims(StudySection& section, const Rankings& r, const std::string& access) {
  const RankedFeature& top_honest = strongest(r.honest);
  section.claim(
      "time accessing memory correlates most with maximum GPU utilisation (PriRecT III-B, JRS "
      "III-B)",
      top_honest.name == access,
      fmt::format("largest |Pearson|: {} with all attributes, {} without the target's own parts",
                  said(strongest(r.all)), said(top_honest)));
  section.claim("it ranks first over the four techniques (PriRecT fig. 2), all attributes kept",
                r.all.features.front().name == access, place_of(access, r.all));
  section.claim("the same without the target's own parts", r.honest.features.front().name == access,
                place_of(access, r.honest));
  section.claim(
      "maximum memory allocated correlates weakly with mostly everything (PriRecT III-B)",
      5 * weak(r.of_memory) >= 4 * static_cast<std::ptrdiff_t>(r.of_memory.features.size()),
      fmt::format("|Pearson| below {} for {} of {} attributes ({} of {} for utilisation); yet the "
                  "largest is {}",
                  kWeak, weak(r.of_memory), r.of_memory.features.size(), weak(r.honest),
                  r.honest.features.size(), said(strongest(r.of_memory))));
}

std::string figure_of(const FeatureRanking& ranking, const AttributeNames& names) {
  BarChart chart;
  chart.title = "Feature importance for " + names.utilisation + ": mean rank over four techniques";
  chart.axis = "mean rank of Pearson, forest, ridge and lasso (1 is best)";
  chart.note = "Error bars: standard deviation over the four. The target's own parts are left out.";
  for (const RankedFeature& f : ranking.features) {
    chart.bars.push_back({f.name, f.mean_rank, f.rank_deviation, f.name == names.access});
  }
  return svg_bar_chart(chart);
}

}  // namespace

StudySection features_section(const ProfileTable& profiles, unsigned threads, bool quiet) {
  constexpr std::size_t kMost = 300;
  const auto [table, note] = usable_profiles(profiles, kMost);
  const AttributeNames names{attribute_called(table, "MGUP", "gpu_util_pct"),
                             attribute_called(table, "MGMAP", "mem_alloc_pct"),
                             attribute_called(table, "MaGTSAMP", "mem_time_pct")};
  const Rankings r = rank_all(table, names, threads, quiet);
  StudySection section;
  section.text = fmt::format("{}: {} profiles, {} attributes\n", table.source, table.jobs.size(),
                             table.attributes.size()) +
                 note;
  constexpr std::size_t kShown = 10;
  const auto add = [&](const FeatureRanking& ranking, const char* key, const std::string& title,
                       std::size_t shown) {
    section.json["rankings"][key] = to_json(ranking);
    section.text += table_of(ranking, title, shown);
  };
  add(r.all, "utilisation",
      "feature importance for " + names.utilisation + ", all that the paper kept", kShown);
  add(r.honest, "utilisation_without_its_parts",
      "feature importance for " + names.utilisation +
          " when its own parts are left out (maximum = minimum + range)",
      r.honest.features.size());
  add(r.of_memory, "memory", "feature importance for " + names.memory, kShown);
  add_claims(section, r, names.access);
  section.figure = figure_of(r.honest, names);
  return section;
}

}  // namespace corun::inline evaluation
