#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <iostream>
#include <limits>
#include <map>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "experiments/base/atomic_file.hpp"
#include "experiments/base/json.hpp"
#include "experiments/base/progress.hpp"
#include "experiments/charts/svg_chart.hpp"
#include "experiments/commands/cli.hpp"
#include "experiments/knowledge/knowledge_report.hpp"
#include "experiments/studies/kb_evaluation.hpp"
#include "experiments/studies/regeneration_study.hpp"
#include "models/device.hpp"
#include "models/knowledge/feature_ranking.hpp"
#include "models/knowledge/reidentification.hpp"
#include "sim/base/text.hpp"
#include "sim/error.hpp"
#include "traces/csv_reader.hpp"
#include "traces/paper_workloads.hpp"
#include "traces/profile_csv.hpp"

/// `corun kb eval`: how well each step of the knowledge base works, and whether what the papers say of
/// it holds. Every section gives one JSON object, from which the table is printed.
namespace corun {

namespace {

namespace po = boost::program_options;
constexpr std::string_view kDataSet = "alnair/alnair_dataset.csv";

/// A section's outcome: numbers for programs, text for people.
struct Report {
  Json json;
  std::string text;
  std::string figure;  ///< SVG; empty where the section has none
};

std::string yes(bool holds) { return holds ? "yes" : "no"; }

double rounded(double x, int digits = 6) {
  const double scale = std::pow(10.0, digits);
  return std::isfinite(x) ? std::round(x * scale) / scale : x;
}

/// A claim of a paper, answered.
void claim(Report& report, const std::string& what, bool holds, const std::string& shown) {
  report.json["claims"].push_back({{"claim", what}, {"holds", holds}, {"shown_by", shown}});
  report.text += fmt::format("\nclaim: {}\n  {}: {}\n", what, yes(holds), shown);
}

// ---- features -----------------------------------------------------------------------------------

std::string attribute_called(const ProfileTable& table, std::string_view data_set_name,
                             std::string_view own_name) {
  for (const std::string& a : table.attributes) {
    if (a == data_set_name) return a;
  }
  return std::string(own_name);
}

/// Rows of a table that have all three features, and no more of them than `most`, drawn evenly: the
/// forests of a ranking take time in proportion to rows, guessing to their square.
ProfileTable usable_rows(const ProfileTable& table, std::size_t most, std::string& note) {
  std::vector<std::size_t> whole;
  for (std::size_t i = 0; i < table.jobs.size(); ++i) {
    const Profile& p = table.profiles[i];
    if (p.gpu_util_pct && p.mem_alloc_pct && p.mem_time_pct) whole.push_back(i);
  }
  if (whole.size() < table.jobs.size()) {
    note += fmt::format("{} of {} profiles lack a feature and are left out\n",
                        table.jobs.size() - whole.size(), table.jobs.size());
  }
  if (whole.size() > most) {
    note += fmt::format("every {:.1f}th of {} profiles is looked at: {}\n",
                        static_cast<double>(whole.size()) / static_cast<double>(most), whole.size(),
                        most);
  }
  ProfileTable out;
  out.attributes = table.attributes;
  out.source = table.source;
  const std::size_t kept = std::min(most, whole.size());
  for (std::size_t k = 0; k < kept; ++k) {
    const std::size_t i = whole[k * whole.size() / kept];
    out.jobs.push_back(table.jobs[i]);
    out.profiles.push_back(table.profiles[i]);
    out.origins.push_back(table.origins[i]);
    const auto row =
        table.values.begin() + static_cast<std::ptrdiff_t>(i * table.attributes.size());
    out.values.insert(out.values.end(), row,
                      row + static_cast<std::ptrdiff_t>(table.attributes.size()));
  }
  return out;
}

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
    throw InputError(table.source, fmt::format("ranking what tells of {}: {}", target, e.what()));
  }
}

