#include "evaluation/measurement_choice.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <set>
#include <span>
#include <stdexcept>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "sim/rng.hpp"

namespace corun::measurement_choice_test {
namespace {

/// Density and upper tail of the standard normal.
double density(double x) { return std::exp(-x * x / 2) / std::sqrt(2 * std::numbers::pi); }
double tail(double x) { return std::erfc(x / std::numbers::sqrt2) / 2; }

/// All pairs of so many jobs with independent normal costs, which a measurement shows without noise: one number, as
/// the other direction is constant.
MeasurementProblem independent(std::size_t jobs, const std::vector<double>& mean,
                               const std::vector<double>& sd, std::size_t draws = 400) {
  MeasurementProblem problem;
  for (std::uint32_t i = 0; i < jobs; ++i) {
    problem.kinds.push_back(i);
    for (std::uint32_t j = i + 1; j < jobs; ++j) problem.pairs.push_back({i, j, true});
  }
  const std::size_t pairs = problem.pairs.size();
  problem.draws = draws;
  problem.cost.resize(draws * pairs);
  problem.shown.assign(draws * pairs * 2, 0);
  problem.noise.assign(pairs * 2, 0);
  for (std::size_t p = 0; p < pairs; ++p) {
    Rng rng(7, Stream::kTest, p);
    for (std::size_t d = 0; d < draws; d += 2) {
      const double z = rng.normal();
      for (const std::size_t at : {d, d + 1}) {
        const double cost = mean[p] + (at == d ? z : -z) * sd[p];
        problem.cost[at * pairs + p] = problem.shown[(at * pairs + p) * 2] = cost;
      }
    }
  }
  return problem;
}

// Pairs of four jobs in order: 01, 02, 03, 12, 13, 23. The pairings are 01+23, 02+13 and 03+12.

TEST(MeasurementChoice, OnlyThePairThatMattersIsWorthMeasuring) {
  const double sd = 0.05;
  // 01+23 and 02+13 cost 0.2 each, and only 01 is uncertain. Whichever is taken, the other is better by
  // max(0, sd z): on average sd / sqrt(2 pi).
  const MeasurementProblem problem =
      independent(4, {.1, .1, 1, 1, .1, .1}, {sd, 0, 0, 0, 0, 0}, 4000);
  const MeasurementPlan plan = choose_measurements(problem, 2, {.scenarios = 2000});
  ASSERT_EQ(plan.chosen.size(), 2U);
  EXPECT_EQ(plan.chosen[0].pair, 0U);
  const double expected = sd * density(0) / 4;  // per job
  EXPECT_NEAR(plan.regret, expected, 0.05 * expected);
  EXPECT_EQ(plan.chosen[0].regret_before, plan.regret);
  EXPECT_NEAR(plan.chosen[0].regret_after, 0, 0.08 * expected);
  EXPECT_NEAR(plan.chosen[1].regret_after, plan.chosen[0].regret_after, 1e-12);  // all is known
  EXPECT_NEAR(plan.chosen[0].cost, 0.1, 1e-12);
  EXPECT_NEAR(plan.chosen[0].sd, sd, 0.05 * sd);
  EXPECT_NEAR(plan.chosen[0].in_best, 0.5, 1e-12);
}

TEST(MeasurementChoice, NoiseOfTheMeasurementLowersItsValue) {
  const double sd = 0.05;
  MeasurementProblem problem = independent(4, {.1, .1, 1, 1, .1, .1}, {sd, 0, 0, 0, 0, 0}, 4000);
  problem.noise[0] = 3 * sd * sd;
  const MeasurementPlan plan = choose_measurements(problem, 1, {.scenarios = 2000});
  // The expectation moves by sd^2 / sqrt(sd^2 + 3 sd^2) = sd / 2.
  const double value = sd / 2 * density(0) / 4;
  EXPECT_NEAR(plan.regret - plan.chosen[0].regret_after, value, 0.08 * value);
}

TEST(MeasurementChoice, AnUncertainPairThatNoGoodPairingHasIsLeft) {
  const MeasurementProblem problem = independent(4, {.1, .1, 5, 1, .1, .1}, {.02, 0, .5, 0, 0, 0});
  const MeasurementPlan plan = choose_measurements(problem, 1, {});
  EXPECT_EQ(plan.chosen[0].pair, 0U);
}

TEST(MeasurementChoice, ARelatedPairIsMeasuredInPlaceOfOneThatCannotBe) {
  MeasurementProblem problem = independent(4, {.1, .1, 5, 1, .1, .1}, {.05, 0, 0, 0, 0, .01});
  problem.pairs[0].may_be_measured = false;
  // Pair 03 shows what 01 costs.
  for (std::size_t d = 0; d < problem.draws; ++d) {
    problem.shown[(d * 6 + 2) * 2 + 1] = problem.cost[d * 6];
  }
  const MeasurementPlan plan = choose_measurements(problem, 1, {});
  EXPECT_EQ(plan.chosen[0].pair, 2U);
  EXPECT_LT(plan.chosen[0].regret_after, 0.5 * plan.regret);
}

TEST(MeasurementChoice, BothDirectionsCount) {
  // The cost of 01 is the sum of two independent numbers, each shown by one direction.
  MeasurementProblem problem = independent(4, {.1, .1, 1, 1, .1, .1}, {.03, 0, 0, 0, 0, 0}, 4000);
  Rng rng(8, Stream::kTest);
  for (std::size_t d = 0; d < problem.draws; ++d) {
    const double more = 0.04 * rng.normal();
    problem.cost[d * 6] += more;
    problem.shown[d * 12 + 1] = more;
  }
  const MeasurementPlan plan = choose_measurements(problem, 1, {.scenarios = 2000});
  const double expected = 0.05 * density(0) / 4;
  EXPECT_NEAR(plan.regret, expected, 0.08 * expected);
  EXPECT_NEAR(plan.chosen[0].regret_after, 0, 0.1 * expected);
}

// With independent costs, a measurement of p decides between the best pairing with p and the best without. With
// d the difference of their costs, its value is sd (density(d / sd) - d / sd tail(d / sd)).
TEST(MeasurementChoice, TheFirstIsNearlyTheMostValuableOfIndependentPairs) {
  constexpr std::size_t kJobs = 8;
  constexpr std::uint64_t kRounds = 20;
  double share = 0;  // of the largest value
  for (std::uint64_t round = 0; round < kRounds; ++round) {
    Rng rng(round, Stream::kTest);
    std::vector<double> mean, sd;
    for (std::size_t p = 0; p < kJobs * (kJobs - 1) / 2; ++p) {
      mean.push_back(0.1 + 0.5 * rng.uniform());
      sd.push_back(0.2 * rng.uniform());
    }
    const MeasurementProblem problem = independent(kJobs, mean, sd);
    const auto best_cost = [&](std::size_t p, double cost) {
      std::vector<double> costs = mean;
      costs[p] = cost;
      const auto co_runner = cheapest_pairing(problem, costs);
      double sum = 0;
      for (std::size_t e = 0; e < costs.size(); ++e) {
        const auto& pair = problem.pairs[e];
        if (co_runner[pair.a] == static_cast<std::int32_t>(pair.b)) sum += costs[e];
      }
      return sum;
    };
    std::vector<double> value;
    for (std::size_t p = 0; p < mean.size(); ++p) {
      const double without = best_cost(p, 1000);
      const double with = best_cost(p, -1000) + 1000 + mean[p];
      const double x = std::abs(with - without) / sd[p];
      value.push_back(sd[p] * (density(x) - x * tail(x)));
    }
    const MeasurementPlan plan = choose_measurements(problem, 1, {.scenarios = 1000});
    const double of_best = value[plan.chosen[0].pair] / std::ranges::max(value);
    EXPECT_GT(of_best, 0.5) << round;
    share += of_best / kRounds;
  }
  EXPECT_GT(share, 0.9);
}

/// Correlated costs of `jobs` jobs: each job has a random factor.
MeasurementProblem correlated(std::size_t jobs, std::uint64_t seed) {
  const std::size_t pairs = jobs * (jobs - 1) / 2;
  MeasurementProblem problem =
      independent(jobs, std::vector<double>(pairs, 0.3), std::vector<double>(pairs, 0), 200);
  Rng level(seed, Stream::kTest, 1);
  std::vector<double> base(jobs);
  for (double& b : base) b = 0.2 + 0.4 * level.uniform();
  Rng rng(seed, Stream::kTest, 2);
  for (std::size_t d = 0; d < problem.draws; ++d) {
    std::vector<double> factor(jobs);
    for (std::size_t j = 0; j < jobs; ++j) factor[j] = base[j] + 0.1 * rng.normal();
    for (std::size_t p = 0; p < pairs; ++p) {
      const double a = factor[problem.pairs[p].a] * factor[problem.pairs[p].b];
      const double b = 0.05 * rng.normal();
      problem.cost[d * pairs + p] = a + b;
      problem.shown[(d * pairs + p) * 2] = a;
      problem.shown[(d * pairs + p) * 2 + 1] = b;
    }
  }
  problem.noise.assign(pairs * 2, 1e-4);
  return problem;
}

TEST(MeasurementChoice, TheSameBytesAtAnyNumberOfThreads) {
  for (const std::size_t jobs : {7U, 10U}) {
    const MeasurementProblem problem = correlated(jobs, 3);
    const MeasurementPlan one = choose_measurements(problem, 8, {.threads = 1});
    const MeasurementPlan four = choose_measurements(problem, 8, {.threads = 4});
    EXPECT_EQ(one.regret, four.regret);
    ASSERT_EQ(one.chosen.size(), four.chosen.size());
    for (std::size_t c = 0; c < one.chosen.size(); ++c) {
      EXPECT_EQ(one.chosen[c].pair, four.chosen[c].pair);
      EXPECT_EQ(one.chosen[c].regret_after, four.chosen[c].regret_after);
    }
  }
}

TEST(MeasurementChoice, ASmallerBudgetIsTheBeginningOfTheList) {
  const MeasurementProblem problem = correlated(10, 4);
  const MeasurementPlan more = choose_measurements(problem, 9, {});
  const MeasurementPlan less = choose_measurements(problem, 4, {});
  ASSERT_EQ(less.chosen.size(), 4U);
  std::set<std::size_t> pairs;
  for (const ChosenMeasurement& c : more.chosen) pairs.insert(c.pair);
  EXPECT_EQ(pairs.size(), 9U);
  for (std::size_t c = 0; c < 4; ++c) {
    EXPECT_EQ(less.chosen[c].pair, more.chosen[c].pair);
    EXPECT_EQ(less.chosen[c].regret_after, more.chosen[c].regret_after);
  }
  EXPECT_LT(more.chosen.back().regret_after, 0.6 * more.regret);
}

TEST(MeasurementChoice, NumbersOfJobsAndOrderOfPairsDoNotMatter) {
  const MeasurementProblem problem = correlated(9, 5);
  const std::size_t pairs = problem.pairs.size();
  std::vector<std::uint32_t> name(9);
  for (std::uint32_t j = 0; j < 9; ++j) name[j] = (4 * j + 3) % 9;
  MeasurementProblem other = problem;
  for (std::size_t p = 0; p < pairs; ++p) {
    const std::size_t from = pairs - 1 - p;
    const auto& [a, b, measurable] = problem.pairs[from];
    const auto [low, high] = std::minmax(name[a], name[b]);
    other.pairs[p] = {low, high, measurable};
    for (std::size_t d = 0; d < problem.draws; ++d) {
      other.cost[d * pairs + p] = problem.cost[d * pairs + from];
      for (std::size_t side = 0; side < 2; ++side) {
        other.shown[(d * pairs + p) * 2 + side] = problem.shown[(d * pairs + from) * 2 + side];
      }
    }
  }
  const MeasurementPlan one = choose_measurements(problem, 6, {});
  const MeasurementPlan two = choose_measurements(other, 6, {});
  EXPECT_NEAR(one.regret, two.regret, 1e-12);
  for (std::size_t c = 0; c < 6; ++c) {
    EXPECT_EQ(one.chosen[c].pair, pairs - 1 - two.chosen[c].pair) << c;
    EXPECT_NEAR(one.chosen[c].regret_after, two.chosen[c].regret_after, 1e-9);
  }
}

TEST(MeasurementChoice, CopiesOfAJobAreOneKind) {
  // Two copies of 0 and two of 1: 00+11 costs what 01+01 does, and 00 is uncertain.
  MeasurementProblem problem;
  problem.kinds = {0, 1, 0, 1};
  problem.pairs = {{0, 0, true}, {0, 1, true}, {1, 1, true}};
  problem.draws = 200;
  problem.noise.assign(6, 0);
  Rng rng(1, Stream::kTest);
  for (std::size_t d = 0; d < problem.draws; ++d) {
    const double z = 0.1 * rng.normal();
    for (const double cost : {0.3 + z, 0.25, 0.2}) problem.cost.push_back(cost);
    for (const double shown : {z / 2, z / 2, 0., 0., 0., 0.}) problem.shown.push_back(shown);
  }
  const MeasurementPlan plan = choose_measurements(problem, 3, {});
  ASSERT_EQ(plan.chosen.size(), 3U);
  EXPECT_EQ(plan.chosen[0].pair, 0U);
  EXPECT_LT(plan.chosen[0].regret_after, 0.3 * plan.regret);
}

TEST(MeasurementChoice, CertainCostsPairsKeptApartAndNoJobs) {
  const MeasurementProblem certain =
      independent(5, std::vector<double>(10, .1), std::vector<double>(10, 0));
  const MeasurementPlan plan = choose_measurements(certain, 99, {});
  EXPECT_EQ(plan.regret, 0);
  ASSERT_EQ(plan.chosen.size(), 10U);  // all there are
  for (const ChosenMeasurement& c : plan.chosen) EXPECT_EQ(c.regret_after, 0);

  MeasurementProblem apart = correlated(6, 9);
  apart.kinds.assign({0, 1, 2, 3, 4, 5, 6, 6});  // no pair has job 6
  const MeasurementPlan kept = choose_measurements(apart, 3, {});
  EXPECT_EQ(kept.chosen.size(), 3U);
  EXPECT_LT(kept.regret, 1);

  EXPECT_TRUE(choose_measurements({.draws = 2}, 3, {}).chosen.empty());
  EXPECT_TRUE(choose_measurements(certain, 0, {}).chosen.empty());
}

TEST(MeasurementChoice, InputsThatDoNotFitTogetherAreRefused) {
  const MeasurementProblem good = correlated(4, 1);
  const auto refused = [](const MeasurementProblem& problem, MeasurementOptions options = {}) {
    EXPECT_THROW(choose_measurements(problem, 1, options), std::invalid_argument);
  };
  MeasurementProblem bad = good;
  bad.draws = 1;
  refused(bad);
  bad = good;
  bad.cost.pop_back();
  refused(bad);
  bad = good;
  bad.noise.push_back(0);
  refused(bad);
  bad = good;
  bad.noise[1] = -1;
  refused(bad);
  for (const double hostile :
       {std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity()}) {
    bad = good;
    bad.cost[5] = hostile;
    refused(bad);
    bad = good;
    bad.shown[5] = hostile;
    refused(bad);
  }
  bad = good;
  std::swap(bad.pairs[0].a, bad.pairs[0].b);
  refused(bad);
  refused(good, {.scenarios = 0});
}

}  // namespace
}  // namespace corun::measurement_choice_test
