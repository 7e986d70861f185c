#include "results/decision_times.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include <gtest/gtest.h>

#include "sim/rng.hpp"

namespace corun::decision_times_test {
namespace {

TEST(DecisionTimes, QuantilesLieWithinABinOfTheTrueOnes) {
  Rng rng(1, Stream::kTest);
  std::vector<double> all;
  DecisionTimes times;
  DecisionTimes other;
  for (int i = 0; i < 5000; ++i) {
    all.push_back(std::exp(rng.normal() * 3 - 9));
    (i % 3 == 0 ? other : times).add(all.back());
  }
  times.add(other);
  std::ranges::sort(all);
  EXPECT_EQ(times.passes(), 5000U);
  EXPECT_EQ(times.max_s(), all.back());
  EXPECT_EQ(times.quantile_s(1), all.back());
  for (const double share : {0.01, 0.5, 0.95, 0.99}) {
    const double exact = all[static_cast<std::size_t>(share * 5000) - 1];
    EXPECT_GE(times.quantile_s(share), exact) << share;
    EXPECT_LE(times.quantile_s(share), exact * std::exp2(1.0 / 16) * (1 + 1e-9)) << share;
  }
}

TEST(DecisionTimes, NoneAndTheLeast) {
  EXPECT_EQ(DecisionTimes{}.quantile_s(0.5), 0);
  DecisionTimes times;
  times.add(0);
  EXPECT_EQ(times.quantile_s(0.5), 0);  // not above the longest
  times.add(3e-3);
  EXPECT_EQ(text_of(times), "2 passes, p50 0.00104 us, p95 3 ms, p99 3 ms, longest 3 ms");
}

TEST(PlanLosses, AreSharesOfTheCost) {
  PlanLosses losses;
  losses.add(10, 9);
  losses.add(-10, -10.5);
  losses.add(0, 0);
  PlanLosses other;
  other.add(4, 3);
  losses.add(other);
  EXPECT_EQ(losses.plans, 4U);
  EXPECT_DOUBLE_EQ(losses.worst, 0.25);
  EXPECT_DOUBLE_EQ(losses.sum, 0.1 + 0.05 + 0.25);
}

}  // namespace
}  // namespace corun::decision_times_test
