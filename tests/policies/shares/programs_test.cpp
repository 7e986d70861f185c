#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "policies/shares/allox.hpp"
#include "policies/shares/fifo_shares.hpp"
#include "policies/shares/gandiva.hpp"
#include "policies/shares/max_min.hpp"
#include "policies/shares/max_throughput.hpp"
#include "policies/shares/mersenne_twister.hpp"
#include "tests/policies/shares/random_problems.hpp"

namespace corun {
namespace {

/// Jobs of one GPU each, by their rates on the types.
ShareProblem problem_of(std::vector<int> gpus, const std::vector<std::vector<double>>& rates) {
  ShareProblem p;
  p.gpus = std::move(gpus);
  for (const std::vector<double>& of_job : rates) {
    const auto j = static_cast<std::uint32_t>(p.jobs.size());
    p.jobs.push_back({.id = j, .steps_left = 1000});
    p.units.push_back({j, std::nullopt});
    for (const double rate : of_job) p.rates.push_back({rate, 0});
  }
  return p;
}

TEST(MaxMin, EqualJobsShareEqually) {
  const Shares shares = max_min(problem_of({2}, {{3}, {7}, {1}, {1}, {2}}));
  EXPECT_NEAR(shares.objective, 0.4, 1e-9);
  for (const double x : shares.x) EXPECT_NEAR(x, 0.4, 1e-9);
}

TEST(MaxMin, AWeightIsAFactorOfTheShare) {
  ShareProblem p = problem_of({1}, {{1}, {1}});
  p.jobs[1].weight = 3;
  const Shares shares = max_min(p);
  EXPECT_NEAR(shares.x[0], 0.25, 1e-9);
  EXPECT_NEAR(shares.x[1], 0.75, 1e-9);
}

TEST(MaxMin, EachJobTakesTheTypeThatSuitsIt) {
  const Shares shares = max_min(problem_of({1, 1}, {{4, 1}, {1, 4}}));
  EXPECT_NEAR(shares.x[0], 1, 1e-9);
  EXPECT_NEAR(shares.x[3], 1, 1e-9);
  EXPECT_NEAR(shares.objective, 4 / 2.5, 1e-9);
}

TEST(MaxMin, AJobThatRunsNowhereHoldsNobodyUp) {
  const Shares shares = max_min(problem_of({1}, {{0}, {1}}));
  EXPECT_NEAR(shares.objective, 1, 1e-9);
  EXPECT_EQ(shares.x[0], 0);
}

TEST(WaterFilling, JobsThatCanRiseDo) {
  // Two jobs run on the first type only, one on the second only.
  const WaterFilling filled = water_filling(problem_of({1, 1}, {{1, 0}, {1, 0}, {0, 1}}));
  EXPECT_NEAR(filled.shares.x[0], 0.5, 1e-6);
  EXPECT_NEAR(filled.shares.x[2], 0.5, 1e-6);
  EXPECT_NEAR(filled.shares.x[5], 1, 1e-6);
  ASSERT_EQ(filled.objectives.size(), 4U);
  EXPECT_EQ(filled.objectives[1], 1);
  EXPECT_EQ(filled.objectives[3], 0);
}

/// What is solved without a program has the objective of the program, and keeps the constraints.
TEST(OneType, HasTheOptimaOfThePrograms) {
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    ShareProblem p = test::random_problem(seed, {.jobs = 40, .types = 1});
    for (ShareJob& job : p.jobs) job.time_left_s.reset();
    const auto check = [&](const Shares& found, const Shares& program, const char* what) {
      EXPECT_NEAR(found.objective, program.objective, 1e-8 * std::abs(program.objective))
          << what << ", seed " << seed;
      double gpus = 0;
      for (std::size_t j = 0; j < p.jobs.size(); ++j) {
        EXPECT_GE(found.x[j], 0) << what;
        EXPECT_LE(found.x[j], 1 + 1e-12) << what;
        gpus += p.jobs[j].gpus * found.x[j];
      }
      EXPECT_LE(gpus, p.gpus[0] + 1e-9) << what;
    };
    check(max_min(p, nullptr, &max_min_of_one_type), max_min(p), "max-min");
    check(min_makespan(p, nullptr, &max_min_of_one_type).shares, min_makespan(p).shares,
          "makespan");
    check(finish_time_fairness(p, nullptr, &max_min_of_one_type), finish_time_fairness(p),
          "finish-time fairness");
    check(max_throughput_of_one_type(p), max_throughput(p), "max-throughput");
  }
}

TEST(Makespan, IsTheWorkOverTheCluster) {
  ShareProblem p = problem_of({2}, {{1}, {1}, {1}});
  p.jobs[0].steps_left = 4000;
  p.jobs[1].steps_left = 3000;
  p.jobs[2].steps_left = 3000;
  const Makespan found = min_makespan(p);
  EXPECT_GE(found.shares.objective, 5000);
  EXPECT_LE(found.shares.objective, 5000 * 1.05);
  ASSERT_FALSE(found.found.empty());
  EXPECT_TRUE(found.found.front());  // 500,050 s
}

TEST(Makespan, GoesOnAboveAMillionSeconds) {
  ShareProblem p = problem_of({1}, {{1}});
  p.jobs[0].steps_left = 3e6;
  const Makespan found = min_makespan(p);
  EXPECT_GE(found.shares.objective, 3e6);
  EXPECT_LE(found.shares.objective, 3e6 * 1.05);
}

TEST(FinishTimeFairness, EqualJobsGetEqualShares) {
  const Shares shares = finish_time_fairness(problem_of({2}, {{1}, {1}, {1}, {1}}));
  EXPECT_NEAR(shares.objective, 1, 1e-9);
  for (const double x : shares.x) EXPECT_NEAR(x, 0.5, 1e-6);
}

TEST(FinishTimeFairness, AJobThatWaitedCatchesUp) {
  ShareProblem p = problem_of({1}, {{1}, {1}});
  p.jobs[0].age_s = 1000;
  const Shares shares = finish_time_fairness(p);
  // (1000 + 1000 / x) / 2000 = (1000 / (1 - x)) / 2000
  EXPECT_NEAR(1000 + 1000 / shares.x[0], 1000 / shares.x[1], 1e-4);
  EXPECT_NEAR(shares.x[0] + shares.x[1], 1, 1e-9);
}

TEST(MaxThroughput, GoesToTheFastestJobs) {
  const Shares shares = max_throughput(problem_of({1}, {{1}, {5}, {3}}));
  EXPECT_NEAR(shares.objective, 5, 1e-9);
  EXPECT_NEAR(shares.x[1], 1, 1e-9);
}

TEST(MaxThroughput, PerPrice) {
  const std::array prices{4.0, 1.0};
  const Shares shares = max_throughput(problem_of({1, 1}, {{8, 3}}), prices);
  EXPECT_NEAR(shares.objective, 3, 1e-9);  // 3 / 1 above 8 / 4
  EXPECT_NEAR(shares.x[1], 1, 1e-9);
}

TEST(MaxThroughput, KeepsDeadlinesIfItCan) {
  ShareProblem p = problem_of({1}, {{1}, {5}});
  p.jobs[0].time_left_s = 4000;  // 1000 steps at 1 a second: a quarter of the GPU
  const Shares kept = max_throughput(p);
  EXPECT_NEAR(kept.x[0], 0.25, 1e-9);
  EXPECT_NEAR(kept.objective, 0.25 + 0.75 * 5, 1e-9);
  p.jobs[0].time_left_s = 500;  // not even alone
  EXPECT_NEAR(max_throughput(p).objective, 5, 1e-9);
}

TEST(Programs, WarmStartsReachTheSameObjective) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    ShareProblem p = test::random_problem(seed, {.packed = seed % 2 == 0});
    ProgramBasis basis;
    (void)max_min(p, &basis);
    for (UnitRates& rates : p.rates) rates.a *= 1.1;
    const double cold = max_min(p).objective;
    EXPECT_NEAR(max_min(p, &basis).objective, cold, 1e-7 * cold) << seed;
  }
}

