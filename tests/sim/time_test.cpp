#include "sim/time.hpp"

#include <chrono>
#include <limits>

#include <gtest/gtest.h>

namespace corun {
namespace {

using namespace std::chrono_literals;

TEST(Time, SecondsBecomeTheNearestNanosecond) {
  EXPECT_EQ(from_seconds(0), 0ns);
  EXPECT_EQ(from_seconds(1), 1s);
  EXPECT_EQ(from_seconds(281.4), 281400ms);
  EXPECT_EQ(from_seconds(0.1), 100ms);
  EXPECT_EQ(from_seconds(1e-9), 1ns);
  EXPECT_EQ(from_seconds(1.4e-9), 1ns);
  EXPECT_EQ(from_seconds(1.6e-9), 2ns);
  EXPECT_EQ(from_seconds(0.4e-9), 0ns);
}

TEST(Time, SecondsBeyondTheRangeAreNever) {
  EXPECT_EQ(from_seconds(1e10), kNever);
  EXPECT_EQ(from_seconds(9.3e9), kNever);
  EXPECT_EQ(from_seconds(std::numeric_limits<double>::infinity()), kNever);
  EXPECT_LT(from_seconds(9.1e9), kNever);
  EXPECT_EQ(from_seconds(9.1e9), Time{9'100'000'000'000'000'000});
}

TEST(Time, RoundTripThroughSeconds) {
  for (const Duration d : {0ns, 1ns, 999ns, 123456789012ns, Duration{30h}}) {
    EXPECT_EQ(from_seconds(to_seconds(d)), d) << d.count();
  }
}

TEST(Time, RoundUpIsTheNextMultiple) {
  EXPECT_EQ(round_up(0s, 10s), 0s);
  EXPECT_EQ(round_up(1ns, 10s), 10s);
  EXPECT_EQ(round_up(10s, 10s), 10s);
  EXPECT_EQ(round_up(10s + 1ns, 10s), 20s);
  EXPECT_EQ(round_up(20s - 1ns, 10s), 20s);
  EXPECT_EQ(round_up(7ns, 3ns), 9ns);
}

TEST(Time, RoundUpWithoutStepOrFromNever) {
  EXPECT_EQ(round_up(7s, 0s), 7s);
  EXPECT_EQ(round_up(kNever, 10s), kNever);
}

}  // namespace
}  // namespace corun
