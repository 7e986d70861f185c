#include "sim/time.hpp"

#include <chrono>
#include <limits>
#include <string>

#include <gtest/gtest.h>

namespace corun::time_test {
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

TEST(Time, LaterNeverPassesTheRange) {
  EXPECT_EQ(later(5s, 7s), 12s);
  EXPECT_EQ(later(kNever - 2ns, 1ns), kNever - 1ns);
  EXPECT_THROW(later(kNever - 2ns, 2ns), InputError);
  EXPECT_THROW(later(0s, kNever), InputError);
  EXPECT_THROW(later(kNever, 0s), InputError);
  EXPECT_THROW(round_up(kNever - 2ns, 10s), InputError);
  try {
    later(kNever, kNever);
    ADD_FAILURE() << "accepted";
  } catch (const InputError& e) {
    EXPECT_EQ(std::string(e.what()).rfind("simulated time would pass 292 years; ", 0), 0U)
        << e.what();
  }
}

TEST(Time, NanosecondsBeyondTheRangeAreNever) {
  EXPECT_EQ(from_nanoseconds(0.4), 0ns);
  EXPECT_EQ(from_nanoseconds(1.6), 2ns);
  EXPECT_EQ(from_nanoseconds(1e300), kNever);
  EXPECT_EQ(from_nanoseconds(std::numeric_limits<double>::infinity()), kNever);
  EXPECT_EQ(from_nanoseconds(std::numeric_limits<double>::quiet_NaN()), kNever);
}

TEST(GpuTime, IsExactBeyondTheRangeOfADuration) {
  const Duration most = kNever - 1ns;
  GpuTime a;
  GpuTime b = 1ns;
  for (int i = 0; i < 1000; ++i) {
    a += most;
    b += most;
  }
  EXPECT_DOUBLE_EQ(to_seconds(a), 1000 * to_seconds(most));
  EXPECT_FALSE(a == b);
  EXPECT_EQ((b - a).nanoseconds(), 1);
  EXPECT_EQ((a - b).nanoseconds(), -1);
  EXPECT_EQ(Duration(a), kNever);
  EXPECT_EQ(Duration(GpuTime{} - a), -kNever);
  EXPECT_EQ(Duration(b - a), 1ns);
  EXPECT_TRUE(GpuTime(2s) == 2000ms);
}

}  // namespace
}  // namespace corun::time_test
