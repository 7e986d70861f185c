
#include "policies/groups/recommender.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include <gtest/gtest.h>

#include "policies/groups/least_certain_pairs.hpp"
#include "tests/helpers/scenarios.hpp"

/// Risk aversion and Thompson sampling of the policies with a belief.
namespace corun::test::recommender_test {
namespace {

/// Costs of pairs from `costs`, keyed by ascending job.
class TableBelief final : public Belief {
 public:
  using Costs = std::map<std::pair<JobId, JobId>, PairBelief>;
  explicit TableBelief(Costs costs) : costs_(std::move(costs)) {}
  PairBelief pair(JobId a, JobId b) const override {
    const PairBelief cost = costs_.at(std::minmax(a, b));
    if (a < b) return cost;
    PairBelief turned = cost;
    std::swap(turned.isd_a, turned.isd_b);
    std::swap(turned.sd_a, turned.sd_b);
    return turned;
  }
  void learn(const EpisodeOutcome&) override {}

 private:
  Costs costs_;
};

/// The first group of four jobs that wait for one GPU, in scheduling pass number `pass`.
std::vector<JobId> first_group(const RecommenderOptions& options, std::unique_ptr<Belief> belief,
                               std::size_t pass = 1, std::uint64_t seed = 1) {
  const ParameterSpec* none = nullptr;
  Recommender policy(options, {Parameters(std::span(none, 0)), std::move(belief), seed, false});
  const OwnedWorkload w =
      workload({job(seconds(10)), job(seconds(10)), job(seconds(10)), job(seconds(10))});
  const std::vector<JobView> jobs = job_views(w);
  const std::vector<JobId> waiting = {J(0), J(1), J(2), J(3)};
  const ClusterSpec spec = cluster(1, 1);
  const ClusterState state(spec);
  std::vector<Decision> out;
  policy.decide(ClusterView(seconds(1), StartMode::kGroup, waiting, jobs, state, 0, 1, pass), out);
  return std::get<StartGroup>(out.at(0)).jobs;
}

/// (0,1) and (2,3) cost 0.4 each but vary by 0.3 on either side; all other pairs cost 0.5, always.
TableBelief::Costs cheap_but_risky() {
  TableBelief::Costs costs;
  for (std::uint32_t a = 0; a < 4; ++a) {
    for (std::uint32_t b = a + 1; b < 4; ++b) {
      costs[{J(a), J(b)}] = {.isd_a = 0.25, .isd_b = 0.25, .ps = 0.3};
    }
  }
  for (const auto& pair : {std::pair(J(0), J(1)), std::pair(J(2), J(3))}) {
    costs[pair] = {.isd_a = 0.2, .isd_b = 0.2, .ps = 0.3, .sd_a = 0.3, .sd_b = 0.3};
  }
  return costs;
}

TEST(ObjectiveCost, RiskAddsStandardDeviations) {
  const PairBelief pair{
      .isd_a = 0.5, .isd_b = 0.3, .ps = 0.2, .sd_a = 0.3, .sd_b = 0.4, .sd_ps = 0.6};
  EXPECT_DOUBLE_EQ(objective_cost({Objective::kMinSlowdown}, pair), 0.8);
  EXPECT_DOUBLE_EQ(objective_cost({Objective::kMinSlowdown, 2}, pair), 0.8 + 2 * 0.5);
  EXPECT_DOUBLE_EQ(objective_cost({Objective::kBalance}, pair), 0.4 - 0.2);
  EXPECT_DOUBLE_EQ(objective_cost({Objective::kBalance, 2}, pair),
                   0.4 - 0.2 + 2 * std::sqrt(0.25 * 0.25 + 0.36));
  EXPECT_DOUBLE_EQ(objective_cost({Objective::kMaxPacking}, pair), -0.2);
  EXPECT_DOUBLE_EQ(objective_cost({Objective::kMaxPacking, 2}, pair), -0.2 + 2 * 0.6);
}

// 0.4 + r * 0.3 * sqrt(2) against 0.5: the risky pairs lose from r = 0.2357 on.
TEST(Risk, ShunsPairsThatVary) {
  const auto group = [](double risk) {
    return first_group({.risk = risk}, std::make_unique<TableBelief>(cheap_but_risky()));
  };
  const std::vector<JobId> risky = {J(0), J(1)};
  EXPECT_EQ(group(0), risky);
  EXPECT_EQ(group(0.23), risky);
  EXPECT_NE(group(0.24), risky);
  EXPECT_NE(group(100), risky);
}

// The cluster path: 0 with 1 costs 1.0 on average but once 0.2 and once 1.8; 0 with 0 always 1.2.
TEST(Risk, GoesByTheSpreadOfAPairOfClusters) {
  KnowledgeBase kb(paper_clusters());
  kb.observe(0, 1, 0.1, 0.1, 0.3);
  kb.observe(0, 1, 0.9, 0.9, 0.3);
  for (int i = 0; i < 2; ++i) {
    kb.observe(0, 0, 0.6, 0.6, 0.3);
    kb.observe(1, 1, 0.6, 0.6, 0.3);
  }
  std::vector<ClusterAssignment> clusters(4);
  clusters[2].cluster = clusters[3].cluster = 1;
  const auto group = [&](double risk) {
    return first_group({.risk = risk}, std::make_unique<ClusterMeanBelief>(kb, clusters));
  };
  // sd = 0.8 / sqrt(2) each, 0.8 of the sum: 1.0 + 0.8 r against 1.2.
  EXPECT_EQ(group(0.24), (std::vector<JobId>{J(0), J(2)}));
  EXPECT_EQ(group(0.26), (std::vector<JobId>{J(0), J(1)}));
}

// ---- epsilon for beliefs about individual jobs -----------------------------------------------------

/// How often each first group of four jobs comes, over seeds; groups as unordered pairs.
std::map<std::pair<JobId, JobId>, int> first_groups(double epsilon, int seeds) {
  std::map<std::pair<JobId, JobId>, int> count;
  for (int seed = 1; seed <= seeds; ++seed) {
    const auto jobs =
        first_group({.epsilon = epsilon}, std::make_unique<TableBelief>(cheap_but_risky()), 1,
                    static_cast<std::uint64_t>(seed));
    EXPECT_NE(jobs.at(0), jobs.at(1));
    ++count[std::minmax(jobs[0], jobs[1])];
  }
  return count;
}

TEST(EpsilonByJob, ZeroKeepsThePlanAndOneDrawsAnyPair) {
  EXPECT_EQ(first_groups(0, 50).size(), 1U);
  constexpr int kSeeds = 6000;
  const auto drawn = first_groups(1, kSeeds);
  ASSERT_EQ(drawn.size(), 6U);
  // A sixth each; five standard errors of a share.
  for (const auto& [pair, count] : drawn) EXPECT_NEAR(1.0 * count / kSeeds, 1.0 / 6, 0.025);
}

// The first place keeps the planned pair's jobs unless it draws one of the two other jobs, 2 of 4; then the
// second keeps its job unless it draws one of these, 2 of 3.
TEST(EpsilonByJob, IsTheProbabilityOfADraw) {
  constexpr int kSeeds = 6000;
  constexpr double kEpsilon = 0.4;
  const auto planned = first_groups(0, 1).begin()->first;
  const double expected = (1 - kEpsilon / 2) * (1 - kEpsilon * 2 / 3);
  const int stayed = first_groups(kEpsilon, kSeeds).at(planned);
  EXPECT_NEAR(1.0 * stayed / kSeeds, expected, 0.032);  // five standard errors
}

TEST(EpsilonByJob, EveryJobKeepsOnePlaceAndTheQueuesOrderDoesNotMatter) {
  const ParameterSpec* none = nullptr;
  const OwnedWorkload w =
      workload({job(seconds(10)), job(seconds(10)), job(seconds(10)), job(seconds(10))});
  const std::vector<JobView> jobs = job_views(w);
  const ClusterSpec spec = cluster(1, 1);
  const ClusterState state(spec);
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    const auto planned = [&](std::vector<JobId> waiting) {
      Recommender policy({.epsilon = 0.7},
                         {Parameters(std::span(none, 0)),
                          std::make_unique<TableBelief>(cheap_but_risky()), seed, false});
      std::vector<JobId> order;
      const ClusterView view(seconds(1), StartMode::kGroup, waiting, jobs, state, 0, 1, 1);
      for (const Group& group : policy.plan(view, waiting, 0, 4)) {
        order.insert(order.end(), group.jobs.begin(), group.jobs.end());
        EXPECT_EQ(group.expected->isd_a,
                  TableBelief(cheap_but_risky()).pair(group.jobs[0], group.jobs[1]).isd_a);
      }
      return order;
    };
    const std::vector<JobId> order = planned({J(0), J(1), J(2), J(3)});
    EXPECT_EQ(order, planned({J(3), J(1), J(0), J(2)}));
    std::vector<JobId> sorted = order;
    std::ranges::sort(sorted);
    EXPECT_EQ(sorted, (std::vector<JobId>{J(0), J(1), J(2), J(3)}));
  }
}

// ---- probes --------------------------------------------------------------------------------------

using Pair = std::optional<std::pair<JobId, JobId>>;

TEST(LeastCertainPairs, TheLeastKnownPairFirstAndNoneTwice) {
  TableBelief::Costs costs = cheap_but_risky();  // 0.3 on both sides of (0,1) and (2,3)
  costs[{J(1), J(2)}].sd_a = 0.4;
  costs[{J(1), J(3)}].sd_a = 2;
  costs[{J(1), J(3)}].co_runs = 100;  // varies, but its mean is well known: 0.2
  const TableBelief belief(costs);
  LeastCertainPairs planner(belief, 256);
  const std::vector<JobId> all = {J(3), J(1), J(0), J(2)};
  EXPECT_EQ(planner.choose(all, {}), Pair({J(0), J(1)}));
  EXPECT_EQ(planner.choose(all, {}), Pair({J(2), J(3)}));
  EXPECT_EQ(planner.choose(all, {}), Pair({J(1), J(2)}));
  EXPECT_EQ(planner.choose(all, {}), Pair({J(1), J(3)}));
  EXPECT_EQ(planner.choose(all, {}), Pair({J(0), J(2)}));
  EXPECT_EQ(planner.choose(all, {}), Pair({J(0), J(3)}));
  EXPECT_EQ(planner.choose(all, {}), Pair());
}

TEST(LeastCertainPairs, WaitingCoRunnersOnlyWhereNoUnprobedOneIsLeft) {
  const TableBelief belief(cheap_but_risky());
  LeastCertainPairs planner(belief, 256);
  const std::vector<JobId> two = {J(2), J(0)};
  const std::vector<JobId> waiting = {J(3), J(1)};
  EXPECT_EQ(planner.choose(two, waiting), Pair({J(0), J(2)}));
  EXPECT_EQ(planner.choose(two, waiting), Pair({J(0), J(1)}));
  EXPECT_EQ(planner.choose(std::span(two).first(1), {}), Pair());
}

TEST(Recommender, PlansProbesOnlyForBeliefsThatLearnFromThem) {
  const ParameterSpec* none = nullptr;
  Recommender policy({}, {Parameters(std::span(none, 0)),
                          std::make_unique<TableBelief>(cheap_but_risky()), 1, false});
  EXPECT_EQ(policy.probe_planner(), nullptr);
  const OwnedWorkload w = workload({job(seconds(10))});
  const ShareWorld world(1);
  for (const char* name : {"balance", "min-slowdown", "max-packing"}) {
    EXPECT_NE(make_policy(*find_policy(name), w, world, 1)->probe_planner(), nullptr) << name;
  }
  EXPECT_EQ(make_policy(*find_policy("oracle"), w, world, 1)->probe_planner(), nullptr);
}

// Jobs join the bin from the lowest GPU utilisation up, while their sum is at most 100 %. More than two are a group.
TEST(Recommender, ABinFitsOneGpu) {
  const auto first = [](double util) {
    const ParameterSpec* none = nullptr;
    Recommender policy({.pack_bin = true},
                       {Parameters(std::span(none, 0)),
                        std::make_unique<TableBelief>(cheap_but_risky()), 1, false});
    const OwnedWorkload w = workload({job(seconds(10)).util(util), job(seconds(10)).util(util),
                                      job(seconds(10)).util(util), job(seconds(10)).util(90)});
    const std::vector<JobView> jobs = job_views(w);
    const std::vector<JobId> waiting = {J(0), J(1), J(2), J(3)};
    const ClusterSpec spec = cluster(1, 1);
    const ClusterState state(spec);
    std::vector<Decision> out;
    policy.decide(ClusterView(seconds(1), StartMode::kGroup, waiting, jobs, state, 0, 1, 1), out);
    return std::get<StartGroup>(out.at(0)).jobs;
  };
  EXPECT_EQ(first(33), (std::vector<JobId>{J(0), J(1), J(2)})) << "99 %";
  EXPECT_EQ(first(34).size(), 2U) << "102 %";
}

// ---- Thompson sampling ---------------------------------------------------------------------------

TEST(SampledCost, IsOneDrawFromEitherSide) {
  const PairBelief ab{
      .isd_a = 0.5, .isd_b = 0.3, .ps = 0.2, .sd_a = 0.3, .sd_b = 0.1, .sd_ps = 0.2};
  PairBelief ba = ab;
  std::swap(ba.isd_a, ba.isd_b);
  std::swap(ba.sd_a, ba.sd_b);
  for (std::uint64_t draw = 0; draw < 20; ++draw) {
    const PairBelief x = sampled_cost(ab, draw, 3, 7);
    const PairBelief y = sampled_cost(ba, draw, 7, 3);
    EXPECT_EQ(x.isd_a, y.isd_b);
    EXPECT_EQ(x.isd_b, y.isd_a);
    EXPECT_EQ(x.ps, y.ps);
    EXPECT_NE(x.isd_a, sampled_cost(ab, draw + 1, 3, 7).isd_a);
    EXPECT_NE(x.isd_a, sampled_cost(ab, draw, 3, 8).isd_a);
  }
  const PairBelief same =
      sampled_cost({.isd_a = 0.5, .isd_b = 0.5, .sd_a = 0.1, .sd_b = 0.1}, 4, 2, 2);
  EXPECT_EQ(same.isd_a, same.isd_b);
}

// Mean and standard deviation of 4000 draws with sd 0.3 / sqrt(9): within 4 standard errors.
TEST(SampledCost, HasTheSpreadOfTheExpectation) {
  const PairBelief pair{
      .isd_a = 0.5, .isd_b = 0.3, .ps = 0.2, .sd_a = 0.3, .sd_b = 0.6, .sd_ps = 0, .co_runs = 9};
  double sum = 0, square = 0, cross = 0;
  constexpr int kDraws = 4000;
  for (std::uint64_t draw = 0; draw < kDraws; ++draw) {
    const PairBelief x = sampled_cost(pair, draw, 0, 1);
    const double a = (x.isd_a - 0.5) / 0.1;
    const double b = (x.isd_b - 0.3) / 0.2;
    sum += a;
    square += a * a;
    cross += a * b;
    EXPECT_EQ(x.ps, 0.2);
  }
  const double error = 4 / std::sqrt(kDraws);
  EXPECT_NEAR(sum / kDraws, 0, error);
  EXPECT_NEAR(square / kDraws, 1, std::sqrt(2.0) * error);
  EXPECT_NEAR(cross / kDraws, 0, error);
}

TEST(Thompson, AJobsClusterSharesItsDraw) {
  std::vector<ClusterAssignment> clusters(4);
  clusters[2].cluster = clusters[3].cluster = 1;
  const ClusterMeanBelief belief(small_knowledge(), clusters);
  const PairBelief x = belief.sampled_pair(J(0), J(2), 5);
  EXPECT_EQ(x.isd_a, belief.sampled_pair(J(1), J(3), 5).isd_a);
  EXPECT_EQ(x.isd_a, belief.sampled_pair(J(3), J(1), 5).isd_b);
  EXPECT_EQ(x.isd_a, belief.sampled_cluster_pair(0, 1, 5).isd_a);
  EXPECT_NE(x.isd_a, belief.pair(J(0), J(2)).isd_a);
}

// Known costs are not explored: truth, or a pair observed very often.
TEST(Thompson, WithoutDoubtItPlansOnTheExpectation) {
  TableBelief::Costs sure = cheap_but_risky();
  for (auto& [pair, cost] : sure) cost.sd_a = cost.sd_b = 0;
  for (std::size_t pass = 1; pass < 20; ++pass) {
    EXPECT_EQ(
        first_group({.explore = Explore::kThompson}, std::make_unique<TableBelief>(sure), pass),
        (std::vector<JobId>{J(0), J(1)}));
  }
}

TEST(Thompson, TriesWhatItKnowsLittleOfAndRepeatsItself) {
  const auto groups = [](std::uint64_t seed) {
    std::vector<std::vector<JobId>> all;
    for (std::size_t pass = 1; pass <= 200; ++pass) {
      all.push_back(first_group({.explore = Explore::kThompson},
                                std::make_unique<TableBelief>(cheap_but_risky()), pass, seed));
    }
    return all;
  };
  const auto one = groups(1);
  EXPECT_EQ(one, groups(1));
  EXPECT_NE(one, groups(2));
  // The risky pairing takes place when its sum, normal around 0.8 with sd 0.6, is below 1.0: 63 %.
  // In a first group the better of its two pairs starts.
  const auto risky = std::count_if(one.begin(), one.end(), [](const std::vector<JobId>& g) {
    return g == std::vector<JobId>{J(0), J(1)} || g == std::vector<JobId>{J(2), J(3)};
  });
  EXPECT_NEAR(static_cast<double>(risky) / 200, 0.63, 4 * std::sqrt(0.63 * 0.37 / 200));
}

/// Whole runs: explicit defaults change nothing, thompson does, and repeated runs are equal.
TEST(Exploration, DefaultsChangeNothing) {
  for (const std::string name : {"min-slowdown", "balance", "max-packing"}) {
    const PolicyEntry& entry = *find_policy(name);
    int differ = 0;
    for (std::uint64_t seed = 0; seed < 60; ++seed) {
      const Scenario s = random_scenario(seed);
      const ErraticWorld world(seed);
      const auto log_with = [&](const std::string& explore) {
        Parameters p(entry.parameters);
        if (!explore.empty()) {
          p.set("explore", explore);
          p.set("risk", 0.0);
        }
        const auto policy = make_policy(entry, s.workload, world, seed, std::move(p));
        return run(s, world, *policy).log;
      };
      const EventLog plain = log_with("");
      ASSERT_EQ(plain, log_with("epsilon")) << name << ", seed " << seed;
      const EventLog drawn = log_with("thompson");
      ASSERT_EQ(drawn, log_with("thompson")) << name << ", seed " << seed;
      differ += drawn != plain;
    }
    EXPECT_GT(differ, 0) << name;
  }
}

}  // namespace
}  // namespace corun::test::recommender_test
