#include "runner/replay/world_comparison.hpp"

#include <cmath>
#include <limits>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "policies/catalog.hpp"
#include "runner/config/config_yaml.hpp"
#include "runner/replay/replay.hpp"

/// Rankings of policies in two worlds, with ties and missing values.
namespace corun::world_comparison_test {
namespace {

using List = std::vector<double>;
using Order = std::vector<std::size_t>;

constexpr double kNone = std::numeric_limits<double>::quiet_NaN();

TEST(WorldComparison, TheSameRankingSurvives) {
  const WorldRanking r = rank_world(List{0.3, 0.1, 0.2}, List{0.9, 0.0, 0.5});
  EXPECT_EQ(r.order, (Order{1, 2, 0}));
  EXPECT_EQ(r.tau, 1.0);
  EXPECT_TRUE(r.same);
}

TEST(WorldComparison, TheReverseDoesNot) {
  const WorldRanking r = rank_world(List{1, 2, 3}, List{3, 2, 1});
  EXPECT_EQ(r.tau, -1.0);
  EXPECT_FALSE(r.same);
}

// Four policies, two of them tied in both worlds, the last two exchanged. Of six pairs one is tied in
// both; of the other five four agree and one does not: 3 / sqrt(5 * 5).
TEST(WorldComparison, APairTiedInBothWorldsIsNoAgreement) {
  const WorldRanking r = rank_world(List{1, 1, 3, 2}, List{1, 1, 2, 3});
  EXPECT_EQ(r.order, (Order{0, 1, 3, 2}));
  ASSERT_TRUE(r.tau);
  EXPECT_DOUBLE_EQ(*r.tau, 0.6);
  EXPECT_FALSE(r.same);
}

// Tied policies are in the order of the configuration; another world that distinguishes them has
// another ranking, whichever is first there. Of three pairs one is tied in the first world: 2 /
// sqrt(2 * 3).
TEST(WorldComparison, ATieInOneWorldIsAnotherRanking) {
  for (const List& isd : {List{1, 2, 3}, List{2, 1, 3}}) {
    const WorldRanking r = rank_world(isd, List{1, 1, 3});
    EXPECT_DOUBLE_EQ(r.tau.value(), 2 / std::sqrt(6.0));
    EXPECT_FALSE(r.same);
  }
  EXPECT_EQ(rank_world(List{1, 1, 3}, List{1, 1, 3}).order, (Order{0, 1, 2}));
  EXPECT_EQ(rank_world(List{1, 1, 3}, List{1, 1, 3}).tau, 1.0);
  EXPECT_TRUE(rank_world(List{1, 1, 3}, List{1, 1, 3}).same);
}

TEST(WorldComparison, TauIsNotDefinedForTwoPoliciesNorForTiesOnly) {
  EXPECT_EQ(rank_world(List{1, 2}, List{1, 2}).tau, std::nullopt);
  EXPECT_TRUE(rank_world(List{1, 2}, List{1, 2}).same);
  EXPECT_FALSE(rank_world(List{1, 2}, List{2, 1}).same);
  EXPECT_EQ(rank_world(List{1}, List{1}).tau, std::nullopt);
  EXPECT_EQ(rank_world(List{5, 5, 5}, List{1, 2, 3}).tau, std::nullopt);
  EXPECT_EQ(rank_world(List{1, 2, 3}, List{5, 5, 5}).tau, std::nullopt);
}

// A policy without finished jobs has no ISD: it is last, and tau is of the others.
TEST(WorldComparison, PoliciesWithoutAFigureAreLast) {
  const WorldRanking r = rank_world(List{kNone, 3, 1, 2}, List{0, 3, 1, 2});
  EXPECT_EQ(r.order, (Order{2, 3, 1, 0}));
  EXPECT_EQ(r.tau, 1.0);
  EXPECT_FALSE(r.same);
  EXPECT_EQ(rank_world(List{kNone, 1, 2}, List{1, 2, 3}).tau, std::nullopt);
}

TEST(WorldComparison, RanksByTheFirstMetricThatHasABetterDirection) {
  EXPECT_EQ(ranking_metric({}), Metric::kIsd);
  EXPECT_EQ(ranking_metric({Metric::kPs, Metric::kIsd}), Metric::kPs);
  EXPECT_EQ(ranking_metric({Metric::kJobs, Metric::kJctS}), Metric::kJctS);
  EXPECT_EQ(ranking_metric({Metric::kJobs}), Metric::kIsd);
}

TEST(WorldComparison, MoreIsBetterRanksFromTheLargest) {
  const Experiment experiment(
      default_config_with(parse_overrides(std::vector<std::string>{
                              "policies=[fcfs, exclusive, kube-default]", "replications=3"}),
                          policy_catalog()),
      "");
  const ReplayResult result = replay(experiment, {.threads = 2, .keep_records = false});
  const std::vector<WorldResult> worlds{{"measured", &experiment, &result}};
  std::ostringstream by_ps;
  print_ranking(by_ps, worlds, Metric::kPs);
  EXPECT_NE(by_ps.str().find("ranking by ps, best first"), std::string::npos) << by_ps.str();
  EXPECT_NE(by_ps.str().find("kube-default > fcfs > exclusive"), std::string::npos) << by_ps.str();
  EXPECT_EQ(ranking_json(worlds, Metric::kPs)["metric"], "ps");
  std::ostringstream by_jct;
  print_ranking(by_jct, worlds, Metric::kJctS);
  EXPECT_NE(by_jct.str().find("kube-default < fcfs < exclusive"), std::string::npos)
      << by_jct.str();
}

}  // namespace
}  // namespace corun::world_comparison_test
