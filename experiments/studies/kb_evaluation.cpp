#include "experiments/studies/kb_evaluation.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <memory>
#include <set>

#include <fmt/format.h>

#include "models/knowledge/cluster_mean_belief.hpp"
#include "policies/catalog.hpp"
#include "policies/recommender.hpp"
#include "traces/measured/paper_tables.hpp"
#include "traces/paper_workloads.hpp"

namespace corun {

namespace {

constexpr std::string_view kMisprinted = "J4-869";  ///< printed with another job's distance

std::string sample_name(std::string_view model, int batch_size) {
  return fmt::format("{}-{}", model, batch_size);
}

/// What stands in for the autoencoders where the printed clusters mean nothing.
Profile stand_in() {
  const FeatureVector& c = paper_clusters().centres[0];
  return {c[0], c[1], c[2], {}, true};
}

std::vector<CorunMeasurement> table_rows(const PaperFilter& filter) {
  WorkloadKeys keys;
  return paper_measurements(keys, filter);
}

}  // namespace

// ---- from raw profiles to Tables IV and VII -----------------------------------------------------

std::vector<Profile> queue_profiles(const SampleSet& samples) {
  std::map<std::string, const Profile*> by_name;
  for (std::size_t i = 0; i < samples.names.size(); ++i) {
    by_name.emplace(samples.names[i], &samples.profiles[i]);
  }
  std::vector<Profile> profiles;
  for (const QueueJob& job : jrs_queue()) {
    const auto at = by_name.find(sample_name(job.model, job.batch_size));
    profiles.push_back(at == by_name.end() ? Profile{} : *at->second);
  }
  return profiles;
}

NamedGroups recommend_queue(const KnowledgeBase& kb, const std::vector<Profile>& profiles,
                            QueueOverrides overrides, std::string_view policy,
                            std::string_view pairing) {
  std::vector<ClusterAssignment> assignments;
  std::vector<JobView> faces;
  std::vector<JobId> waiting;
  for (std::size_t j = 0; j < profiles.size(); ++j) {
    const QueueJob& job = jrs_queue()[j];
    ClusterAssignment a = assign_cluster(kb.clustering(), profiles[j]);
    if (overrides == QueueOverrides::kPrinted) {
      if (!has_features(profiles[j])) a.cluster = job.cluster;
      if (!has_features(profiles[j]) || job.id == kMisprinted) a.uncertainty = job.uncertainty;
    }
    assignments.push_back(a);
    JobView face;
    face.id = static_cast<JobId>(j);
    face.gpus = 1;
    face.profile = profiles[j];
    faces.push_back(face);
    waiting.push_back(face.id);
  }
  const PolicyEntry& entry = *find_policy(policy);
  PolicyContext context{Parameters(entry.parameters),
                        std::make_unique<ClusterMeanBelief>(kb, std::move(assignments)), 1, false};
  context.parameters.set("pairing", std::string(pairing));
  const std::unique_ptr<Policy> made = entry.make(std::move(context));
  ClusterSpec cluster;
  cluster.nodes.assign(1, NodeSpec{});
  cluster.nodes.front().gpus = 1;
  const ClusterState idle(cluster);
  const ClusterView view(Time{0}, StartMode::kGroup, waiting, faces, idle, 0, 1);
  NamedGroups groups;
  for (const Group& group :
       dynamic_cast<const Recommender&>(*made).plan(view, waiting, 0, waiting.size())) {
    std::vector<std::string> names;
    for (const JobId id : group.jobs) names.emplace_back(jrs_queue()[index(id)].id);
    std::sort(names.begin(), names.end());
    groups.push_back(std::move(names));
  }
  return groups;
}

std::size_t groups_in_common(const NamedGroups& groups, std::string_view table) {
  const std::set<std::vector<std::string>> ours(groups.begin(), groups.end());
  std::size_t common = 0;
  for (const PaperScheduleGroup& group : paper_schedule(table).groups) {
    std::vector<std::string> jobs = group.jobs;
    std::sort(jobs.begin(), jobs.end());
    common += ours.count(jobs);
  }
  return common;
}

// ---- what another analyst would have done -------------------------------------------------------

std::size_t printed_labels_kept(const Clusters& clusters) {
  // Every profiled job has one printed label, wherever it is printed.
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
  struct Way {
    std::string name;
    SampleOptions samples;
    ClusteringOptions clustering;
    bool silhouette_k = false;
  };
  std::vector<Way> ways;
  const SampleOptions paper{"paper", SampleAxis::kRow, 4};
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

  const std::vector<CorunMeasurement> jrs = table_rows(kJrsKnowledgeBase);
  const std::vector<CorunMeasurement> prirect = table_rows(kPrirectKnowledgeBase);
  std::vector<ClusterVariant> variants;
  for (Way& way : ways) {
    const SampleSet samples = draw_samples(table, way.samples);
    std::vector<double> rows = feature_rows(samples);
    if (way.clustering.standardise) rows = standardised_rows(rows);
    if (way.silhouette_k) {
      constexpr int kMost = 6;
      double best = -2;
      for (const ClusterCount& c :
           distortion_curve(rows, kFeatures, kMost, {1, way.clustering.restarts, 1})) {
        if (c.k > 1 && c.silhouette > best) {
          best = c.silhouette;
          way.clustering.k = c.k;
        }
      }
    }
    const ClusteringResult found = cluster_samples(samples, way.clustering);
    ClusterVariant v;
    v.name = way.name;
    v.k = found.clusters.count();
    v.inertia = found.inertia;
    v.silhouette = mean_silhouette(rows, kFeatures, found.labels);
    const bool three = v.k == paper_clusters().count();
    if (three) v.labels = printed_labels_kept(found.clusters);
    // The queue's profiles are the papers' in every variant: what changes is what is made of them.
    std::vector<Profile> profiles = queue_profiles(draw_samples(table, paper));
    const bool printed_distances =
        three && !way.clustering.standardise && way.clustering.rule == Uncertainty::kAllCentres;
    if (!printed_distances) {
      for (Profile& p : profiles) {
        if (!has_features(p)) p = stand_in();
      }
    }
    const auto overrides = printed_distances ? QueueOverrides::kPrinted : QueueOverrides::kNone;
    KnowledgeBase jrs_kb(found.clusters);
    learn_rows(jrs_kb, jrs, Labels::kFromProfile);
    KnowledgeBase prirect_kb(found.clusters);
    learn_rows(prirect_kb, prirect, Labels::kFromProfile);
    v.table_iv = groups_in_common(
        recommend_queue(jrs_kb, profiles, overrides, "min-slowdown", "matching"), "JRS-IV");
    v.table_vii = groups_in_common(
        recommend_queue(prirect_kb, profiles, overrides, "balance", "greedy-rank"), "JRS-VII");
    v.mae = leave_one_pair_out(jrs, found.clusters, Labels::kFromProfile).mae_isd;
    variants.push_back(std::move(v));
  }
  return variants;
}

// ---- how well the cluster means predict ---------------------------------------------------------

LeaveOneOut leave_one_pair_out(std::span<const CorunMeasurement> rows, const Clusters& clusters,
                               Labels labels) {
  LeaveOneOut out;
  std::vector<double>
      gained;  // per co-run: error of the overall mean less that of the cluster means
  for (std::size_t left = 0; left < rows.size(); ++left) {
    const auto seen = observe_pair(clusters, rows[left], labels);
    if (!seen) continue;
    KnowledgeBase kb(clusters);
    learn_rows(kb, rows.subspan(0, left), labels);
    learn_rows(kb, rows.subspan(left + 1), labels);
    const auto [a, b] = seen->cluster;
    ++out.pairs;
    double gain = 0;
    for (std::size_t i = 0; i < 2; ++i) {
      const double truth = seen->isd[i];
      const Statistic& s = kb.isd(i == 0 ? a : b, i == 0 ? b : a);
      const double error = std::abs(truth - (s.count() > 0 ? s.mean() : kb.overall_isd()));
      const double overall = std::abs(truth - kb.overall_isd());
      out.mae_isd += error;
      out.mae_isd_overall += overall;
      gain += (overall - error) / 2;
      const PredictionInterval in = isd_interval(kb, i == 0 ? a : b, i == 0 ? b : a);
      if (!std::isfinite(in.lo)) continue;
      ++out.intervals_isd;
      out.isd_below += truth < in.lo ? 1 : 0;
      out.isd_above += truth > in.hi ? 1 : 0;
    }
    gained.push_back(gain);
    const Statistic& s = kb.ps(a, b);
    out.mae_ps += std::abs(seen->ps - (s.count() > 0 ? s.mean() : kb.overall_ps()));
    out.mae_ps_overall += std::abs(seen->ps - kb.overall_ps());
    const PredictionInterval in = ps_interval(kb, a, b);
    if (!std::isfinite(in.lo)) continue;
    ++out.intervals_ps;
    out.ps_below += seen->ps < in.lo ? 1 : 0;
    out.ps_above += seen->ps > in.hi ? 1 : 0;
  }
  const auto share = [](double sum, double n) { return n > 0 ? sum / n : 0; };
  const auto pairs = static_cast<double>(out.pairs);
  out.mae_isd = share(out.mae_isd, 2 * pairs);
  out.mae_isd_overall = share(out.mae_isd_overall, 2 * pairs);
  out.mae_ps = share(out.mae_ps, pairs);
  out.mae_ps_overall = share(out.mae_ps_overall, pairs);
  out.gain = bootstrap_mean(gained, 1);
  return out;
}

}  // namespace corun
