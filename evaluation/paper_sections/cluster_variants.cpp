#include "evaluation/paper_sections/cluster_variants.hpp"

#include <map>
#include <string_view>
#include <utility>

#include "evaluation/paper_sections/leave_one_pair_out.hpp"
#include "evaluation/paper_sections/paper_groups.hpp"
#include "knowledge/profile_clustering.hpp"
#include "models/knowledge/kmeans.hpp"
#include "models/knowledge/knowledge_base.hpp"
#include "traces/paper_workloads.hpp"

namespace corun::inline evaluation {

namespace {

/// One way from profiles to clusters.
struct Way {
  std::string name;
  SampleOptions samples;
  ClusteringOptions clustering;
  bool silhouette_k = false;  ///< k is the one that the silhouette prefers
};

SampleOptions paper_sampling() { return {"paper", SampleAxis::kRow, 4}; }

std::vector<Way> all_ways() {
  const SampleOptions paper = paper_sampling();
  std::vector<Way> ways;
  ClusteringOptions printed;
  printed.start = printed_clusters().centres;
  printed.distance_centres = printed_clusters().distance_centres;
  ways.push_back({"as printed (two solutions of k-means)", paper, printed});
  ways.push_back({"best k-means optimum", paper, {}});
  ClusteringOptions own;
  own.rule = Uncertainty::kOwnCentre;
  ways.push_back({"uncertainty by the own centre", paper, own});
  ways.push_back({"measured profiles only", {"none", SampleAxis::kRow, 4}, {}});
  ways.push_back({"pchip over the row number", {"pchip", SampleAxis::kRow, 4}, {}});
  ways.push_back({"pchip over batch size", {"pchip", SampleAxis::kBatchSize, 4}, {}});
  ClusteringOptions standardised;
  standardised.standardise = true;
  ways.push_back({"standardised features", paper, standardised});
  ways.push_back({"k by silhouette, 2 to 6", paper, {}, true});
  ways.push_back({"pchip over batch size, standardised, k by silhouette",
                  {"pchip", SampleAxis::kBatchSize, 4},
                  standardised,
                  true});
  return ways;
}

int k_by_silhouette(const std::vector<double>& rows, int restarts) {
  constexpr int kMost = 6;
  int k = 1;
  double best = -2;
  for (const ClusterCount& c : distortion_curve(rows, kFeatures, kMost, {1, restarts, 1})) {
    if (c.k > 1 && c.silhouette > best) {
      best = c.silhouette;
      k = c.k;
    }
  }
  return k;
}

/// Replaces the autoencoders' profiles if the printed clusters do not apply: the printed centre of cluster 0.
Profile stand_in() {
  const FeatureVector& c = paper_clusters().centres[0];
  return {c[0], c[1], c[2], {}, true};
}

/// The co-runs of the two papers' knowledge bases.
struct PaperRows {
  std::vector<CorunMeasurement> jrs;
  std::vector<CorunMeasurement> prirect;
};

std::vector<CorunMeasurement> table_rows(const PaperFilter& filter) {
  WorkloadKeys keys;
  return paper_measurements(keys, filter);
}

/// Fills the figures of `variant` that depend on recommendations with these clusters.
void recommend(ClusterVariant& variant, const Way& way, const Clusters& clusters,
               const ProfileTable& table, const PaperRows& rows) {
  const bool three = variant.k == paper_clusters().count();
  if (three) variant.labels = printed_labels_kept(clusters);
  // The queue's profiles are the papers' in every variant; only their clusters change.
  std::vector<Profile> profiles = queue_profiles(draw_samples(table, paper_sampling()));
  const bool printed_distances =
      three && !way.clustering.standardise && way.clustering.rule == Uncertainty::kAllCentres;
  if (!printed_distances) {
    for (Profile& p : profiles) {
      if (!has_features(p)) p = stand_in();
    }
  }
  const auto overrides = printed_distances ? QueueOverrides::kPrinted : QueueOverrides::kNone;
  const auto kept = [&](const std::vector<CorunMeasurement>& learnt, std::string_view policy,
                        std::string_view pairing, std::string_view printed) {
    KnowledgeBase kb(clusters);
    learn_rows(kb, learnt, Labels::kFromProfile);
    return groups_in_common(recommend_queue(kb, profiles, overrides, policy, pairing), printed);
  };
  variant.table_iv = kept(rows.jrs, "min-slowdown", "matching", "JRS-IV");
  variant.table_vii = kept(rows.prirect, "balance", "greedy-rank", "JRS-VII");
  variant.mae = leave_one_pair_out(rows.jrs, clusters, Labels::kFromProfile).mae_isd;
}

ClusterVariant variant_of(Way way, const ProfileTable& table, const PaperRows& learnt) {
  const SampleSet samples = draw_samples(table, way.samples);
  std::vector<double> rows = feature_rows(samples);
  if (way.clustering.standardise) rows = standardised_rows(rows);
  if (way.silhouette_k) way.clustering.k = k_by_silhouette(rows, way.clustering.restarts);
  const ClusteringResult found = cluster_samples(samples, way.clustering);
  ClusterVariant variant;
  variant.name = way.name;
  variant.k = found.clusters.count();
  variant.inertia = found.inertia;
  variant.silhouette = mean_silhouette(rows, kFeatures, found.labels);
  recommend(variant, way, found.clusters, table, learnt);
  return variant;
}

}  // namespace

std::size_t printed_labels_kept(const Clusters& clusters) {
  // Every profiled job has one printed label, the same in all tables.
  std::map<std::pair<std::string_view, int>, int> printed;
  for (const auto pairs : {jrs_pairs(), prirect_pairs()}) {
    for (const PaperPair& pair : pairs) {
      for (const PaperSide* side : {&pair.a, &pair.b}) {
        printed[{side->model, side->batch_size}] = side->cluster;
      }
    }
  }
  for (const QueueJob& job : jrs_queue()) printed[{job.model, job.batch_size}] = job.cluster;
  std::size_t kept = 0;
  for (const PaperProfile& p : paper_profiles()) {
    const Profile profile{p.gpu_util_pct, p.mem_alloc_pct, p.mem_time_pct, {}, false};
    kept +=
        assign_cluster(clusters, profile).cluster == printed.at({p.model, p.batch_size}) ? 1 : 0;
  }
  return kept;
}

std::vector<ClusterVariant> cluster_variants(const ProfileTable& table) {
  const PaperRows rows{table_rows(kJrsKnowledgeBase), table_rows(kPrirectKnowledgeBase)};
  std::vector<ClusterVariant> variants;
  for (Way& way : all_ways()) variants.push_back(variant_of(std::move(way), table, rows));
  return variants;
}

}  // namespace corun::inline evaluation
