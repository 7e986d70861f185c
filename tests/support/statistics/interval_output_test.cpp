#include "support/statistics/interval_output.hpp"

#include <limits>

#include <gtest/gtest.h>

namespace corun::test::interval_output_test {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

TEST(IntervalOutput, MeanThenBounds) {
  EXPECT_EQ(interval_text({0.125, -0.25, 0.5}, 100, 1), "12.5 [-25.0, 50.0]");
  EXPECT_EQ(interval_text({0.125, -0.25, 0.5, true}, 100, 1), "12.5 ~[-25.0, 50.0]");
  EXPECT_EQ(interval_text({0.125, kNan, kNan}, 100, 1), "12.5");
  EXPECT_EQ(json_line(interval_json({0.125, -0.25, 0.5})),
            R"({"mean":0.125,"lo":-0.25,"hi":0.5,"approximate":false})");
}

TEST(IntervalOutput, UndefinedIsADashAndNull) {
  EXPECT_EQ(interval_text({kNan, kNan, kNan}, 1, 2), "-");
  EXPECT_EQ(json_line(interval_json({kNan, kNan, kNan})),
            R"({"mean":null,"lo":null,"hi":null,"approximate":false})");
}

}  // namespace
}  // namespace corun::test::interval_output_test
