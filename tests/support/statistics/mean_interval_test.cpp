#include "support/statistics/mean_interval.hpp"

#include <cmath>
#include <limits>
#include <map>
#include <numeric>
#include <tuple>
#include <vector>

#include <gtest/gtest.h>

#include "sim/base/summary.hpp"
#include "sim/rng.hpp"

namespace corun::mean_interval_test {
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
  return compare(all_values).versus[p][q][kFirst];
}

// Policy 1 is worse by 1 in every replication, which differ a lot.
TEST(MeanInterval, DifferencesArePairedByReplication) {
  const Interval d = versus({{10, 200, 3000, 40}, {11, 201, 3001, 41}}, 1, 0);
  EXPECT_NEAR(d.mean, 1, 1e-9);
  EXPECT_NEAR(d.lo, 1, 1e-9);
  EXPECT_NEAR(d.hi, 1, 1e-9);
}

// Differences stay paired if one policy does not define the metric: without its third replication
// the mean of policy 0 is far lower, which must not affect the difference.
TEST(MeanInterval, ReplicationsThatOnePolicyDoesNotDefineAreLeftOut) {
  const std::vector<std::vector<double>> values{
      {10, 200, kNaN, 40, 7}, {11, 201, 3001, 41, 8}, {12, 202, 3002, kNaN, 9}};
  for (const auto& [p, q, expected] : std::vector<std::tuple<std::size_t, std::size_t, double>>{
           {1, 0, 1}, {0, 1, -1}, {2, 0, 2}, {0, 2, -2}, {2, 1, 1}}) {
    const Interval d = versus(values, p, q);
    EXPECT_NEAR(d.mean, expected, 1e-9) << p << " against " << q;
    EXPECT_NEAR(d.lo, expected, 1e-9) << p << " against " << q;
    EXPECT_NEAR(d.hi, expected, 1e-9) << p << " against " << q;
  }
}

TEST(MeanInterval, OneUndefinedMetricLeavesTheOthersAsTheyWere) {
  std::vector<std::vector<MetricValues>> values{policy({1, 5, 2, 8}), policy({3, 4, 9, 1})};
  const Comparison before = compare(values);
  values[0][2][kFirst] = kNaN;
  const Comparison after = compare(values);
  for (std::size_t m = 0; m < kMetricCount; ++m) {
    if (m == kFirst) continue;
    EXPECT_EQ(after.versus[1][0][m].mean, before.versus[1][0][m].mean);
    EXPECT_EQ(after.versus[1][0][m].lo, before.versus[1][0][m].lo);
    EXPECT_EQ(after.versus[1][0][m].hi, before.versus[1][0][m].hi);
  }
  EXPECT_DOUBLE_EQ(after.versus[1][0][kFirst].mean, (2.0 - 1.0 - 7.0) / 3);
  EXPECT_DOUBLE_EQ(after.policies[0][kFirst].mean, 14.0 / 3);
}

TEST(MeanInterval, FewerThanThreeReplicationsHaveNone) {
  for (const std::vector<double>& few : {std::vector<double>{0.1}, {0.1, 0.4}}) {
    std::vector<std::vector<MetricValues>> values{policy(few), policy(few)};
    values[1][0][kFirst] = kNaN;
    const Comparison c = compare(values);
    for (std::size_t m = 0; m < kMetricCount; ++m) {
      EXPECT_TRUE(std::isnan(c.policies[0][m].lo) && std::isnan(c.policies[0][m].hi)) << m;
      EXPECT_EQ(c.policies[0][m].mean, mean(few));
      EXPECT_FALSE(c.versus[0][1][m].known() || c.versus[0][1][m].excludes_zero());
    }
    EXPECT_TRUE(std::isnan(t_test(few)));
  }
  EXPECT_TRUE(std::isnan(mean_interval({}).mean));
}

TEST(MeanInterval, NoReplicationDefinedByBothGivesNoDifference) {
  const Interval d = versus({{1, kNaN, 2}, {kNaN, 3, kNaN}}, 1, 0);
  EXPECT_TRUE(std::isnan(d.mean) && std::isnan(d.lo) && std::isnan(d.hi));
  const Interval never = versus({{kNaN, kNaN}, {kNaN, kNaN}}, 1, 0);
  EXPECT_TRUE(std::isnan(never.mean));
}

