#include "policies/groups/sparse_matching.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numeric>
#include <stdexcept>

#include <gtest/gtest.h>

#include "policies/groups/candidate_graph.hpp"
#include "sim/rng.hpp"
#include "tests/helpers/brute_force_matching.hpp"
#include "tests/helpers/matrix_belief.hpp"

namespace corun::test::sparse_matching_test {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
const double kNan = std::numeric_limits<double>::quiet_NaN();

enum class Costs { kRandom, kTies, kNegative, kProducts, kKinds, kHostile, kEnd };

/// Symmetric. With products and kinds all jobs have the same few cheapest co-runners.
std::vector<double> costs_of(Costs kind, std::size_t n, Rng& rng) {
  std::vector<double> load;
  for (std::size_t i = 0; i < n; ++i) {
    load.push_back(kind == Costs::kKinds ? 0.25 * rng.below(5) : rng.uniform());
  }
  std::vector<double> cost(n * n, 0);
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = i + 1; j < n; ++j) {
      double c = rng.uniform();
      if (kind == Costs::kTies) c = rng.below(3);
      if (kind == Costs::kNegative) c = 3 * c - 2;
      if (kind == Costs::kProducts || kind == Costs::kKinds) c = load[i] * load[j];
      if (kind == Costs::kHostile && rng.below(3) == 0) {
        c = std::array{kNan, kInfinity, -kInfinity, 1e300, -2e6, 999999.0}[rng.below(6)];
      }
      cost[i * n + j] = cost[j * n + i] = c;
    }
  }
  return cost;
}

/// Costs as the matching counts them: bounded and to 1e-9.
std::vector<double> bounded(std::vector<double> cost) {
  for (double& c : cost) c = bounded_cost(c);
  return cost;
}

/// Each job once, one alone if the number is odd; the total cost is right.
void expect_matching(const SparseMatching& m, const std::vector<double>& cost, std::size_t n) {
  ASSERT_EQ(m.co_runner.size(), n);
  double total = 0;
  std::size_t alone = 0;
  for (std::size_t i = 0; i < n; ++i) {
    if (m.co_runner[i] < 0) {
      ++alone;
      continue;
    }
    const auto mate = static_cast<std::size_t>(m.co_runner[i]);
    ASSERT_LT(mate, n);
    ASSERT_NE(mate, i);
    ASSERT_EQ(m.co_runner[mate], static_cast<std::int32_t>(i));
    if (mate > i) total += bounded_cost(cost[i * n + mate]);
  }
  EXPECT_EQ(alone, n % 2);
  EXPECT_NEAR(m.cost, total, 1e-9 * std::max(1.0, std::abs(total)));
}

// With few candidates, small blocks and too few rounds the matching may be bad, but the bound holds.
TEST(SparseMatching, TheBoundHoldsWhateverItIsMadeFrom) {
  Rng rng(1, Stream::kTest);
  int exact = 0;
  int instances = 0;
  for (int round = 0; round < 1200; ++round) {
    const auto kind = static_cast<Costs>(round % static_cast<int>(Costs::kEnd));
    const std::size_t n = 1 + rng.below(11);
    const std::vector<double> cost = costs_of(kind, n, rng);
    const MatrixBelief belief(cost, n);
    SparseMatchingOptions options;
    options.candidates = 1 + rng.below(3);
    options.block = 2 + 2 * rng.below(2);
    options.rounds = static_cast<int>(rng.below(4));
    options.tolerance = 0;
    const SparseMatching m = sparse_matching(belief, first_jobs(n), {}, options);
    expect_matching(m, cost, n);
    const double optimum = brute_force_matching(bounded(cost), n);
    const double rounding = 1e-8 * std::max(1.0, std::abs(optimum));
    EXPECT_LE(m.least, optimum + rounding) << "round " << round << ", n " << n;
    EXPECT_GE(m.cost, optimum - rounding) << "round " << round << ", n " << n;
    EXPECT_GE(m.loss(), 0);
    ++instances;
    exact += m.cost <= optimum + rounding ? 1 : 0;
  }
  EXPECT_GT(exact, instances / 2);  // it is often exact, not by chance
}

