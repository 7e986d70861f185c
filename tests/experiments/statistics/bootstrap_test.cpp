#include "experiments/statistics/bootstrap.hpp"

#include <cmath>
#include <limits>
#include <tuple>
#include <vector>

#include <gtest/gtest.h>

namespace corun::bootstrap_test {
namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
constexpr auto kFirst = static_cast<std::size_t>(Metric::kIsd);

/// All metrics of a replication have this value.
MetricValues all(double value) {
  MetricValues v;
  v.fill(value);
  return v;
}

std::vector<MetricValues> policy(const std::vector<double>& values) {
  std::vector<MetricValues> out;
  for (const double value : values) out.push_back(all(value));
  return out;
}

Interval versus(const std::vector<std::vector<double>>& values, std::size_t p, std::size_t q) {
  std::vector<std::vector<MetricValues>> all_values;
  for (const auto& v : values) all_values.push_back(policy(v));
  return compare(all_values, 7).versus[p][q][kFirst];
}

// Policy 1 is worse by 1 in every replication, which differ a lot.
TEST(Bootstrap, DifferencesArePairedByReplication) {
  const Interval d = versus({{10, 200, 3000, 40}, {11, 201, 3001, 41}}, 1, 0);
  EXPECT_NEAR(d.mean, 1, 1e-9);
  EXPECT_NEAR(d.lo, 1, 1e-9);
  EXPECT_NEAR(d.hi, 1, 1e-9);
}

// Differences stay paired if one policy does not define the metric: without its third replication
// the mean of policy 0 is far lower, which must not affect the difference.
TEST(Bootstrap, ReplicationsThatOnePolicyDoesNotDefineAreLeftOut) {
  const std::vector<std::vector<double>> values{
      {10, 200, kNaN, 40}, {11, 201, 3001, 41}, {12, 202, 3002, kNaN}};
  for (const auto& [p, q, expected] : std::vector<std::tuple<std::size_t, std::size_t, double>>{
           {1, 0, 1}, {0, 1, -1}, {2, 0, 2}, {0, 2, -2}, {2, 1, 1}}) {
    const Interval d = versus(values, p, q);
    EXPECT_NEAR(d.mean, expected, 1e-9) << p << " against " << q;
    EXPECT_NEAR(d.lo, expected, 1e-9) << p << " against " << q;
    EXPECT_NEAR(d.hi, expected, 1e-9) << p << " against " << q;
  }
}

TEST(Bootstrap, OneUndefinedMetricLeavesTheOthersAsTheyWere) {
  std::vector<std::vector<MetricValues>> values{policy({1, 5, 2, 8}), policy({3, 4, 9, 1})};
  const Comparison before = compare(values, 7);
  values[0][2][kFirst] = kNaN;
  const Comparison after = compare(values, 7);
  for (std::size_t m = 0; m < kMetricCount; ++m) {
    if (m == kFirst) continue;
    EXPECT_EQ(after.versus[1][0][m].mean, before.versus[1][0][m].mean);
    EXPECT_EQ(after.versus[1][0][m].lo, before.versus[1][0][m].lo);
    EXPECT_EQ(after.versus[1][0][m].hi, before.versus[1][0][m].hi);
  }
  EXPECT_DOUBLE_EQ(after.versus[1][0][kFirst].mean, (2.0 - 1.0 - 7.0) / 3);
  EXPECT_DOUBLE_EQ(after.policies[0][kFirst].mean, 14.0 / 3);
}

TEST(Bootstrap, OneReplicationIsItsOwnInterval) {
  std::vector<std::vector<MetricValues>> values{policy({0.1}), policy({0.3})};
  values[1][0][kFirst] = kNaN;
  const Comparison c = compare(values, 7);
  for (std::size_t m = 0; m < kMetricCount; ++m) {
    const Interval& own = c.policies[0][m];
    EXPECT_TRUE(own.mean == 0.1 && own.lo == 0.1 && own.hi == 0.1) << m;
    if (m == kFirst) continue;
    const Interval& d = c.versus[0][1][m];
    EXPECT_TRUE(d.mean == 0.1 - 0.3 && d.lo == d.mean && d.hi == d.mean) << m;
  }
  EXPECT_TRUE(std::isnan(c.policies[1][kFirst].lo) && std::isnan(c.versus[0][1][kFirst].hi));
}

TEST(Bootstrap, NoReplicationDefinedByBothGivesNoDifference) {
  const Interval d = versus({{1, kNaN, 2}, {kNaN, 3, kNaN}}, 1, 0);
  EXPECT_TRUE(std::isnan(d.mean) && std::isnan(d.lo) && std::isnan(d.hi));
  const Interval never = versus({{kNaN, kNaN}, {kNaN, kNaN}}, 1, 0);
  EXPECT_TRUE(std::isnan(never.mean));
}

}  // namespace
}  // namespace corun::bootstrap_test
