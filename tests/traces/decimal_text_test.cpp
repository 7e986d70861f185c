#include "traces/decimal_text.hpp"

#include <limits>

#include <gtest/gtest.h>

namespace corun::decimal_text_test {
namespace {

TEST(DecimalText, EveryNumberHasAPointAndNoExponent) {
  EXPECT_EQ(decimal_text(0), "0.0");
  EXPECT_EQ(decimal_text(32.353384328946916), "32.353384328946916");
  EXPECT_EQ(decimal_text(1e12), "1000000000000.0");
  EXPECT_EQ(decimal_text(1e-7), "0.0000001");
  EXPECT_EQ(decimal_text(std::numeric_limits<double>::quiet_NaN()), "");
  EXPECT_EQ(decimal_text(std::numeric_limits<double>::denorm_min()).size(), 326U);
}

TEST(DecimalText, RoundsAsWritten) {
  EXPECT_EQ(rounded_text(2, 6), "2.0");
  EXPECT_EQ(rounded_text(0.59742749, 6), "0.597427");
  EXPECT_EQ(rounded_text(0.5, 4), "0.5");
  EXPECT_EQ(rounded_text(99.99999, 4), "100.0");
  EXPECT_EQ(rounded_text(0.125, 2), "0.12");  // halves that are exact: to the even digit
  EXPECT_EQ(rounded_text(-8.50866, 4), "-8.5087");
  EXPECT_EQ(rounded_text(std::numeric_limits<double>::infinity(), 4), "");
  EXPECT_EQ(rounded_text(std::numeric_limits<double>::max(), 4).size(), 311U);
}

}  // namespace
}  // namespace corun::decimal_text_test