TEST(SparseMatching, UpToABlockItIsTheFullMatching) {
  Rng rng(2, Stream::kTest);
  for (int round = 0; round < 60; ++round) {
    const std::size_t n = 1 + rng.below(12);
    const std::vector<double> cost =
        costs_of(static_cast<Costs>(round % static_cast<int>(Costs::kEnd)), n, rng);
    const SparseMatching m = sparse_matching(MatrixBelief(cost, n), first_jobs(n), {});
    expect_matching(m, cost, n);
    EXPECT_EQ(m.loss(), 0);
    EXPECT_EQ(m.rounds, 0);
    const double optimum = brute_force_matching(bounded(cost), n);
    EXPECT_NEAR(m.cost, optimum, 1e-8 * std::max(1.0, std::abs(optimum)));
  }
}

// Compared with the full matching of LEMON: the proven loss is small and not below the true one.
TEST(SparseMatching, LosesNoMoreThanItSays) {
  Rng rng(3, Stream::kTest);
  for (const Costs kind : {Costs::kRandom, Costs::kTies, Costs::kProducts, Costs::kKinds}) {
    for (const std::size_t n : {150U, 201U}) {
      const std::vector<double> cost = costs_of(kind, n, rng);
      const auto full = min_cost_matching(cost, n);
      double optimum = 0;
      for (std::size_t i = 0; i < n; ++i) {
        if (full[i] > static_cast<std::int32_t>(i)) {
          optimum += cost[i * n + static_cast<std::size_t>(full[i])];
        }
      }
      SparseMatchingOptions options;
      options.rounds = 20;
      const SparseMatching m = sparse_matching(MatrixBelief(cost, n), first_jobs(n), {}, options);
      const std::string what = "costs " + std::to_string(static_cast<int>(kind)) + ", n " +
                               std::to_string(n) + ", rounds " + std::to_string(m.rounds);
      expect_matching(m, cost, n);
      EXPECT_LE(m.least, optimum + 1e-6) << what;
      EXPECT_GE(m.cost, optimum - 1e-6) << what;
      EXPECT_LE(m.loss(), options.tolerance * m.cost + 1e-6) << what;
      EXPECT_LT(m.edges, n * (n - 1) / 4) << what;
    }
  }
}

// All jobs alike: a choice by position would leave most jobs without a candidate.
TEST(SparseMatching, JobsThatAreAllAlike) {
  const std::size_t n = 100;
  const SparseMatching m =
      sparse_matching(MatrixBelief(std::vector<double>(n * n, 0.5), n), first_jobs(n), {});
  EXPECT_NEAR(m.cost, 25, 1e-9);
  EXPECT_NEAR(m.least, 25, 1e-6);
  EXPECT_LE(m.rounds, 1);
}

TEST(SparseMatching, TheOrderOfTheQueueDoesNotMatter) {
  Rng rng(4, Stream::kTest);
  const std::size_t n = 90;
  const std::vector<double> cost = costs_of(Costs::kRandom, n, rng);
  const MatrixBelief belief(cost, n);
  const SparseMatching ahead = sparse_matching(belief, first_jobs(n), {});
  std::vector<JobId> jobs = first_jobs(n);
  std::ranges::reverse(jobs);
  const SparseMatching back = sparse_matching(belief, jobs, {});
  for (std::size_t i = 0; i < n; ++i) {
    EXPECT_EQ(static_cast<std::int32_t>(n) - 1 - back.co_runner[n - 1 - i], ahead.co_runner[i]);
  }
}

// ---- components -----------------------------------------------------------------------------------

TEST(MatchComponents, AreMatchedApartAndEachAtItsBest) {
  // A triangle with a tail, and a pair: 0-1-2 (a blossom), 3 at 2; 4-5.
  const std::vector<MatchEdge> edges = {{0, 1, 1}, {1, 2, 1}, {0, 2, 1}, {2, 3, 5}, {4, 5, 2}};
  std::size_t components = 0;
  const PricedMatching m = match_components(edges, 6, &components);
  EXPECT_EQ(components, 2U);
  EXPECT_EQ(m.co_runner, (std::vector<std::uint32_t>{1, 0, 3, 2, 5, 4}));
  for (const MatchEdge& e : edges) EXPECT_LE(m.price[e.a] + m.price[e.b], e.cost + 1e-8);
}

