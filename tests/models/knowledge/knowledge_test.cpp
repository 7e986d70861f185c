#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <limits>
#include <map>
#include <span>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "models/knowledge/cluster_mean_belief.hpp"
#include "models/knowledge/clusters.hpp"
#include "models/knowledge/knowledge_base.hpp"
#include "traces/paper_workloads.hpp"

namespace corun::knowledge_test {
namespace {

KnowledgeBase jrs_knowledge_base() {
  WorkloadKeys keys;
  return build_knowledge_base(paper_measurements(keys, kJrsKnowledgeBase));
}

TEST(KnowledgeBase, MeansOfJrs) {
  const KnowledgeBase kb = jrs_knowledge_base();
  // Means of the corrected rows of JRS Tables II and III without the duplicate, in percent; [of][beside].
  constexpr std::array<std::array<double, 3>, 3> kIsd{
      {{12.8, 5.2, 23.0}, {16.3, 7.0, 29.3}, {12.7, 11.3, 41.7}}};
  constexpr std::array<std::array<double, 3>, 3> kPs{
      {{28.1, 33.8, 35.1}, {33.8, 36.1, 26.8}, {35.1, 26.8, 24.4}}};
  std::int64_t pairs = 0;
  for (int a = 0; a < 3; ++a) {
    for (int b = 0; b < 3; ++b) {
      const auto i = static_cast<std::size_t>(a);
      const auto j = static_cast<std::size_t>(b);
      EXPECT_NEAR(100 * kb.isd(a, b).mean(), kIsd[i][j], 0.05) << a << " beside " << b;
      // These are means of printed PS, which the papers cut after one digit, so they are up to 0.1 too low.
      EXPECT_NEAR(100 * kb.ps(a, b).mean(), kPs[i][j] + 0.05, 0.1) << a << " with " << b;
      EXPECT_EQ(&kb.ps(a, b), &kb.ps(b, a));
      if (a <= b) pairs += kb.ps(a, b).count();
      // Within a cluster both jobs of a pair count.
      EXPECT_EQ(kb.isd(a, b).count(), (a == b ? 2 : 1) * kb.ps(a, b).count());
    }
  }
  EXPECT_EQ(pairs, 46);
}

TEST(KnowledgeBase, OneByOneIsTheSameAsAtOnce) {
  WorkloadKeys keys;
  const auto rows = paper_measurements(keys, kAllPapers);
  const KnowledgeBase at_once = build_knowledge_base(rows);
  KnowledgeBase one_by_one(paper_clusters());
  struct Observation {
    int of, beside;
    double isd;
  };
  std::vector<Observation> seen;
  for (const CorunMeasurement& row : rows) {
    if (row.members.size() != 2) continue;
    const CorunMember& a = row.members[0];
    const CorunMember& b = row.members[1];
    const double isd_a = a.corun_s / a.solo_s - 1;
    const double isd_b = b.corun_s / b.solo_s - 1;
    one_by_one.observe(a.cluster, b.cluster, isd_a, isd_b,
                       1 - std::max(a.corun_s, b.corun_s) / (a.solo_s + b.solo_s));
    seen.push_back({a.cluster, b.cluster, isd_a});
    seen.push_back({b.cluster, a.cluster, isd_b});
  }
  double all = 0;
  for (const Observation& o : seen) all += o.isd / static_cast<double>(seen.size());
  EXPECT_NEAR(at_once.overall_isd(), all, 1e-12);
  for (int a = 0; a < 3; ++a) {
    for (int b = 0; b < 3; ++b) {
      const Statistic& x = at_once.isd(a, b);
      const Statistic& y = one_by_one.isd(a, b);
      EXPECT_EQ(x.count(), y.count());
      EXPECT_NEAR(x.mean(), y.mean(), 1e-12);
      EXPECT_NEAR(x.variance(), y.variance(), 1e-12);
      EXPECT_NEAR(at_once.ps(a, b).mean(), one_by_one.ps(a, b).mean(), 1e-12);
      // Equal to two passes over all observations.
      double mean = 0;
      double square = 0;
      double count = 0;
      for (const Observation& o : seen) {
        if (o.of != a || o.beside != b) continue;
        mean += o.isd;
        count += 1;
      }
      mean /= count;
      for (const Observation& o : seen) {
        if (o.of == a && o.beside == b) square += (o.isd - mean) * (o.isd - mean);
      }
      EXPECT_NEAR(y.mean(), mean, 1e-12);
      EXPECT_NEAR(y.variance(), square / (count - 1), 1e-12);
    }
  }
}

TEST(KnowledgeBase, TwoJobsOfOneCoRunAreOneObservation) {
  KnowledgeBase kb(paper_clusters());
  kb.observe(0, 0, 0.1, 0.2, 0.3);
  kb.observe(0, 0, 0.3, 0.4, 0.3);
  EXPECT_EQ(kb.isd(0, 0).count(), 4);
  EXPECT_TRUE(std::isnan(isd_interval(kb, 0, 0).lo)) << "two co-runs promise nothing";
  kb.observe(0, 0, 0.2, 0.3, 0.3);
  // Six ISDs of three co-runs: mean 0.25, t(0.95, 2) = 2.920.
  const double s = std::sqrt(kb.isd(0, 0).variance());
  EXPECT_NEAR(isd_interval(kb, 0, 0).hi, 0.25 + 2.919986 * s * std::sqrt(1 + 1.0 / 3), 1e-5);
  EXPECT_GE(isd_interval(kb, 0, 0).lo, 0);
  EXPECT_NEAR(isd_probability(kb, 0, 0, isd_interval(kb, 0, 0).hi), 0.95, 1e-9);
  EXPECT_NEAR(isd_probability(kb, 0, 0, 0.25), 0.5, 1e-9);
  EXPECT_TRUE(std::isnan(isd_probability(kb, 0, 1, 1)));
  EXPECT_LE(ps_interval(kb, 0, 0).hi, 0.5);
}

TEST(KnowledgeBase, OlderCoRunsFadeOnceEach) {
  constexpr double kDecay = 0.5;
  KnowledgeBase kb(paper_clusters(), kDecay);
  kb.observe(1, 1, 0.0, 0.0, 0.5);
  kb.observe(1, 1, 0.4, 0.8, 0.2);
  // The new co-run's two jobs count 1 each, the old one's a half each.
  EXPECT_NEAR(kb.isd(1, 1).mean(), (0.4 + 0.8) / 3, 1e-15);
  EXPECT_NEAR(kb.ps(1, 1).mean(), (0.5 * 0.5 + 0.2) / 1.5, 1e-15);
}

TEST(KnowledgeBase, EmptyKnowsNothing) {
  const KnowledgeBase kb(paper_clusters());
  EXPECT_EQ(kb.overall_isd(), 0);
  EXPECT_EQ(kb.overall_ps(), 0);
  EXPECT_EQ(kb.isd(0, 0).count(), 0);
  EXPECT_EQ(kb.isd(0, 0).variance(), 0);
}

/// Jobs 0, 1, 2 of clusters 0, 1, 2.
ClusterMeanBelief belief_of(KnowledgeBase kb) {
  std::vector<ClusterAssignment> assignments(3);
  for (int c = 0; c < 3; ++c) {
    assignments[static_cast<std::size_t>(c)].cluster = c;
    assignments[static_cast<std::size_t>(c)].uncertainty = 10 * (c + 1);
  }
  return {std::move(kb), std::move(assignments)};
}

TEST(ClusterMeanBelief, UnobservedPairTakesTheOverallMeanAndIsMarked) {
  KnowledgeBase kb(paper_clusters());
  kb.observe(0, 0, 0.1, 0.2, 0.3);
  kb.observe(0, 1, 0.5, 0.4, 0.1);
  const ClusterMeanBelief belief = belief_of(kb);
  const PairBelief known = belief.pair(JobId{1}, JobId{0});
  EXPECT_TRUE(known.observed);
  EXPECT_DOUBLE_EQ(known.isd_a, 0.4);
  EXPECT_DOUBLE_EQ(known.isd_b, 0.5);
  EXPECT_DOUBLE_EQ(known.ps, 0.1);
  const PairBelief unknown = belief.pair(JobId{1}, JobId{2});
  EXPECT_FALSE(unknown.observed);
  EXPECT_DOUBLE_EQ(unknown.isd_a, (0.1 + 0.2 + 0.5 + 0.4) / 4);
  EXPECT_DOUBLE_EQ(unknown.isd_b, unknown.isd_a);
  EXPECT_DOUBLE_EQ(unknown.ps, 0.2);
  ASSERT_NE(belief.as_clusters(), nullptr);
  EXPECT_EQ(belief.as_clusters()->cluster(JobId{2}), 2);
  EXPECT_EQ(belief.as_clusters()->uncertainty(JobId{2}), 30);
}

// ISDs of (0, 1): 0.1 and 0.5, mean 0.3, sd 0.4 / sqrt(2). Of (1, 0): 0.4 twice. PS 0.1 and 0.3.
// (1, 1) was seen once, (1, 2) never: the spread of all six ISDs, of all three PS.
TEST(ClusterMeanBelief, SpreadsAreThoseOfTheStatistics) {
  KnowledgeBase kb(paper_clusters());
  ClusterMeanBelief none = belief_of(kb);
  EXPECT_EQ(none.pair(JobId{0}, JobId{1}).sd_a, 0);
  kb.observe(0, 1, 0.1, 0.4, 0.1);
  kb.observe(0, 1, 0.5, 0.4, 0.3);
  kb.observe(1, 1, 1.0, 1.2, 0.2);
  const ClusterMeanBelief belief = belief_of(kb);
  const PairBelief known = belief.pair(JobId{1}, JobId{0});
  EXPECT_DOUBLE_EQ(known.sd_a, 0);
  EXPECT_DOUBLE_EQ(known.sd_b, 0.4 / std::sqrt(2.0));
  EXPECT_DOUBLE_EQ(known.sd_ps, 0.2 / std::sqrt(2.0));
  EXPECT_DOUBLE_EQ(known.co_runs, 2);
  double squares = 0;
  for (const double x : {0.1, 0.4, 0.5, 0.4, 1.0, 1.2}) squares += (x - 0.6) * (x - 0.6);
  for (const auto& [a, b] : {std::pair(1, 1), std::pair(1, 2)}) {
    const PairBelief little = belief.cluster_pair(a, b);
    EXPECT_DOUBLE_EQ(little.sd_a, std::sqrt(squares / 5));
    EXPECT_DOUBLE_EQ(little.sd_b, std::sqrt(squares / 5));
    EXPECT_DOUBLE_EQ(little.sd_ps, 0.1);
    EXPECT_DOUBLE_EQ(little.co_runs, 1);
    EXPECT_EQ(little.observed, a == b);
  }
}

// Speeds 1/2 and 4/5: ISD 1 and 1/4. Two jobs of 1 s: the second ends at 1.25, the first has 0.375 left
// and ends at 1.625; PS = (2 - 1.625) / 2.
TEST(ClusterMeanBelief, LearnsFromProbes) {
  ClusterMeanBelief belief = belief_of(KnowledgeBase(paper_clusters()));
  EXPECT_TRUE(belief.learns_from_probes());
  belief.learn_probe({JobId{2}, JobId{1}, 0.5, 0.8, {}});
  const PairBelief learnt = belief.pair(JobId{1}, JobId{2});
  EXPECT_TRUE(learnt.observed);
  EXPECT_DOUBLE_EQ(learnt.isd_a, 0.25);
  EXPECT_DOUBLE_EQ(learnt.isd_b, 1);
  EXPECT_DOUBLE_EQ(learnt.ps, 0.1875);
}

TEST(ClusterMeanBelief, LearnsFromCoRunsOfTwo) {
  ClusterMeanBelief belief = belief_of(KnowledgeBase(paper_clusters()));
  std::vector<MemberOutcome> members(2);
  members[0].job = JobId{2};
  members[0].isd = 0.25;
  members[1].job = JobId{1};
  members[1].isd = 0.75;
  EpisodeOutcome outcome;
  outcome.members = members;
  outcome.ps = 0.4;
  outcome.together = true;
  belief.learn(outcome);
  const PairBelief learnt = belief.pair(JobId{1}, JobId{2});
  EXPECT_TRUE(learnt.observed);
  EXPECT_EQ(learnt.isd_a, 0.75);
  EXPECT_EQ(learnt.isd_b, 0.25);
  EXPECT_EQ(learnt.ps, 0.4);
  // A co-run of three teaches nothing.
  std::vector<MemberOutcome> three(3);
  three[0].job = JobId{0};
  three[1].job = JobId{1};
  three[2].job = JobId{2};
  outcome.members = three;
  belief.learn(outcome);
  EXPECT_EQ(belief.knowledge_base().ps(1, 2).count(), 1);
  EXPECT_FALSE(belief.pair(JobId{0}, JobId{1}).observed);
  // Nor do two of three, the last of which was preempted or ran out of memory.
  outcome.members = members;
  outcome.unfinished = 1;
  belief.learn(outcome);
  EXPECT_EQ(belief.knowledge_base().ps(1, 2).count(), 1);
}

/// A job's printed values, with the profile from which they were computed.
struct Printed {
  std::string job;
  Profile profile;
  int cluster;
  double uncertainty;
};

std::vector<Printed> printed_jobs() {
  std::vector<Printed> all;
  const auto add = [&](std::string_view model, int batch_size, int cluster, double uncertainty) {
    for (const PaperProfile& p : paper_profiles()) {
      if (p.model != model || p.batch_size != batch_size) continue;
      all.push_back({std::string(model) + "-" + std::to_string(batch_size),
                     {p.gpu_util_pct, p.mem_alloc_pct, p.mem_time_pct, {}, false},
                     cluster,
                     uncertainty});
    }
  };
  for (const auto pairs : {jrs_pairs(), prirect_pairs()}) {
    for (const PaperPair& pair : pairs) {
      for (const PaperSide* side : {&pair.a, &pair.b}) {
        add(side->model, side->batch_size, side->cluster, side->uncertainty);
      }
    }
  }
  for (const QueueJob& job : jrs_queue()) {
    add(job.model, job.batch_size, job.cluster, job.uncertainty);
  }
  return all;
}

TEST(Clusters, ReproduceEveryPrintedUncertainty) {
  int checked = 0;
  for (const Printed& job : printed_jobs()) {
    if (std::isnan(job.uncertainty)) continue;
    // The paper prints another network's distance for this one.
    if (job.job == "InceptionV3-869") continue;
    EXPECT_NEAR(assign_cluster(paper_clusters(), job.profile).uncertainty, job.uncertainty, 0.095)
        << job.job;
    ++checked;
  }
  EXPECT_GT(checked, 100);
}

TEST(Clusters, ReproduceAllButFourPrintedLabels) {
  // The papers print labels and distances of two solutions of k-means. With the centres of the distances,
  // which are the better optimum, four of the 52 profiles change their cluster.
  std::map<std::string, bool> same;
  for (const Printed& job : printed_jobs()) {
    const bool agrees = assign_cluster(paper_clusters(), job.profile).cluster == job.cluster;
    const auto [it, is_new] = same.emplace(job.job, agrees);
    EXPECT_EQ(it->second, agrees) << job.job << " has two printed labels";
  }
  EXPECT_EQ(same.size(), 52u);
  EXPECT_EQ(std::ranges::count_if(same, [](const auto& job) { return job.second; }), 48);
}

TEST(Clusters, MissingFeaturesAreLeftOut) {
  // Distances over utilisation only: 38.577, 78.606 and 11.221, times sqrt(3).
  const auto a = assign_cluster(paper_clusters(), {100.0, {}, {}, {}, false});
  EXPECT_EQ(a.cluster, 2);
  EXPECT_NEAR(a.uncertainty, (38.577 + 78.606 + 11.221) * std::sqrt(3.0), 1e-9);
  const auto none = assign_cluster(paper_clusters(), {});
  EXPECT_EQ(none.cluster, 0);
  EXPECT_EQ(none.uncertainty, std::numeric_limits<double>::infinity());
  for (int c = 0; c < 3; ++c) {
    const auto& centre = paper_clusters().centres[static_cast<std::size_t>(c)];
    EXPECT_EQ(
        assign_cluster(paper_clusters(), {centre[0], centre[1], centre[2], {}, false}).cluster, c);
  }
}

}  // namespace
}  // namespace corun::knowledge_test
