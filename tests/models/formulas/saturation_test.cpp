#include "models/formulas/saturation.hpp"

#include <cmath>
#include <cstddef>

#include <gtest/gtest.h>

namespace corun::saturation_test {
namespace {

double speed(const Saturation& job, std::size_t count) {
  return std::exp(log_speed_among_equals(job, count).mean);
}

TEST(Saturation, JobsThatLeaveTheGpuIdleRunFreelyUntilTheyFillIt) {
  const Saturation quarter{std::log(0.25), 0, 0, 0};
  EXPECT_GT(speed(quarter, 2), 0.99);
  EXPECT_GT(speed(quarter, 3), 0.95);
  // Eight of them need two GPUs.
  EXPECT_NEAR(speed(quarter, 8), 0.5, 0.01);
  EXPECT_NEAR(speed(quarter, 16), 0.25, 0.001);
}

TEST(Saturation, JobsThatLeaveNothingIdleAddUp) {
  // Two reach 1.4 of one: an excess of 3/7. A load so high that the bend does not matter.
  const double excess = 2 / 1.4 - 1;
  const Saturation full{std::log(100.0), 0, std::log(1.4), 0};
  for (const std::size_t count : {2U, 3U, 5U, 9U}) {
    const double joint = static_cast<double>(count) / (1 + excess * static_cast<double>(count - 1));
    EXPECT_NEAR(std::exp(log_capacity(full, count)), joint / 1.4, 1e-9) << count;
    EXPECT_NEAR(speed(full, count), 1 / static_cast<double>(count), 1e-9) << count;
  }
  // Gains outside 1 to 2 are impossible.
  EXPECT_EQ(log_capacity({0, 0, std::log(3.0), 0}, 4), log_capacity({0, 0, std::log(2.0), 0}, 4));
  EXPECT_NEAR(log_capacity({0, 0, -1, 0}, 4), 0, 1e-12);
}

TEST(Saturation, MoreJobsAndMoreLoadAreSlower) {
  for (double load = 0.05; load < 2; load *= 1.3) {
    for (const double gain : {1.0, 1.2, 1.7, 2.0}) {
      for (std::size_t count = 2; count < 9; ++count) {
        const Saturation job{std::log(load), 0.1, std::log(gain), 0.1};
        EXPECT_GE(speed(job, count), speed(job, count + 1) - 1e-12);
        EXPECT_GE(speed(job, count), speed({std::log(1.1 * load), 0, std::log(gain), 0}, count));
        EXPECT_LE(speed(job, count), 1);
        EXPECT_TRUE(std::isfinite(log_speed_among_equals(job, count).sd));
      }
    }
  }
}

TEST(Saturation, IsAsUnsureAsItsNumbers) {
  const Saturation sure{std::log(0.4), 0, std::log(1.2), 0};
  // Not at the bend: the deviation by the load is half of that of two loads.
  const double width = log_speed_among_equals({std::log(0.41), 0, std::log(1.2), 0}, 4).mean -
                       log_speed_among_equals({std::log(0.39), 0, std::log(1.2), 0}, 4).mean;
  const double least = log_speed_among_equals(sure, 4).sd;
  EXPECT_GE(least, kRepetition);
  const double of_load = (std::log(0.41) - std::log(0.39)) / 2;
  const double more = log_speed_among_equals({std::log(0.4), of_load, std::log(1.2), 0}, 4).sd;
  EXPECT_NEAR(std::sqrt(more * more - least * least), std::fabs(width) / 2, 1e-4);
  const double higher = log_speed_among_equals({std::log(0.4), 0, std::log(1.21), 0}, 4).mean -
                        log_speed_among_equals({std::log(0.4), 0, std::log(1.19), 0}, 4).mean;
  const double of_gain = (std::log(1.21) - std::log(1.19)) / 2;
  const double wide = log_speed_among_equals({std::log(0.4), 0, std::log(1.2), of_gain}, 4).sd;
  EXPECT_NEAR(std::sqrt(wide * wide - least * least), std::fabs(higher) / 2, 1e-4);
}

TEST(Saturation, NoLoadIsTooLargeOrTooSmall) {
  for (const double log_load : {-700.0, -30.0, 30.0, 700.0}) {
    const LogSpeed found = log_speed_among_equals({log_load, 1, 0.2, 1}, 5);
    EXPECT_TRUE(std::isfinite(found.mean) && std::isfinite(found.sd)) << log_load;
    EXPECT_NEAR(found.mean, log_load > 0 ? -std::log(5.0) : 0, 1e-9);
  }
}

}  // namespace
}  // namespace corun::saturation_test