// The prices satisfy every edge, and differ from the cost only by half of the blossoms' values.
TEST(MatchComponents, PricesNeverExceedAnEdge) {
  Rng rng(5, Stream::kTest);
  for (int round = 0; round < 100; ++round) {
    const std::size_t n = 2 * (1 + rng.below(10));
    std::vector<MatchEdge> edges;
    for (std::uint32_t i = 0; i < n; ++i) {
      for (std::uint32_t j = i + 1; j < n; ++j) {
        if (j == (i ^ 1U) || rng.below(3) == 0) edges.push_back({i, j, 4 * rng.uniform() - 2});
      }
    }
    const PricedMatching m = match_components(edges, n);
    double cost = 0;
    for (const MatchEdge& e : edges) {
      EXPECT_LE(m.price[e.a] + m.price[e.b], e.cost + 1e-8);
      if (m.co_runner[e.a] == e.b) cost += e.cost;
    }
    EXPECT_LE(std::accumulate(m.price.begin(), m.price.end(), 0.0), cost + 1e-7);
  }
}

TEST(MatchComponents, SaysWhereThereIsNoPerfectMatching) {
  EXPECT_THROW(match_components({{0, 1, 1}, {0, 2, 1}, {0, 3, 1}}, 4), std::logic_error);
  EXPECT_THROW(match_components({{0, 1, 1}}, 3), std::logic_error);
  EXPECT_FALSE(min_cost_matching(std::vector<MatchEdge>{}, 2).has_value());
  EXPECT_TRUE(min_cost_matching(std::vector<MatchEdge>{}, 0).has_value());
}

// ---- queries to a belief --------------------------------------------------------------------------

std::vector<std::uint32_t> positions(const std::vector<CoRunner>& co_runners) {
  std::vector<std::uint32_t> out;
  for (const CoRunner& p : co_runners) out.push_back(p.position);
  return out;
}

TEST(TopCoRunners, CheapestFirstAndTiesByWhoComesNext) {
  const MatrixBelief alike(std::vector<double>(25, 1.0), 5);
  EXPECT_EQ(positions(alike.top_co_runners({.jobs = first_jobs(5), .k = 2}, {})),
            (std::vector<std::uint32_t>{1, 2, 2, 3, 3, 4, 4, 0, 0, 1}));
  const MatrixBelief three({0, 2, 1, 2, 0, 3, 1, 3, 0}, 3);
  EXPECT_EQ(three.top_co_runners({.jobs = first_jobs(3), .k = 9}, {}),
            (std::vector<CoRunner>{{2, 1}, {1, 2}, {0, 2}, {2, 3}, {0, 1}, {1, 3}}));
}

TEST(TopCoRunners, PricesAreTakenOffAndRowsAreChosen) {
  const MatrixBelief three({0, 2, 1, 2, 0, 3, 1, 3, 0}, 3);
  const std::vector<double> prices = {0, 1.5, 0};
  const std::vector<std::uint32_t> rows = {2, 0};
  EXPECT_EQ(
      three.top_co_runners({.jobs = first_jobs(3), .k = 1, .rows = rows, .prices = prices}, {}),
      (std::vector<CoRunner>{{0, 1}, {1, 0.5}}));
  EXPECT_TRUE(three.top_co_runners({.jobs = first_jobs(1), .k = 3}, {}).empty());
  EXPECT_TRUE(three.top_co_runners({.jobs = {}, .k = 3}, {}).empty());
}

TEST(TopCoRunners, ACostThatNobodyKnowsIsTheWorst) {
  const MatrixBelief belief({0, kNan, 7, kNan, 0, kNan, 7, kNan, 0}, 3);
  EXPECT_EQ(positions(belief.top_co_runners({.jobs = first_jobs(3), .k = 2}, {})),
            (std::vector<std::uint32_t>{2, 1, 2, 0, 0, 1}));
}

}  // namespace
}  // namespace corun::test::sparse_matching_test