void add_ranking(Report& report, const FeatureRanking& ranking, const std::string& key,
                 const std::string& title, std::size_t shown) {
  Json list = Json::array();
  std::string text = fmt::format("\n{}\n  {:<5}{:<24}{:>9}{:>7}{:>9}{:>10}{:>9}{:>9}{:>9}{:>9}\n",
                                 title, "rank", "attribute", "mean rank", "sd", "pearson",
                                 "spearman", "kendall", "forest", "ridge", "lasso");
  for (std::size_t i = 0; i < ranking.features.size(); ++i) {
    const RankedFeature& f = ranking.features[i];
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
    if (i < shown) {
      text += fmt::format(
          "  {:<5}{:<24}{:>9.2f}{:>7.2f}{:>9.2f}{:>10.2f}{:>9.2f}{:>9.3f}{:>9.2f}{:>9.2f}\n", i + 1,
          f.name, f.mean_rank, f.rank_deviation, f.pearson.value, f.spearman.value, f.kendall.value,
          f.forest.value, f.ridge.value, f.lasso.value);
    }
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
  report.json["rankings"][key] = {{"target", ranking.target}, {"attributes", list}};
  report.text += text;
}

Report features_report(const ProfileTable& whole, unsigned threads, bool quiet) {
  Report report;
  constexpr std::size_t kMost = 300;
  std::string note;
  const ProfileTable table = usable_rows(whole, kMost, note);
  report.json["claims"] = Json::array();
  const std::string util = attribute_called(table, "MGUP", "gpu_util_pct");
  const std::string memory = attribute_called(table, "MGMAP", "mem_alloc_pct");
  const std::string access = attribute_called(table, "MaGTSAMP", "mem_time_pct");
  std::set<std::string> parts(kOwnParts.begin(), kOwnParts.end());
  constexpr std::size_t kRankings = 3;
  Progress progress("ranking", quiet);
  progress.update(0, kRankings);
  const FeatureRanking all = ranking_of(table, util, {}, threads);
  progress.update(1, kRankings);
  const FeatureRanking honest = ranking_of(table, util, parts, threads);
  progress.update(2, kRankings);
  const FeatureRanking of_memory = ranking_of(table, memory, {}, threads);
  constexpr std::size_t kShown = 10;
  report.text = fmt::format("{}: {} profiles, {} attributes\n", table.source, table.jobs.size(),
                            table.attributes.size());
  report.text += note;
  add_ranking(report, all, "utilisation", "what tells of " + util + ", all that the paper kept",
              kShown);
  add_ranking(
      report, honest, "utilisation_without_its_parts",
      "what tells of " + util + " when its own parts are left out (maximum = minimum + range)",
      honest.features.size());
  add_ranking(report, of_memory, "memory", "what tells of " + memory, kShown);

  const auto strongest = [](const FeatureRanking& r) {
    return *std::max_element(r.features.begin(), r.features.end(),
                             [](const auto& a, const auto& b) {
                               return std::abs(a.pearson.value) < std::abs(b.pearson.value);
                             });
  };
  const auto said = [](const RankedFeature& f) {
    return fmt::format("{} ({:.2f})", f.name, f.pearson.value);
  };
  const RankedFeature& top = strongest(all);
  const RankedFeature& top_honest = strongest(honest);
  claim(report,
        "time accessing memory correlates most with maximum GPU utilisation (PriRecT III-B, JRS "
        "III-B)",
        top_honest.name == access,
        fmt::format("largest |Pearson|: {} with all attributes, {} without the target's own parts",
                    said(top), said(top_honest)));
  const auto place = [&](const FeatureRanking& r) {
    const auto at = std::find_if(r.features.begin(), r.features.end(),
                                 [&](const RankedFeature& f) { return f.name == access; });
    return at == r.features.end()
               ? access + " is not ranked"
               : fmt::format("{} is place {} (mean rank {:.2f}), first is {}", access,
                             at - r.features.begin() + 1, at->mean_rank, r.features.front().name);
  };
  claim(report, "it ranks first over the four techniques (PriRecT fig. 2), all attributes kept",
        all.features.front().name == access, place(all));
  claim(report, "the same without the target's own parts", honest.features.front().name == access,
        place(honest));
  const RankedFeature& top_memory = strongest(of_memory);
  constexpr double kWeak = 0.5;
  const auto weak = [](const FeatureRanking& r) {
    return std::count_if(r.features.begin(), r.features.end(),
                         [](const auto& f) { return std::abs(f.pearson.value) < kWeak; });
  };
  claim(
      report, "maximum memory allocated correlates weakly with mostly everything (PriRecT III-B)",
      5 * weak(of_memory) >= 4 * static_cast<std::ptrdiff_t>(of_memory.features.size()),
      fmt::format("|Pearson| below {} for {} of {} attributes ({} of {} for utilisation); yet the "
                  "largest is {}",
                  kWeak, weak(of_memory), of_memory.features.size(), weak(honest),
                  honest.features.size(), said(top_memory)));

  BarChart chart;
  chart.title = "What tells of " + util + ": mean rank over four techniques";
  chart.axis = "mean rank of Pearson, forest, ridge and lasso (1 is best)";
  chart.note = "Error bars: standard deviation over the four. The target's own parts are left out.";
  for (const RankedFeature& f : honest.features) {
    chart.bars.push_back({f.name, f.mean_rank, f.rank_deviation, f.name == access});
  }
  report.figure = svg_bar_chart(chart);
  return report;
}

// ---- synthetic ----------------------------------------------------------------------------------

Report synthetic_report(const ProfileTable& table) {
  Report report;
  report.json["claims"] = Json::array();
  struct Named {
    std::string_view name;
    TableTwoVariant variant;
  };
  const std::array<Named, 5> variants{{
      {"as the paper made it", {}},
      {"values at 256 and 128 not exchanged", {.exchanged = false}},
      {"rows in the samples' order", {.falling = false}},
      {"MobileNet's 30.6 as listed", {.retyped = false}},
      {"samples cut before use", {.cut = true}},
  }};
  report.text = fmt::format(
      "PriRecT Table II: cells that agree to the printed digits, rounded or cut\n\n  {:<38}{:>10}",
      "", "all");
  for (const TechniqueEntry& t : technique_catalog()) report.text += fmt::format("{:>13}", t.name);
  report.text += "\n";
  report.json["table_two"] = Json::array();
  for (const Named& v : variants) {
    const TableTwo two = prirect_table_two(table, v.variant);
    const Share total = two.total();
    Json row{{"variant", v.name}, {"agree", total.agreeing}, {"printed", total.printed}};
    report.text +=
        fmt::format("  {:<38}{:>10}", v.name, fmt::format("{}/{}", total.agreeing, total.printed));
    for (const TechniqueEntry& t : technique_catalog()) {
      const Share s = two.of(t.name);
      row["by_technique"][std::string(t.name)] = {s.agreeing, s.printed};
      report.text += fmt::format("{:>13}", fmt::format("{}/{}", s.agreeing, s.printed));
    }
    report.text += "\n";
    report.json["table_two"].push_back(row);
  }
  const TableTwo two = prirect_table_two(table);
  report.json["cells"] = Json::array();
  report.text += "\ncells that do not agree\n";
  for (const TableTwoCell& c : two.cells) {
    report.json["cells"].push_back({{"technique", c.technique},
                                    {"workload", c.workload},
                                    {"attribute", kAttributeNames[c.attribute]},
                                    {"score", c.mae ? "mae" : "rmse"},
                                    {"printed", c.printed},
                                    {"ours", json_number(c.ours)},
                                    {"agrees", c.agrees},
                                    {"cause", c.cause}});
    if (c.agrees || c.printed.empty()) continue;
    report.text += fmt::format("  {:<12} {:<15} {:<9}{:<5} printed {:<9} ours {:<9.4g} {}\n",
                               c.technique, c.workload, kAttributeNames[c.attribute],
                               c.mae ? "MAE" : "RMSE", c.printed, c.ours, c.cause);
  }

  const Share total = two.total();
  const Share plain = prirect_table_two(table, {.exchanged = false}).total();
  claim(report, "Table II can be computed from the published data (three quarters of its cells)",
        4 * total.agreeing >= 3 * total.printed,
        fmt::format("{} of {} cells, {} without the exchange of two values in the comparison",
                    total.agreeing, total.printed, plain.agreeing));

  const BellClaim bell = krogh_bell(table, {.clip = false, .decimals = {}});
  const BellClaim cut = krogh_bell(table, {true, 2, Rounding::kCut});
  const auto curve = [](const BellClaim& b) {
    std::vector<std::string> parts;
    for (const int at : {1, 2, 4, 8, 12, 16, 20}) {
      const VolumeQuality& q = b.curve[static_cast<std::size_t>(at - 1)];
      parts.push_back(q.rmse ? fmt::format("{}: {:.2g}", at, *q.rmse) : fmt::format("{}: -", at));
    }
    return fmt::format("{}", fmt::join(parts, ", "));
  };
  claim(report, "krogh's quality over the volume of synthetic data is bell-shaped (PriRecT fig. 3)",
        bell.holds,
        fmt::format("MobileNet MGUP, RMSE by samples between neighbours {{{}}}, least at {}",
                    curve(bell), bell.best));
  claim(report, "the same when samples are kept as listed, cut after two decimals", cut.holds,
        fmt::format("{{{}}}, least at {}", curve(cut), cut.best));
  for (const BellClaim* b : {&bell, &cut}) {
    Json points = Json::array();
    for (const VolumeQuality& q : b->curve) {
      points.push_back({q.between, q.rmse ? Json(*q.rmse) : Json(nullptr)});
    }
    report.json[b == &bell ? "volume" : "volume_cut"] = points;
  }

  const auto by_attribute = least_rmse(table, {.exchanged = false});
  report.json["least_rmse"] = Json::array();
  report.text += fmt::format(
      "\ntechnique of least RMSE in the blind test (JRS fig. 2), and the one behind the samples\n"
      "  {:<16}{:<10}{:<14}{:<8}{}\n",
      "workload", "attribute", "least RMSE", "tied", "samples made by");
  std::size_t as_samples = 0;
  for (const LeastRmse& l : by_attribute) {
    report.json["least_rmse"].push_back({{"workload", l.workload},
                                         {"attribute", kAttributeNames[l.attribute]},
                                         {"best", technique_name(l.best)},
                                         {"tied", l.tied},
                                         {"samples", l.samples}});
    report.text +=
        fmt::format("  {:<16}{:<10}{:<14}{:<8}{}\n", l.workload, kAttributeNames[l.attribute],
                    technique_name(l.best), yes(l.tied), l.samples);
    as_samples += l.as_samples ? 1 : 0;
  }
  claim(report, "synthetic data were made by the technique of least RMSE (JRS fig. 2)",
        as_samples == by_attribute.size(),
        fmt::format("{} of {} columns; a polynomial through n points always comes back exactly "
                    "from n samples, so the test cannot choose",
                    as_samples, by_attribute.size()));

  LineChart chart;
  chart.title = "Regenerating MobileNet's GPU utilisation by krogh";
  chart.note = "Blind test over the number of synthetic samples between measured points";
  LinePanel panel;
  panel.title = "RMSE over volume";
  panel.x_axis = "samples between neighbours";
  panel.y_axis = "RMSE [percentage points]";
  panel.log_y = true;
  for (const BellClaim* b : {&bell, &cut}) {
    LineSeries series;
    series.name = b == &bell ? "all digits" : "clipped, cut after two decimals";
    for (const VolumeQuality& q : b->curve) {
      series.points.push_back({static_cast<double>(q.between),
                               q.rmse ? *q.rmse : std::numeric_limits<double>::quiet_NaN()});
    }
    panel.series.push_back(std::move(series));
  }
  chart.panels.push_back(std::move(panel));
  report.figure = svg_line_chart(chart);
  return report;
}

// ---- clusters -----------------------------------------------------------------------------------

Report clusters_report(const ProfileTable& table) {
  Report report;
  report.json["claims"] = Json::array();
  const SampleSet samples = draw_samples(table, {"paper", SampleAxis::kRow, 4});
  const std::vector<double> raw = feature_rows(samples);
  const std::vector<double> standard = standardised_rows(raw);
  constexpr int kMost = 10;
  const auto curve = distortion_curve(raw, kFeatures, kMost, {1, 200, 1});
  const auto scaled = distortion_curve(standard, kFeatures, kMost, {1, 200, 1});
  report.text = fmt::format("the authors' {} samples\n  {:>3}{:>12}{:>12}{:>18}{:>12}\n",
                            samples.profiles.size(), "k", "inertia", "silhouette", "standardised",
                            "silhouette");
  report.json["curve"] = Json::array();
  for (std::size_t i = 0; i < curve.size(); ++i) {
    report.text +=
        fmt::format("  {:>3}{:>12.0f}{:>12.3f}{:>18.1f}{:>12.3f}\n", curve[i].k, curve[i].inertia,
                    curve[i].silhouette, scaled[i].inertia, scaled[i].silhouette);
    report.json["curve"].push_back({{"k", curve[i].k},
                                    {"inertia", rounded(curve[i].inertia, 3)},
                                    {"silhouette", rounded(curve[i].silhouette)},
                                    {"inertia_standardised", rounded(scaled[i].inertia)},
                                    {"silhouette_standardised", rounded(scaled[i].silhouette)}});
  }
  const int bend = elbow(curve);
  report.json["elbow"] = bend;
  const auto best =
      std::max_element(curve.begin() + 1, curve.end(),
                       [](const auto& a, const auto& b) { return a.silhouette < b.silhouette; });
  claim(report, "the elbow of the distortion is at three clusters (PriRecT III-D)", bend == 3,
        fmt::format("farthest below the chord over k = 1 to {}: {} (over k = 1 to 7: {}); the "
                    "silhouette prefers {}",
                    kMost, bend, elbow(std::span(curve).first(7)), best->k));

  ClusteringOptions authors;
  authors.start = printed_clusters().centres;
  const ClusteringResult from_centres = cluster_samples(samples, authors);
  const ClusteringResult own = cluster_samples(samples, {});
  const std::size_t of_authors = printed_labels_kept(from_centres.clusters);
  const std::size_t of_own = printed_labels_kept(own.clusters);
  claim(report, "k-means on the samples gives the printed labels",
        from_centres.start_was_fixed && of_authors == 52,
        fmt::format("from the authors' centres a fixed point (inertia {:.0f}) with {} of 52; the "
                    "best optimum (inertia {:.0f}) with {} of 52",
                    from_centres.inertia, of_authors, own.inertia, of_own));

  Clusters printed = from_centres.clusters;
  printed.distance_centres = own.clusters.centres;
  const auto recommend = [&](const PaperFilter& filter, QueueOverrides overrides,
                             std::string_view policy, std::string_view pairing,
                             std::string_view target) {
    WorkloadKeys keys;
    KnowledgeBase kb(printed);
    learn_rows(kb, paper_measurements(keys, filter), Labels::kFromProfile);
    return groups_in_common(
        recommend_queue(kb, queue_profiles(samples), overrides, policy, pairing), target);
  };
  std::array<std::size_t, 4> kept{};
  std::size_t at = 0;
  for (const QueueOverrides o : {QueueOverrides::kPrinted, QueueOverrides::kNone}) {
    kept[at++] = recommend(kJrsKnowledgeBase, o, "min-slowdown", "matching", "JRS-IV");
    kept[at++] = recommend(kPrirectKnowledgeBase, o, "balance", "greedy-rank", "JRS-VII");
  }
  report.json["table_iv"] = {{"with_overrides", kept[0]}, {"profiles_alone", kept[2]}};
  report.json["table_vii"] = {{"with_overrides", kept[1]}, {"profiles_alone", kept[3]}};
  claim(report, "from raw profiles and co-run tables come JRS Tables IV and VII",
        kept[0] == 12 && kept[1] == 12,
        fmt::format("{} and {} of 12 groups when the four autoencoders (no profile published) and "
                    "J4-869 (another job's distance printed) are given; {} and {} without",
                    kept[0], kept[1], kept[2], kept[3]));

  report.text += fmt::format(
      "\nwhat another analyst would have done, and what it changes\n"
      "  {:<64}{:>3}{:>12}{:>12}{:>10}{:>10}{:>11}\n",
      "clusters", "k", "silhouette", "labels /52", "IV /12", "VII /12", "MAE ISD %");
  report.json["variants"] = Json::array();
  for (const ClusterVariant& v : cluster_variants(table)) {
    const std::string labels = v.k == 3 ? std::to_string(v.labels) : "-";
    report.text += fmt::format("  {:<64}{:>3}{:>12.3f}{:>12}{:>10}{:>10}{:>11.2f}\n", v.name, v.k,
                               v.silhouette, labels, v.table_iv, v.table_vii, 100 * v.mae);
    report.json["variants"].push_back(
        {{"clusters", v.name},
         {"k", v.k},
         {"inertia", rounded(v.inertia, 3)},
         {"silhouette", rounded(v.silhouette)},
         {"printed_labels", v.k == 3 ? Json(v.labels) : Json(nullptr)},
         {"table_iv", v.table_iv},
         {"table_vii", v.table_vii},
         {"mae_isd", rounded(v.mae)}});
  }

  LineChart chart;
  chart.title = "How many clusters? The authors' 175 samples";
  LinePanel inertia{"Distortion", "k", "inertia / inertia of one cluster", false, false, {}};
  LinePanel silhouette{"Silhouette", "k", "mean silhouette", false, false, {}};
  for (const auto* c : {&curve, &scaled}) {
    LineSeries a{c == &curve ? "as measured" : "standardised", {}};
    LineSeries b = a;
    for (const ClusterCount& point : *c) {
      a.points.push_back({static_cast<double>(point.k), point.inertia / c->front().inertia});
      if (point.k > 1) b.points.push_back({static_cast<double>(point.k), point.silhouette});
    }
    inertia.series.push_back(std::move(a));
    silhouette.series.push_back(std::move(b));
  }
  chart.panels = {inertia, silhouette};
  report.figure = svg_line_chart(chart);
  return report;
}

// ---- interference -------------------------------------------------------------------------------

Report interference_report() {
  Report report;
  report.json["claims"] = Json::array();
  WorkloadKeys keys;
  const std::vector<CorunMeasurement> jrs = paper_measurements(keys, kJrsKnowledgeBase);
  const std::vector<CorunMeasurement> prirect = paper_measurements(keys, kPrirectKnowledgeBase);
  std::vector<CorunMeasurement> both = jrs;
  both.insert(both.end(), prirect.begin(), prirect.end());
  report.text = fmt::format(
      "each pair left out and predicted by the mean of its clusters over the others\n"
      "  {:<10}{:>6}{:>11}{:>14}{:>27}{:>11}{:>14}\n",
      "pairs of", "n", "MAE ISD %", "overall mean", "overall - clusters [95 %]", "MAE PS %",
      "overall mean");
  std::string covered = fmt::format(
      "\nhow often the 90 % interval of the others holds it\n  {:<10}{:>8}{:>8}{:>8}"
      "{:>9}{:>8}{:>8}{:>8}\n",
      "pairs of", "ISD", "below", "above", "of", "PS", "outside", "of");
  report.json["leave_one_out"] = Json::array();
  struct Named {
    const char* name;
    const std::vector<CorunMeasurement>* rows;
  };
  for (const Named& n : {Named{"jrs", &jrs}, Named{"prirect", &prirect}, Named{"both", &both}}) {
    const LeaveOneOut l = leave_one_pair_out(*n.rows, paper_clusters(), Labels::kPrinted);
    report.text += fmt::format(
        "  {:<10}{:>6}{:>11.2f}{:>14.2f}{:>27}{:>11.2f}{:>14.2f}\n", n.name, l.pairs,
        100 * l.mae_isd, 100 * l.mae_isd_overall,
        fmt::format("{:.1f} [{:.1f}, {:.1f}]", 100 * l.gain.mean, 100 * l.gain.lo, 100 * l.gain.hi),
        100 * l.mae_ps, 100 * l.mae_ps_overall);
    covered += fmt::format("  {:<10}{:>7.0f}%{:>8}{:>8}{:>9}{:>7.0f}%{:>8}{:>8}\n", n.name,
                           100 * l.covered_isd(), l.isd_below, l.isd_above, l.intervals_isd,
                           100 * l.covered_ps(), l.ps_below + l.ps_above, l.intervals_ps);
    report.json["leave_one_out"].push_back(
        {{"rows", n.name},
         {"pairs", l.pairs},
         {"mae_isd", rounded(l.mae_isd)},
         {"mae_isd_overall_mean", rounded(l.mae_isd_overall)},
         {"gain",
          {{"mean", rounded(l.gain.mean)}, {"lo", rounded(l.gain.lo)}, {"hi", rounded(l.gain.hi)}}},
         {"mae_ps", rounded(l.mae_ps)},
         {"mae_ps_overall_mean", rounded(l.mae_ps_overall)},
         {"covered_isd", rounded(l.covered_isd())},
         {"covered_ps", rounded(l.covered_ps())}});
  }
  report.text += covered;
  for (const Named& n : {Named{"prirect", &prirect}, Named{"jrs", &jrs}}) {
    const KnowledgeBase kb = build_knowledge_base(*n.rows);
    const auto isd = ranked_isd(kb);
    const auto ps = ranked_ps(kb);
    const auto said = [](const ClusterPairKnowledge& p, const char* joint) {
      return fmt::format("{} {} {} ({:.1f} %, {} observed)", p.cluster, joint, p.partner,
                         100 * p.statistic->mean(), p.statistic->count());
    };
    const auto rank = [](const std::vector<ClusterPairKnowledge>& pairs, int a, int b) {
      const auto it = std::find_if(pairs.begin(), pairs.end(),
                                   [&](const auto& p) { return p.cluster == a && p.partner == b; });
      return *it;
    };
    const auto median = std::min_element(isd.begin(), isd.end(), [](const auto& a, const auto& b) {
      return a.statistic->quantile(0.5) < b.statistic->quantile(0.5);
    });
    const ClusterPairKnowledge one = rank(isd, 1, 2);
    const ClusterPairKnowledge two = rank(isd, 2, 1);
    claim(
        report,
        fmt::format("jobs of cluster 1 beside cluster 2 show the least ISD ({} tables)", n.name),
        isd.front().cluster == 1 && isd.front().partner == 2,
        fmt::format("least mean: {}; {} is rank {}, {} rank {} of {}; least median: {} beside {}, "
                    "{:.1f} % (2 beside 1: {:.1f} %)",
                    said(isd.front(), "beside"), said(one, "beside"), one.rank, said(two, "beside"),
                    two.rank, isd.size(), median->cluster, median->partner,
                    100 * median->statistic->quantile(0.5), 100 * two.statistic->quantile(0.5)));
    const ClusterPairKnowledge together = rank(ps, 1, 2);
    claim(report,
          fmt::format("jobs of clusters 1 and 2 together save the most ({} tables)", n.name),
          ps.front().cluster == 1 && ps.front().partner == 2,
          fmt::format("most: {}; {} is rank {} of {}", said(ps.front(), "with"),
                      said(together, "with"), together.rank, ps.size()));
  }
  report.figure = knowledge_figure(build_knowledge_base(prirect),
                                   "PriRecT Tables III and IV by pair of clusters");
  return report;
}

// ---- privacy ------------------------------------------------------------------------------------

/// What the model is for: PriRecT section III-A.
std::string category_of(std::string_view model) {
  if (model.starts_with("SmallBERT")) return "language";
  if (model == "DCGAN") return "generation";
  if (model == "ImageSeg") return "segmentation";
  if (model == "RL-CartPole") return "reinforcement";
  return "classification";
}

std::string family_of(std::string_view model) {
  return model.starts_with("SmallBERT") ? "SmallBERT" : std::string(model);
}

Report privacy_report(const ProfileTable& whole) {
  Report report;
  constexpr std::size_t kMost = 1000;
  std::string note;
  const ProfileTable table = usable_rows(whole, kMost, note);
  report.json["claims"] = Json::array();
  const SampleSet samples = draw_samples(table, {});
  const std::vector<double> rows = feature_rows(samples);
  const MatrixView view{rows, samples.profiles.size(), kFeatures};
  if (samples.profiles.size() < 2) {
    throw InputError(table.source, "one profile: there is nobody to take it for");
  }
  report.text = note + fmt::format(
                           "guessing what a job is from its three \"private\" features: each of {} "
                           "measured profiles\n"
                           "from the others, by the nearest neighbours\n  "
                           "{:<10}{:>8}{:>15}{:>12}{:>10}{:>11}{:>11}{:>13}\n",
                           samples.profiles.size(), "guess", "classes", "features", "neighbours",
                           "right", "majority", "by chance", "p v. chance");
  report.json["guesses"] = Json::array();
  struct Target {
    const char* name;
    std::string (*label)(std::string_view);
  };
  double best_family = 0;
  double worst_family = 1;
  constexpr double kLeastP = 0.001;  // that 999 permutations can show
  double chance = 0;
  std::map<std::string, std::pair<double, int>> by_family;  // guessed right by the nearest, of
  for (const Target& target : {Target{"family", family_of}, Target{"task", category_of}}) {
    std::map<std::string, int> numbers;
    std::vector<int> labels;
    for (const WorkloadOrigin& origin : samples.origins) {
      if (origin.model.empty()) {
        throw InputError(table.source,
                         "a profile has no model, which is to be guessed; fill it in or "
                         "leave the row out");
      }
      labels.push_back(numbers.emplace(target.label(origin.model), static_cast<int>(numbers.size()))
                           .first->second);
    }
    for (const bool standard : {false, true}) {
      for (const int k : {1, 3, 5}) {
        ReidentificationOptions options;
        options.neighbours = k;
        options.standardise = standard;
        options.seed = 1;
        const Reidentification r = reidentify(view, labels, {}, options);
        if (target.label == family_of) {
          best_family = std::max(best_family, r.accuracy);
          worst_family = std::min(worst_family, r.accuracy);
          chance = r.majority;
          for (std::size_t i = 0; i < labels.size() && k == 1 && !standard; ++i) {
            auto& [right, of] = by_family[family_of(samples.origins[i].model)];
            right += r.right[i];
            ++of;
          }
        }
        report.text +=
            fmt::format("  {:<10}{:>8}{:>15}{:>12}{:>9.1f}%{:>10.1f}%{:>10.1f}%{:>13}\n",
                        target.name, numbers.size(), standard ? "standardised" : "as measured", k,
                        100 * r.accuracy, 100 * r.majority, 100 * r.permuted,
                        fmt::format("{}{:.3f}", r.p_value <= kLeastP ? "<= " : "", r.p_value));
        report.json["guesses"].push_back({{"guess", target.name},
                                          {"classes", numbers.size()},
                                          {"standardised", standard},
                                          {"neighbours", k},
                                          {"right", rounded(r.accuracy)},
                                          {"majority", rounded(r.majority)},
                                          {"permuted", rounded(r.permuted)},
                                          {"p_value", rounded(r.p_value)}});
      }
    }
  }
  std::vector<std::string> shares;
  for (const auto& [family, right] : by_family) {
    shares.push_back(fmt::format("{} {:g} of {}", family, right.first, right.second));
    report.json["by_family"][family] = {right.first, right.second};
  }
  report.text +=
      fmt::format("\nby the nearest neighbour, as measured: {}\n", fmt::join(shares, ", "));
  claim(report,
        "the three features do not give the model family away (the papers call them private)",
        best_family <= 2 * chance,
        fmt::format("the family is guessed right for {:.0f} to {:.0f} % of the profiles by the six "
                    "settings; always guessing the most frequent one would be right for {:.0f} %",
                    100 * worst_family, 100 * best_family, 100 * chance));
  return report;
}

}  // namespace

