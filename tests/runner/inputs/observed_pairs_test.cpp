#include "runner/inputs/observed_pairs.hpp"

#include <cmath>
#include <limits>
#include <map>
#include <set>
#include <utility>

#include <gtest/gtest.h>

namespace corun::observed_pairs_test {
namespace {

constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();

/// `jobs` jobs, each pair of two of them once; the feature of job i is i, its key 100 + i.
SpeedTable all_pairs(std::uint32_t jobs) {
  SpeedTable table;
  table.features = {{"x", FeatureScale::kLinear}};
  for (std::uint32_t i = 0; i < jobs; ++i) {
    table.jobs.push_back(100 + i);
    table.values.push_back(i);
    for (std::uint32_t j = 0; j < i; ++j) {
      table.rows.push_back({i, j, 1 / (1.0 + i), 1 / (1.0 + j)});
    }
  }
  return table;
}

std::set<std::pair<WorkloadKey, WorkloadKey>> pairs_of(const SpeedTable& table) {
  std::set<std::pair<WorkloadKey, WorkloadKey>> pairs;
  for (const SpeedTable::Row& row : table.rows) {
    pairs.emplace(table.jobs[row.a], table.jobs[row.b]);
  }
  return pairs;
}

TEST(KnownPairs, TakesTheShareAndKeepsEachRowAsItIs) {
  const SpeedTable table = all_pairs(10);
  for (const double share : {0.0, 0.1, 0.5, 1.0}) {
    const SpeedTable known = observed_pairs(table, share, 1);
    EXPECT_EQ(known.rows.size(), static_cast<std::size_t>(std::llround(45 * share)));
    EXPECT_EQ(pairs_of(known).size(), known.rows.size()) << "no row twice";
    EXPECT_EQ(known.features, table.features);
    std::set<WorkloadKey> in_rows;
    for (const SpeedTable::Row& row : known.rows) {
      EXPECT_EQ(row.speed_a, 1 / (1 + known.of(row.a)[0]));
      EXPECT_EQ(row.speed_b, 1 / (1 + known.of(row.b)[0]));
      EXPECT_EQ(known.of(row.a)[0], known.jobs[row.a] - 100);
      in_rows.insert(known.jobs[row.a]);
      in_rows.insert(known.jobs[row.b]);
    }
    EXPECT_EQ(in_rows.size(), known.jobs.size()) << "nothing of a job that is in no known pair";
  }
}

TEST(KnownPairs, SmallerSharesAreNestedAndSeedsDiffer) {
  const SpeedTable table = all_pairs(12);
  const auto few = pairs_of(observed_pairs(table, 0.1, 5));
  const auto many = pairs_of(observed_pairs(table, 0.6, 5));
  for (const auto& pair : few) EXPECT_TRUE(many.contains(pair));
  EXPECT_EQ(few, pairs_of(observed_pairs(table, 0.1, 5)));
  EXPECT_NE(few, pairs_of(observed_pairs(table, 0.1, 6)));
}

TEST(KnownPairs, EveryRowIsDrawnAlike) {
  const SpeedTable table = all_pairs(5);
  std::map<std::pair<WorkloadKey, WorkloadKey>, int> drawn;
  constexpr int kSeeds = 2000;
  for (int seed = 0; seed < kSeeds; ++seed) {
    for (const auto& pair :
         pairs_of(observed_pairs(table, 0.3, static_cast<std::uint64_t>(seed)))) {
      ++drawn[pair];
    }
  }
  ASSERT_EQ(drawn.size(), 10U);
  for (const auto& [pair, times] : drawn) EXPECT_NEAR(times, 600, 5 * std::sqrt(600 * 0.7));
}

TEST(KnownPairs, RowsWithoutASpeedAreNoneToKnow) {
  SpeedTable table = all_pairs(4);
  for (std::size_t r = 0; r < 4; ++r) table.rows[r].speed_a = table.rows[r].speed_b = kUnknown;
  table.rows[4].speed_b = kUnknown;  // half of it was measured
  EXPECT_EQ(observed_pairs(table, 1, 1).rows.size(), 2U);
  EXPECT_EQ(observed_pairs(table, 0.5, 1).rows.size(), 1U);
  EXPECT_TRUE(observed_pairs(SpeedTable{}, 1, 1).rows.empty());
}

}  // namespace
}  // namespace corun::observed_pairs_test
