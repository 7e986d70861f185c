#include "models/formulas/co_runner_rule.hpp"

#include <cmath>
#include <cstddef>
#include <vector>

#include <gtest/gtest.h>

namespace corun::co_runner_rule_test {
namespace {

double excess(const CoRunnerRule& rule, const std::vector<double>& of_pairs) {
  CoRunnerSpeed speed(rule);
  for (const double x : of_pairs) speed.add(1 / (1 + x));
  return 1 / speed.speed() - 1;
}

TEST(CoRunnerRule, APairIsItself) {
  for (const CoRunnerRule& rule : kCoRunnerRules) {
    EXPECT_EQ(excess(rule, {}), 0);
    for (const double x : {0.0, 0.01, 0.3, 0.99, 1.0, 4.0}) {
      EXPECT_NEAR(excess(rule, {x}), x, 1e-9 * (1 + x)) << rule.pooling;
    }
  }
}

TEST(CoRunnerRule, TimeSlicesPoolInANorm) {
  EXPECT_NEAR(excess(kSlicingRule, {0.1, 0.2, 0.4}),
              std::pow(std::pow(0.1, 1.25) + std::pow(0.2, 1.25) + std::pow(0.4, 1.25), 0.8),
              1e-12);
}

TEST(CoRunnerRule, ASaturatedGpuIsDividedEqually) {
  for (const CoRunnerRule& rule :
       {kSlicingRule, kMpsRule, kLeastExcessRule, kMostExcessRule, CoRunnerRule{1.5, 0.3}}) {
    EXPECT_NEAR(excess(rule, {1, 1, 1}), 3, 1e-9) << rule.pooling;
    EXPECT_NEAR(excess(rule, {0.9999999, 0.9999999}), 2, 1e-5) << rule.pooling;
    EXPECT_NEAR(excess(rule, {2, 2}), 4, 1e-9) << rule.pooling;
  }
}

// Six co-runners that use .8 of a GPU each, and a job that does: 5.6 GPUs of work on one.
TEST(CoRunnerRule, AGroupNeedsItsLoad) {
  EXPECT_NEAR(excess(kSlicingRule, std::vector<double>(6, 0.8)), 4.6, 1e-9);
}

// Jobs that leave nothing idle add up; jobs that leave the GPU idle slow down when their load reaches it.
TEST(CoRunnerRule, MpsIsTheMeanOfBothKinds) {
  constexpr CoRunnerRule kNoneIdle{1, 0};
  constexpr CoRunnerRule kAllIdle{1, 1};
  EXPECT_NEAR(excess(kNoneIdle, {0.3, 0.3, 0.3}), 0.9, 1e-9);
  // A load of .6 each: two jobs need 1.2 GPUs, four 2.4. The bend is not sharp.
  const double load = 0.6;
  const double pair =
      std::pow((1 + std::pow(2 * load, kKneeExponent)) / (1 + std::pow(load, kKneeExponent)),
               1 / kKneeExponent) -
      1;
  const double four =
      std::pow((1 + std::pow(4 * load, kKneeExponent)) / (1 + std::pow(load, kKneeExponent)),
               1 / kKneeExponent) -
      1;
  EXPECT_NEAR(excess(kAllIdle, {pair, pair, pair}), four, 1e-9);
  EXPECT_NEAR(four, 4 * load - 1, 0.02);
  const double none = 1 / (1 + excess(kNoneIdle, {pair, pair, pair}));
  EXPECT_NEAR(excess(kMpsRule, {pair, pair, pair}), 1 / ((none + 1 / (1 + four)) / 2) - 1, 1e-9);
}

// A co-runner never makes a job faster, and costs in a group at least what it costs alone.
TEST(CoRunnerRule, GrowsWithEachCoRunner) {
  for (const CoRunnerRule rule : {kSlicingRule, kMpsRule, CoRunnerRule{1.5, 0.3}}) {
    for (double first = 0; first < 1.5; first += 0.07) {
      for (double second = 0; second < 1.5; second += 0.11) {
        const double pair = excess(rule, {first});
        const double both = excess(rule, {first, second});
        EXPECT_GE(both, pair - 1e-9) << rule.pooling << ' ' << first << ' ' << second;
        EXPECT_GE(both, second - 1e-9) << rule.pooling << ' ' << first << ' ' << second;
        EXPECT_TRUE(std::isfinite(both));
      }
    }
  }
}

// Jobs that leave each other room as a pair no longer do as a group.
TEST(CoRunnerRule, MpsExcessesBuildUp) {
  EXPECT_GT(excess(kMpsRule, {0.2, 0.2, 0.2}), 0.6 * 1.3);
  EXPECT_NEAR(excess(kMpsRule, {0.2, 0, 0, 0}), 0.2, 1e-9);
}

}  // namespace
}  // namespace corun::co_runner_rule_test