int kb_eval_command(const std::vector<std::string>& arguments) {
  static constexpr std::array<std::string_view, 5> kSections{"features", "synthetic", "clusters",
                                                             "interference", "privacy"};
  CommandLine command;
  command.name = "kb eval";
  command.usage = "corun kb eval features|synthetic|clusters|interference|privacy [options]";
  command.summary =
      "How well each step from profiles to recommendations works, and whether what the papers say\n"
      "of it holds:\n"
      "  features      which attributes tell of GPU utilisation and memory (PriRecT fig. 2)\n"
      "  synthetic     the blind test of synthetic profiles (PriRecT Table II, fig. 3; JRS fig. "
      "2)\n"
      "  clusters      how many; Tables IV and VII of JRS from raw profiles; other ways to "
      "cluster\n"
      "  interference  how well cluster means predict a pair left out; which pairs cost least\n"
      "  privacy       how well the model is guessed from the three features\n"
      "All but `interference` need the profiles of the Futurewei mini-ML Workload Dataset.";
  command.examples =
      "  corun kb eval interference\n"
      "  corun kb eval clusters                          needs the data directory, see --data\n"
      "  corun kb eval features --figure ranking.svg     all attributes, as PriRecT's figure 2\n";
  command.positional = "section";
  command.configured = false;
  auto add = command.own.add_options();
  add("profiles", po::value<std::string>(),
      "table of profiles; default: alnair/alnair_dataset.csv of the data directory");
  add("figure", po::value<std::string>(), "write the section's figure to this SVG");
  CommonOptions common;
  const auto parsed = parse_command_line(command, arguments, common);
  if (!parsed) return kDone;
  const std::string section =
      parsed->count("section") != 0 ? (*parsed)["section"].as<std::string>() : "";
  if (std::find(kSections.begin(), kSections.end(), section) == kSections.end()) {
    throw InputError(
        "corun kb eval",
        section.empty()
            ? fmt::format("which section? One of {}", fmt::join(kSections, ", "))
            : "no section '" + printable(section) + "': " + did_you_mean(section, kSections));
  }
  const std::string figure =
      parsed->count("figure") != 0
          ? checked_output_path((*parsed)["figure"].as<std::string>(), "--figure")
          : "";
  choose_device(common.device);
  std::vector<NamedFile> outputs;
  if (!figure.empty()) outputs.push_back({"--figure", figure});
  if (common.output) {
    outputs.push_back({"--output", *common.output});
    checked_output_path(*common.output, "--output");
  }
  std::vector<NamedFile> inputs;
  if (parsed->count("profiles") != 0) {
    inputs.push_back({"--profiles", (*parsed)["profiles"].as<std::string>()});
    if (section == "interference") {
      throw InputError("--profiles", "interference takes the papers' co-runs and no profiles");
    }
  }
  check_outputs_differ(outputs, inputs);
  Report report;
  if (section == "interference") {
    report = interference_report();
  } else {
    std::string path = common.data.empty() ? "" : common.data + "/" + std::string(kDataSet);
    std::error_code error;
    if (parsed->count("profiles") != 0) {
      path = (*parsed)["profiles"].as<std::string>();
    } else if (path.empty() || !std::filesystem::exists(path, error)) {
      throw InputError(
          "corun kb eval",
          fmt::format("{} is not in the data directory{}; give --profiles FILE, --data "
                      "DIR or CORUN_DATA",
                      kDataSet, path.empty() ? " (there is none)" : ""));
    }
    const ProfileTable table = read_profile_csv(path);
    report = section == "features"    ? features_report(table, common.threads, common.quiet)
             : section == "synthetic" ? synthetic_report(table)
             : section == "clusters"  ? clusters_report(table)
                                      : privacy_report(table);
  }
  if (!figure.empty()) {
    if (report.figure.empty()) throw InputError("--figure", "section " + section + " has none");
    write_file_atomically(figure, report.figure);
  }
  if (common.format == Format::kJson) {
    emit(common, report.json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n");
  } else if (common.format == Format::kCsv) {
    std::string out = "claim,holds,shown_by\n";
    for (const Json& c : report.json["claims"]) {
      out += csv_text(c["claim"].get<std::string>()) + "," + yes(c["holds"].get<bool>()) + "," +
             csv_text(c["shown_by"].get<std::string>()) + "\n";
    }
    emit(common, out);
  } else {
    emit(common, report.text);
  }
  return kDone;
}

}  // namespace corun
