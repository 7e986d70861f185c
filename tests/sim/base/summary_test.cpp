#include "sim/base/summary.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include <gtest/gtest.h>

#include "sim/rng.hpp"

namespace corun::summary_test {
namespace {

TEST(Summary, ClosedForms) {
  const std::vector<double> x{4, 1, 7};
  EXPECT_EQ(mean(x), 4);
  EXPECT_DOUBLE_EQ(standard_error(x), std::sqrt(9.0 / 3));  // variance 9 of three values
  EXPECT_EQ(median(x), 4);
  EXPECT_EQ(median({4, 1, 7, 2}), 3);
  EXPECT_EQ(quantile(std::vector<double>{1, 2, 4, 8}, 0.5), 3);
  EXPECT_EQ(quantile(std::vector<double>{1, 2, 4, 8}, 0.25), 1.75);
  EXPECT_DOUBLE_EQ(jain_index(std::vector<double>{1, 3}, 2), 16.0 / 20);
}

TEST(Summary, OfTooLittleNothingIsKnown) {
  EXPECT_TRUE(std::isnan(mean({})));
  EXPECT_TRUE(std::isnan(median({})));
  EXPECT_TRUE(std::isnan(quantile({}, 0.5)));
  EXPECT_TRUE(std::isnan(jain_index({}, 0)));
  EXPECT_TRUE(std::isnan(standard_error(std::vector<double>{1})));
}

TEST(Summary, ARunningMeanPassesOverWhatNobodyKnows) {
  RunningMean mean;
  EXPECT_TRUE(std::isnan(mean.value()));
  EXPECT_FALSE(std::signbit(mean.value())) << "printed as nan, not as -nan";
  mean.add_if_known(std::nan(""));
  EXPECT_EQ(mean.count(), 0U);
  mean.add_if_known(1);
  mean.add(4);
  EXPECT_EQ(mean.value(), 2.5);
  EXPECT_EQ(mean.count(), 2U);
}

/// Selection must give the bits of sorting, for several quantiles of one sample.
TEST(Summary, SelectionIsSorting) {
  Rng rng(7, Stream::kBootstrap, 0);
  for (std::size_t n = 1; n < 60; ++n) {
    std::vector<double> x;
    for (std::size_t i = 0; i < n; ++i) x.push_back(std::floor(20 * rng.uniform()));
    std::vector<double> sorted = x;
    std::ranges::sort(sorted);
    std::size_t from = 0;
    for (const double p : {0.0, 0.5, 0.95, 0.99, 1.0}) {
      EXPECT_EQ(quantile_by_selection(x, p, from), quantile(sorted, p)) << n << " values, p " << p;
    }
  }
}

}  // namespace
}  // namespace corun::summary_test
