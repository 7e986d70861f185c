#include "support/statistics/log_histogram.hpp"

#include <cmath>

#include <gtest/gtest.h>

namespace corun::log_histogram_test {
namespace {

TEST(LogHistogram, CountsExactlyAndKnowsValuesUpToItsBins) {
  LogHistogram one(1, 32);
  LogHistogram other(1, 32);
  for (int i = 1; i <= 600; ++i) one.add(i);
  for (int i = 601; i <= 1000; ++i) other.add(i);
  one.add(other);
  EXPECT_EQ(one.count(), 1000U);
  EXPECT_EQ(one.max(), 1000);
  for (const double share : {0.05, 0.5, 0.95}) {
    EXPECT_GE(one.quantile(share), 1000 * share);
    EXPECT_LE(one.quantile(share), 1000 * share * std::exp2(1.0 / 32));
  }
  EXPECT_EQ(one.quantile(1), 1000);
  std::uint64_t below = 0;
  for (std::size_t b = 0; b < one.bins().size() && one.begin_of(b + 1) <= 256; ++b) {
    below += one.bins()[b];
  }
  EXPECT_EQ(below, 255U);  // 256 = 2^8 begins a bin
}

TEST(LogHistogram, ValuesBelowTheFirstBinCountInIt) {
  LogHistogram histogram(1e-9, 16);
  EXPECT_EQ(histogram.quantile(0.5), 0);
  histogram.add(0);
  histogram.add(1e-12);
  ASSERT_EQ(histogram.bins().size(), 1U);
  EXPECT_EQ(histogram.bins()[0], 2U);
}

}  // namespace
}  // namespace corun::log_histogram_test
