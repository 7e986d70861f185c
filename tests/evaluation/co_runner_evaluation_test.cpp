#include "evaluation/co_runner_evaluation.hpp"

#include <array>
#include <cmath>

#include <gtest/gtest.h>

#include "models/formulas/overlap.hpp"
#include "traces/paper_workloads.hpp"

namespace corun::co_runner_evaluation_test {
namespace {

TEST(GroupTimes, OfTwoAreThoseOfAPair) {
  const std::array<double, 2> solo{100, 60};
  const auto times = group_times(solo, [](auto residents, std::span<double> speeds) {
    for (std::size_t k = 0; k < speeds.size(); ++k) {
      speeds[k] = residents.size() == 1 ? 1 : residents[k] == 0 ? 0.5 : 0.8;
    }
  });
  const PairCost cost = pair_cost(100, 60, 0.5, 0.8);
  EXPECT_NEAR(times[0], cost.corun_a_s, 1e-9);
  EXPECT_NEAR(times[1], cost.corun_b_s, 1e-9);
}

TEST(GroupTimes, EqualJobsEndTogether) {
  const std::array<double, 3> solo{10, 10, 10};
  const auto times = group_times(solo, [](auto residents, std::span<double> speeds) {
    for (double& s : speeds) s = 1 / static_cast<double>(residents.size());
  });
  for (const double t : times) EXPECT_NEAR(t, 30, 1e-9);
}

TEST(GroupRules, ByHand) {
  const std::array<double, 2> x{0.3, 0.4};
  const std::array<double, 1> one{0.3};
  for (const GroupRule& rule : group_rules()) {
    EXPECT_NEAR(rule.combine(one), 0.3, 1e-12) << rule.name;
  }
  EXPECT_NEAR(group_rules()[0].combine(x), 0.7, 1e-12);
  EXPECT_NEAR(group_rules()[2].combine(x), 0.5, 1e-12);
  EXPECT_NEAR(group_rules()[3].combine(x), 0.82, 1e-12);
  EXPECT_GT(group_rules()[1].combine(x), 0.5);
  EXPECT_LT(group_rules()[1].combine(x), 0.7);
}

/// The two groups of the papers: five jobs at 8 % and nine at 60 % mean ISD.
TEST(Groups, ThePairsOfTheFactorModelSayWhatTheBinsCost) {
  WorkloadKeys keys;
  const auto rows = paper_measurements(keys);
  const std::array<std::string_view, 2> models{"factors", "contention"};
  PaperFilter bins;
  bins.jrs_bins = true;
  const auto groups = evaluate_groups(rows, paper_measurements(keys, bins), models);
  ASSERT_EQ(groups.size(), 2U);
  EXPECT_EQ(groups[0].jobs, 5U);
  EXPECT_EQ(groups[1].jobs, 9U);
  EXPECT_NEAR(groups[1].measured, 0.599, 0.001);
  for (const GroupScore& g : groups) {
    ASSERT_EQ(g.models.size(), 2U);
    const GroupScore::Model& factors = g.models[0];
    EXPECT_NEAR(factors.own, factors.rules[1], 1e-9) << "the model's own rule is the norm";
    EXPECT_NEAR(factors.own, g.measured, 0.25 * g.measured) << g.group;
  }
  // Products of pair slowdowns overestimate the group of nine about twofold.
  EXPECT_GT(groups[1].models[0].rules[3], 1.8 * groups[1].measured);
}

}  // namespace
}  // namespace corun::co_runner_evaluation_test