TEST(LeastCostMatching, IsTheBestOfAllPermutations) {
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    Rng rng(seed, Stream::kArrivals, 1);
    constexpr std::size_t kRows = 4, kColumns = 6;
    std::vector<double> cost(kRows * kColumns);
    for (double& c : cost) c = static_cast<double>(rng.below(20));
    std::vector<std::size_t> order(kColumns);
    std::iota(order.begin(), order.end(), 0);
    double best = 1e9;
    do {
      double sum = 0;
      for (std::size_t r = 0; r < kRows; ++r) sum += cost[r * kColumns + order[r]];
      best = std::min(best, sum);
    } while (std::ranges::next_permutation(order).found);
    const auto columns = least_cost_matching(kRows, kColumns, cost);
    double found = 0;
    for (std::size_t r = 0; r < kRows; ++r) found += cost[r * kColumns + columns[r]];
    EXPECT_EQ(found, best) << seed;
  }
}

TEST(AlloX, ShortJobsGoFirstOnTheirFastestType) {
  ShareProblem p = problem_of({1, 1}, {{1, 0.5}, {1, 0.5}, {0.1, 4}});
  p.jobs[1].steps_left = 10;
  const std::array free{1, 1};
  const auto starts = allox_starts(p, free);
  ASSERT_EQ(starts.size(), 2U);
  for (const AlloXStart& s : starts) EXPECT_EQ(s.type, s.job == 2 ? 1U : 0U);
  EXPECT_TRUE(std::ranges::any_of(starts, [](const AlloXStart& s) { return s.job == 1; }));
}

