#include "support/statistics/interval_coverage.hpp"

#include <cmath>
#include <limits>
#include <vector>

#include <gtest/gtest.h>

#include "sim/rng.hpp"

namespace corun::interval_coverage_test {
namespace {

/// Replications of one policy: ISD normal, PS mostly 0, the rest constant.
std::vector<MetricValues> policy() {
  std::vector<MetricValues> out;
  for (std::uint64_t r = 0; r < 2000; ++r) {
    Rng rng(1, Stream::kTest, r);
    MetricValues v;
    v.fill(1);
    at(v, Metric::kIsd) = 5 + rng.normal();
    at(v, Metric::kPs) = r % 50 == 0 ? 100 : 0;
    at(v, Metric::kFailed) = std::numeric_limits<double>::quiet_NaN();
    out.push_back(v);
  }
  return out;
}

TEST(IntervalCoverage, OfNormalAndOfRareValues) {
  const std::vector<IntervalCoverage> found = interval_coverage({policy()}, 1);
  ASSERT_EQ(found.size(), 2U) << "constant and undefined metrics have none";
  EXPECT_EQ(found[0].metric, Metric::kIsd);
  EXPECT_EQ(found[1].metric, Metric::kPs);
  for (std::size_t n = 0; n < kCoverageSizes.size(); ++n) {
    EXPECT_NEAR(found[0].held[n], 0.95, 0.025) << n;  // five standard errors
    // All n values are 0 in 0.98^n of the trials; their interval has no width and misses the mean.
    const double all_zero = std::pow(0.98, static_cast<double>(kCoverageSizes[n]));
    EXPECT_LT(found[1].held[n], 1 - all_zero + 0.05) << n;
    EXPECT_EQ(found[1].approximate[n], 1) << n;
  }
  EXPECT_EQ(found[0].approximate[0], 1) << "three values";
  EXPECT_LT(found[0].approximate[3], 0.05) << "thirty normal values";
}

}  // namespace
}  // namespace corun::interval_coverage_test
