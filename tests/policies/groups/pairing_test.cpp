#include "policies/groups/pairing.hpp"

#include <cmath>
#include <map>
#include <numeric>

#include <gtest/gtest.h>

#include "policies/groups/matching.hpp"
#include "sim/rng.hpp"
#include "tests/helpers/brute_force_matching.hpp"

namespace corun::pairing_test {
namespace {

using Counts = std::vector<std::size_t>;

double total(const ClusterPlan& plan, std::span<const double> cost, std::size_t k) {
  double sum = 0;
  for (const ClusterSlots& s : plan.slots) {
    sum += static_cast<double>(s.groups) * cost[static_cast<std::size_t>(s.clusters.first) * k +
                                                static_cast<std::size_t>(s.clusters.second)];
  }
  return sum;
}

/// The plan has every job of every cluster once.
void expect_partition(const ClusterPlan& plan, const Counts& counts) {
  Counts used(counts.size(), 0);
  for (const ClusterSlots& s : plan.slots) {
    used[static_cast<std::size_t>(s.clusters.first)] += s.groups;
    used[static_cast<std::size_t>(s.clusters.second)] += s.groups;
  }
  if (plan.alone >= 0) ++used[static_cast<std::size_t>(plan.alone)];
  EXPECT_EQ(used, counts);
  const std::size_t jobs = std::accumulate(counts.begin(), counts.end(), std::size_t{0});
  EXPECT_EQ(plan.alone >= 0, jobs % 2 == 1);
}

std::vector<double> random_costs(Rng& rng, std::size_t k) {
  std::vector<double> cost(k * k);
  for (std::size_t a = 0; a < k; ++a) {
    for (std::size_t b = a; b < k; ++b) {
      // Sometimes whole numbers: ties must not change the total.
      const double c = rng.below(3) == 0 ? rng.below(3) : rng.uniform() * 2 - 0.5;
      cost[a * k + b] = cost[b * k + a] = c;
    }
  }
  return cost;
}

/// The cheapest perfect matching of all jobs, by the matching library.
double matched(const Counts& counts, std::span<const double> cost) {
  std::vector<std::size_t> cluster;
  for (std::size_t c = 0; c < counts.size(); ++c) cluster.insert(cluster.end(), counts[c], c);
  const std::size_t n = cluster.size();
  std::vector<double> all(n * n);
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = 0; j < n; ++j)
      all[i * n + j] = cost[cluster[i] * counts.size() + cluster[j]];
  }
  const auto co_runner = min_cost_matching(all, n);
  double sum = 0;
  for (std::size_t i = 0; i < n; ++i) {
    if (co_runner[i] > static_cast<std::int32_t>(i)) {
      sum += all[i * n + static_cast<std::size_t>(co_runner[i])];
    }
  }
  return sum;
}

TEST(Pairing, CountsOfThreeClustersCostWhatTheMatchingOfJobsCosts) {
  Rng rng(1, Stream::kTest);
  for (int round = 0; round < 2000; ++round) {
    const std::size_t k = 1 + rng.below(3);
    Counts counts;
    for (std::size_t c = 0; c < k; ++c) counts.push_back(rng.below(9));
    const auto cost = random_costs(rng, k);
    const ClusterPlan plan = choose_cluster_pairs(Pairing::kMatching, counts, cost, {});
    expect_partition(plan, counts);
    EXPECT_NEAR(total(plan, cost, k), matched(counts, cost), 1e-7);
  }
}

TEST(Pairing, MoreClustersAreMatchedJobByJob) {
  Rng rng(2, Stream::kTest);
  for (int round = 0; round < 200; ++round) {
    Counts counts;
    for (int c = 0; c < 5; ++c) counts.push_back(rng.below(5));
    const auto cost = random_costs(rng, 5);
    const ClusterPlan plan = choose_cluster_pairs(Pairing::kMatching, counts, cost, {});
    expect_partition(plan, counts);
    EXPECT_NEAR(total(plan, cost, 5), matched(counts, cost), 1e-7);
  }
}

TEST(Pairing, GreedyTakesTheBestPairAsOftenAsItCan) {
  // Ranks: 0-1 (1), 2-2 (2), 1-2 (3), then the rest.
  const std::vector<double> cost{9, 1, 8, 1, 7, 3, 8, 3, 2};
  const ClusterPlan plan = choose_cluster_pairs(Pairing::kGreedyRank, Counts{2, 4, 3}, cost, {});
  ASSERT_EQ(plan.slots.size(), 3U);
  EXPECT_EQ(plan.slots[0].clusters, ClusterPair(0, 1));
  EXPECT_EQ(plan.slots[0].groups, 2U);
  EXPECT_EQ(plan.slots[0].rank, 1);
  EXPECT_EQ(plan.slots[1].clusters, ClusterPair(2, 2));
  EXPECT_EQ(plan.slots[1].groups, 1U);
  EXPECT_EQ(plan.slots[2].clusters, ClusterPair(1, 2));
  EXPECT_EQ(plan.slots[2].groups, 1U);
  EXPECT_EQ(plan.alone, 1);
}

TEST(Pairing, GivenOrderComesFirstAndTheRestByCost) {
  const std::vector<double> cost{1, 5, 4, 5, 2, 3, 4, 3, 6};
  const std::vector<ClusterPair> given{{2, 0}};
  const ClusterPlan plan = choose_cluster_pairs(Pairing::kGiven, Counts{3, 2, 1}, cost, given);
  ASSERT_EQ(plan.slots.size(), 3U);
  EXPECT_EQ(plan.slots[0].clusters, ClusterPair(0, 2));
  EXPECT_EQ(plan.slots[1].clusters, ClusterPair(0, 0));
  EXPECT_EQ(plan.slots[2].clusters, ClusterPair(1, 1));
}

TEST(Matching, FindsTheOptimumOfEverySmallInstance) {
  Rng rng(3, Stream::kTest);
  for (int round = 0; round < 400; ++round) {
    const std::size_t n = 1 + rng.below(11);
    std::vector<double> cost(n * n, 0);
    const bool ties = rng.below(2) == 0;
    for (std::size_t i = 0; i < n; ++i) {
      for (std::size_t j = i + 1; j < n; ++j) {
        cost[i * n + j] = cost[j * n + i] =
            ties ? static_cast<double>(rng.below(4)) - 1 : rng.uniform() * 3 - 1;
      }
    }
    const auto co_runner = min_cost_matching(cost, n);
    double sum = 0;
    int alone = 0;
    for (std::size_t i = 0; i < n; ++i) {
      if (co_runner[i] < 0) {
        ++alone;
        continue;
      }
      ASSERT_EQ(co_runner[static_cast<std::size_t>(co_runner[i])], static_cast<std::int32_t>(i));
      sum += cost[i * n + static_cast<std::size_t>(co_runner[i])] / 2;
    }
    EXPECT_EQ(alone, static_cast<int>(n % 2));
    EXPECT_NEAR(sum, test::brute_force_matching(cost, n), 1e-7);
  }
}

}  // namespace
}  // namespace corun::pairing_test