TEST(Gandiva, PairsOnlyWhereGpusAreShort) {
  ShareProblem p = test::random_problem(3, {.jobs = 30, .packed = true, .every_pair = true});
  GandivaShares gandiva(0);
  const Shares shares = gandiva.assign(p);
  std::vector<double> time(p.jobs.size(), 0.0);
  for (std::size_t u = 0; u < p.units.size(); ++u) {
    for (std::size_t t = 0; t < p.types(); ++t) {
      const double x = shares.x[u * p.types() + t];
      time[p.units[u].a] += x;
      if (p.units[u].b) time[*p.units[u].b] += x;
    }
  }
  for (const double share : time) {
    EXPECT_GT(share, 0);
    EXPECT_LE(share, 1 + 1e-12);
  }
}

TEST(FifoShares, AGangWaitsOrOvercommits) {
  ShareProblem both = problem_of({2}, {{1}, {1}});
  // The second job ends, and a gang of two has come.
  ShareProblem later = problem_of({2}, {{1}, {1}});
  later.jobs[1].id = 2;
  later.jobs[1].gpus = 2;
  for (const bool overcommits : {false, true}) {
    FifoShares fifo({.overcommits_gangs = overcommits});
    EXPECT_EQ(fifo.assign(both).x, (std::vector<double>{1, 1}));
    EXPECT_EQ(fifo.assign(later).x, (std::vector<double>{1, overcommits ? 1.0 : 0.0}));
  }
}

TEST(MersenneTwister, DrawsAsPython) {
  MersenneTwister bits(5);
  const std::array<std::uint32_t, 3> expected{2675342405U, 1097127993U, 3185950873U};
  for (const std::uint32_t e : expected) EXPECT_EQ(bits.next(), e);
  MersenneTwister shuffles(5);
  const std::array<std::array<int, 3>, 5> orders{
      {{0, 1, 2}, {0, 1, 2}, {1, 0, 2}, {2, 0, 1}, {1, 0, 2}}};
  for (const auto& order : orders) {
    std::array things{0, 1, 2};
    shuffles.shuffle(std::span<int>(things));
    EXPECT_EQ(things, order);
  }
  MersenneTwister numbers(0);
  for (const std::uint32_t e : {6U, 6U, 0U, 4U, 8U, 7U, 6U, 4U})
    EXPECT_EQ(numbers.below(10), static_cast<std::uint32_t>(e));
}

}  // namespace
}  // namespace corun
