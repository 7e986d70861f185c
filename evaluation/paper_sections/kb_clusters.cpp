#include "evaluation/paper_sections/kb_clusters.hpp"

#include <algorithm>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "evaluation/paper_sections/cluster_variants.hpp"
#include "evaluation/paper_sections/paper_groups.hpp"
#include "knowledge/profile_clustering.hpp"
#include "models/knowledge/kmeans.hpp"
#include "support/charts/svg_chart.hpp"
#include "support/json.hpp"
#include "traces/paper_workloads.hpp"

namespace corun::inline evaluation {

namespace {

constexpr int kMostClusters = 10;

/// Distortion by number of clusters, for raw and for standardised features.
struct Curves {
  std::vector<ClusterCount> raw;
  std::vector<ClusterCount> standardised;
};

Curves curves_of(const SampleSet& samples) {
  const std::vector<double> rows = feature_rows(samples);
  return {distortion_curve(rows, kFeatures, kMostClusters, {1, 200, 1}),
          distortion_curve(standardised_rows(rows), kFeatures, kMostClusters, {1, 200, 1})};
}

void add_curves(StudySection& section, const SampleSet& samples, const Curves& curves) {
  section.text += fmt::format("the authors' {} samples\n  {:>3}{:>12}{:>12}{:>18}{:>12}\n",
                              samples.profiles.size(), "k", "inertia", "silhouette", "standardised",
                              "silhouette");
  section.json["curve"] = Json::array();
  for (std::size_t i = 0; i < curves.raw.size(); ++i) {
    const ClusterCount& raw = curves.raw[i];
    const ClusterCount& scaled = curves.standardised[i];
    section.text += fmt::format("  {:>3}{:>12.0f}{:>12.3f}{:>18.1f}{:>12.3f}\n", raw.k, raw.inertia,
                                raw.silhouette, scaled.inertia, scaled.silhouette);
    section.json["curve"].push_back({{"k", raw.k},
                                     {"inertia", rounded(raw.inertia, 3)},
                                     {"silhouette", rounded(raw.silhouette)},
                                     {"inertia_standardised", rounded(scaled.inertia)},
                                     {"silhouette_standardised", rounded(scaled.silhouette)}});
  }
  const int bend = elbow(curves.raw);
  section.json["elbow"] = bend;
  const auto best =
      std::max_element(curves.raw.begin() + 1, curves.raw.end(),
                       [](const auto& a, const auto& b) { return a.silhouette < b.silhouette; });
  section.claim("the elbow of the distortion is at three clusters (PriRecT III-D)", bend == 3,
                fmt::format("farthest below the chord over k = 1 to {}: {} (over k = 1 to 7: {}); "
                            "the silhouette prefers {}",
                            kMostClusters, bend, elbow(std::span(curves.raw).first(7)), best->k));
}

/// k-means from the authors' centres, and corun's best optimum.
struct Solutions {
  ClusteringResult from_centres;
  ClusteringResult own;
};

Solutions solutions_of(const SampleSet& samples) {
  ClusteringOptions authors;
  authors.start = printed_clusters().centres;
  return {cluster_samples(samples, authors), cluster_samples(samples, {})};
}

void add_labels(StudySection& section, const Solutions& found) {
  const std::size_t of_authors = printed_labels_kept(found.from_centres.clusters);
  const std::size_t of_own = printed_labels_kept(found.own.clusters);
  section.claim(
      "k-means on the samples gives the printed labels",
      found.from_centres.start_was_fixed && of_authors == 52,
      fmt::format("from the authors' centres a fixed point (inertia {:.0f}) with {} of 52; the "
                  "best optimum (inertia {:.0f}) with {} of 52",
                  found.from_centres.inertia, of_authors, found.own.inertia, of_own));
}

/// How many groups of JRS Tables IV and VII follow from the raw profiles.
struct KeptGroups {
  std::size_t table_iv = 0;
  std::size_t table_vii = 0;
};

KeptGroups kept_groups(const SampleSet& samples, const Clusters& clusters,
                       QueueOverrides overrides) {
  const std::vector<Profile> profiles = queue_profiles(samples);
  const auto kept = [&](const PaperFilter& learnt_from, std::string_view policy,
                        std::string_view pairing, std::string_view table) {
    WorkloadKeys keys;
    KnowledgeBase kb(clusters);
    learn_rows(kb, paper_measurements(keys, learnt_from), Labels::kFromProfile);
    return groups_in_common(recommend_queue(kb, profiles, overrides, policy, pairing), table);
  };
  return {kept(kJrsKnowledgeBase, "min-slowdown", "matching", "JRS-IV"),
          kept(kPrirectKnowledgeBase, "balance", "greedy-rank", "JRS-VII")};
}

void add_groups(StudySection& section, const SampleSet& samples, const Solutions& found) {
  Clusters printed = found.from_centres.clusters;
  printed.distance_centres = found.own.clusters.centres;
  const KeptGroups given = kept_groups(samples, printed, QueueOverrides::kPrinted);
  const KeptGroups alone = kept_groups(samples, printed, QueueOverrides::kNone);
  section.json["table_iv"] = {{"with_overrides", given.table_iv},
                              {"profiles_alone", alone.table_iv}};
  section.json["table_vii"] = {{"with_overrides", given.table_vii},
                               {"profiles_alone", alone.table_vii}};
  section.claim(
      "from raw profiles and co-run tables come JRS Tables IV and VII",
      given.table_iv == 12 && given.table_vii == 12,
      fmt::format("{} and {} of 12 groups when the four autoencoders (no profile published) and "
                  "J4-869 (another job's distance printed) are given; {} and {} without",
                  given.table_iv, given.table_vii, alone.table_iv, alone.table_vii));
}

void add_cluster_variants(StudySection& section, const ProfileTable& table) {
  section.text += fmt::format(
      "\nother ways to cluster, and what they change\n"
      "  {:<64}{:>3}{:>12}{:>12}{:>10}{:>10}{:>11}\n",
      "clusters", "k", "silhouette", "labels /52", "IV /12", "VII /12", "MAE ISD %");
  section.json["variants"] = Json::array();
  for (const ClusterVariant& v : cluster_variants(table)) {
    const std::string labels = v.k == 3 ? std::to_string(v.labels) : "-";
    section.text += fmt::format("  {:<64}{:>3}{:>12.3f}{:>12}{:>10}{:>10}{:>11.2f}\n", v.name, v.k,
                                v.silhouette, labels, v.table_iv, v.table_vii, 100 * v.mae);
    section.json["variants"].push_back(
        {{"clusters", v.name},
         {"k", v.k},
         {"inertia", rounded(v.inertia, 3)},
         {"silhouette", rounded(v.silhouette)},
         {"printed_labels", v.k == 3 ? Json(v.labels) : Json(nullptr)},
         {"table_iv", v.table_iv},
         {"table_vii", v.table_vii},
         {"mae_isd", rounded(v.mae)}});
  }
}

std::string figure_of(const Curves& curves) {
  LineChart chart;
  chart.title = "How many clusters? The authors' 175 samples";
  LinePanel inertia{"Distortion", "k", "inertia / inertia of one cluster", false, false, {}};
  LinePanel silhouette{"Silhouette", "k", "mean silhouette", false, false, {}};
  const auto add = [&](const char* name, const std::vector<ClusterCount>& curve) {
    LineSeries a{name, {}};
    LineSeries b{name, {}};
    for (const ClusterCount& point : curve) {
      const auto k = static_cast<double>(point.k);
      a.points.push_back({k, point.inertia / curve.front().inertia});
      if (point.k > 1) b.points.push_back({k, point.silhouette});
    }
    inertia.series.push_back(std::move(a));
    silhouette.series.push_back(std::move(b));
  };
  add("as measured", curves.raw);
  add("standardised", curves.standardised);
  chart.panels = {inertia, silhouette};
  return svg_line_chart(chart);
}

}  // namespace

StudySection clusters_section(const ProfileTable& profiles) {
  StudySection section;
  const SampleSet samples = draw_samples(profiles, {"paper", SampleAxis::kRow, 4});
  const Curves curves = curves_of(samples);
  add_curves(section, samples, curves);
  const Solutions found = solutions_of(samples);
  add_labels(section, found);
  add_groups(section, samples, found);
  add_cluster_variants(section, profiles);
  section.figure = figure_of(curves);
  return section;
}

}  // namespace corun::inline evaluation