/// Student's t, 97.5 %, by degrees of freedom, as in printed tables.
const std::map<std::size_t, double> kPrintedT{
    {2, 4.302653}, {4, 2.776445}, {9, 2.262157}, {29, 2.045230}};

// An implementation of its own: the textbook's sums and the printed quantiles.
TEST(MeanInterval, IsTheTextbooksOfStudent) {
  for (const auto& [freedom, t] : kPrintedT) {
    Rng rng(3, Stream::kTest, freedom);
    std::vector<double> values;
    double sum = 0;
    double squares = 0;
    for (std::size_t i = 0; i <= freedom; ++i) {
      values.push_back(100 + 7 * rng.normal());
      sum += values.back();
      squares += values.back() * values.back();
    }
    const auto n = static_cast<double>(values.size());
    const double variance = (squares - sum * sum / n) / (n - 1);
    const double half_width = t * std::sqrt(variance / n);
    const Interval interval = mean_interval(values);
    EXPECT_NEAR(interval.mean, sum / n, 1e-9);
    EXPECT_NEAR(interval.lo, sum / n - half_width, 1e-5) << freedom;
    EXPECT_NEAR(interval.hi, sum / n + half_width, 1e-5) << freedom;
  }
}

TEST(MeanInterval, HoldsTheMeanOfNormalValuesIn95Percent) {
  constexpr int kTrials = 4000;
  for (const std::size_t n : {3, 5, 10, 30}) {
    Rng rng(5, Stream::kTest, n);
    int held = 0;
    for (int trial = 0; trial < kTrials; ++trial) {
      std::vector<double> values(n);
      for (double& v : values) v = rng.normal();
      const Interval interval = mean_interval(values);
      held += interval.lo <= 0 && 0 <= interval.hi ? 1 : 0;
    }
    // Five standard errors of the share.
    EXPECT_NEAR(static_cast<double>(held) / kTrials, 0.95, 0.0173) << n;
  }
}

TEST(MeanInterval, NeverContradictsItsPValue) {
  for (std::uint64_t trial = 0; trial < 500; ++trial) {
    Rng rng(7, Stream::kTest, trial);
    std::vector<double> values(3 + trial % 9);
    for (double& v : values) v = 0.8 + std::exp(rng.normal()) * (rng.uniform() < 0.5 ? 1 : -1);
    EXPECT_EQ(mean_interval(values).excludes_zero(), t_test(values) < 0.05) << trial;
  }
  EXPECT_EQ(t_test(std::vector<double>{1, 1, 1}), 0);
  EXPECT_EQ(t_test(std::vector<double>{0, 0, 0}), 1);
  EXPECT_NEAR(t_test(std::vector<double>{1, 2, 3, 4, 5}), 0.01324, 1e-5);  // t = 4.2426
  EXPECT_NEAR(t_test(std::vector<double>{-1, 0, 1, 2, 3}), 0.2302, 1e-4);  // t = 1.4142
}

TEST(MeanInterval, MarksFewSkewedAndMostlyEqualValues) {
  std::vector<double> even(20);
  std::iota(even.begin(), even.end(), 0.0);
  EXPECT_FALSE(mean_interval(even).approximate);
  EXPECT_TRUE(mean_interval(std::span(even).first(9)).approximate);
  std::vector<double> skewed = even;
  skewed.back() = 200;
  EXPECT_TRUE(mean_interval(skewed).approximate);
  std::vector<double> mostly(40, 0.0);
  for (std::size_t i = 0; i < 19; ++i) mostly[i] = (i % 2 == 0 ? 1 : -1);
  EXPECT_TRUE(mean_interval(mostly).approximate);
  EXPECT_TRUE(mean_interval(std::vector<double>(99, 2.1)).approximate) << "another value may come";
  EXPECT_FALSE(mean_interval(std::vector<double>(100, 2.1)).approximate);
}

}  // namespace
}  // namespace corun::mean_interval_test
