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

/// Excess of `count` equal jobs that spend the share u of their time alone on a GPU which they share, and the rest on
/// hosts of their own: mean-value analysis of the closed network.
double network(double u, std::size_t count) {
  double queue = 0;
  double cycle = 1;
  for (std::size_t k = 1; k <= count; ++k) {
    const double on_gpu = u * (1 + queue);
    cycle = 1 - u + on_gpu;
    queue = static_cast<double>(k) / cycle * on_gpu;
  }
  return cycle - 1;
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
       {kSlicingRule, kMpsRule, kLeastExcessRule, kMostExcessRule, CoRunnerRule{1.5, 3}}) {
    EXPECT_NEAR(excess(rule, {1, 1, 1}), 3, 1e-9) << rule.pooling;
    EXPECT_NEAR(excess(rule, {0.9999999, 0.9999999}), 2, 1e-5) << rule.pooling;
    EXPECT_NEAR(excess(rule, {2, 2}), 4, 1e-9) << rule.pooling;
  }
}

// Six co-runners that use .8 of a GPU each, and a job that does: 5.6 GPUs of work on one.
TEST(CoRunnerRule, AGroupNeedsItsLoad) {
  EXPECT_NEAR(excess(kSlicingRule, std::vector<double>(6, 0.8)), 4.6, 1e-9);
}

// The reason of the build-up: without bias against the network's exact solution, and not far from it.
TEST(CoRunnerRule, MpsIsTheNetworkOfEqualJobs) {
  double bias = 0;
  double error = 0;
  double count = 0;
  for (std::size_t jobs = 3; jobs <= 8; ++jobs) {
    for (int step = 1; step < 20; ++step) {
      const double u = 0.05 * step;
      const std::vector<double> pairs(jobs - 1, network(u, 2));
      const double off = (excess(kMpsRule, pairs) - network(u, jobs)) / (1 + network(u, jobs));
      EXPECT_LT(std::fabs(off), 0.2) << jobs << " jobs, " << u;
      bias += off;
      error += std::fabs(off);
      count += 1;
    }
  }
  EXPECT_LT(std::fabs(bias / count), 0.02);
  EXPECT_LT(error / count, 0.05);
}

// A co-runner never makes a job faster, and costs in a group at least what it costs alone.
TEST(CoRunnerRule, GrowsWithEachCoRunner) {
  for (const CoRunnerRule rule : {kSlicingRule, kMpsRule, CoRunnerRule{1.5, 3}}) {
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
