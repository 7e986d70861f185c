#include "models/formulas/saturation.hpp"

#include <cmath>
#include <cstddef>

#include <gtest/gtest.h>

namespace corun::saturation_test {
namespace {

double speed(const Saturation& job, std::size_t count) {
  return std::exp(speed_by_load(job, count).log_speed);
}
/// Of a job whose pair says nothing.
LogSpeed sure(const Saturation& job, std::size_t count) {
  return log_speed_among_equals(job, count, 1);
}

TEST(Saturation, JobsThatLeaveTheGpuIdleRunFreelyUntilTheyFillIt) {
  const Saturation quarter{std::log(0.25), 0};
  EXPECT_GT(speed(quarter, 2), 0.99);
  EXPECT_GT(speed(quarter, 3), 0.95);
  // Eight of them need two GPUs.
  EXPECT_NEAR(speed(quarter, 8), 0.5, 0.01);
  EXPECT_NEAR(speed(quarter, 16), 0.25, 0.001);
}

TEST(Saturation, JobsThatLeaveNothingIdleAddUp) {
  // Two reach 1.4 of one: an excess of 3/7. A load so high that the bend does not matter.
  const double excess = 2 / 1.4 - 1;
  const Saturation full{std::log(100.0), std::log(1.4)};
  for (const std::size_t count : {2U, 3U, 5U, 9U}) {
    const double joint = static_cast<double>(count) / (1 + excess * static_cast<double>(count - 1));
    EXPECT_NEAR(std::exp(log_capacity(full, count)), joint / 1.4, 1e-9) << count;
    EXPECT_NEAR(speed(full, count), 1 / static_cast<double>(count), 1e-9) << count;
  }
  // Gains outside 1 to 2 are impossible.
  EXPECT_EQ(log_capacity({0, std::log(3.0)}, 4), log_capacity({0, std::log(2.0)}, 4));
  EXPECT_NEAR(log_capacity({0, -1}, 4), 0, 1e-12);
}

TEST(Saturation, MoreJobsAndMoreLoadAreSlower) {
  for (double load = 0.05; load < 2; load *= 1.3) {
    for (const double gain : {1.0, 1.2, 1.7, 2.0}) {
      for (std::size_t count = 2; count < 9; ++count) {
        const Saturation job{std::log(load), std::log(gain), 0.01, 0.01, 0};
        EXPECT_GE(speed(job, count), speed(job, count + 1) - 1e-12);
        EXPECT_GE(speed(job, count), speed({std::log(1.1 * load), std::log(gain)}, count));
        EXPECT_LE(speed(job, count), 1);
        EXPECT_TRUE(std::isfinite(sure(job, count).sd));
      }
    }
  }
}

TEST(Saturation, DerivativesAreThoseOfTheSpeed) {
  constexpr double kStep = 1e-5;
  for (const double load : {0.2, 0.5, 1.2}) {
    for (const double gain : {1.1, 1.5, 1.9}) {
      for (const std::size_t count : {2U, 3U, 8U}) {
        const Saturation job{std::log(load), std::log(gain)};
        const SpeedByLoad found = speed_by_load(job, count);
        Saturation more = job;
        more.log_load += kStep;
        EXPECT_NEAR(found.by_log_load,
                    (speed_by_load(more, count).log_speed - found.log_speed) / kStep, 1e-3);
        more = job;
        more.log_gain += kStep;
        EXPECT_NEAR(found.by_log_gain,
                    (speed_by_load(more, count).log_speed - found.log_speed) / kStep, 1e-3);
      }
    }
  }
}

TEST(Saturation, IsAsUnsureAsItsNumbers) {
  const double least = sure({std::log(0.4), std::log(1.2)}, 4).sd;
  EXPECT_GE(least, kRepetition);
  const SpeedByLoad by = speed_by_load({std::log(0.4), std::log(1.2)}, 4);
  const double more = sure({std::log(0.4), std::log(1.2), 0.01, 0.04, -0.02}, 4).sd;
  EXPECT_NEAR(more * more - least * least, std::pow(0.1 * by.by_log_load - 0.2 * by.by_log_gain, 2),
              1e-12);
  // No more than if nothing were known.
  EXPECT_LT(sure({0, 0.3, 9, 9, 0}, 4).sd, std::log(4.0) / std::sqrt(12.0) + kRepetition);
}

// A group is not faster than what its pair lets it be, and what the two differ by is not known.
TEST(Saturation, TheOwnPairIsTheLimit) {
  const Saturation idle{std::log(0.01), 0};
  for (const double pair : {0.001, 0.3, 0.5, 0.7, 0.99, 1.0, 1.2}) {
    double before = pair;
    for (std::size_t count = 3; count < 20; ++count) {
      const LogSpeed group = log_speed_among_equals(idle, count, pair);
      EXPECT_LE(std::exp(group.mean), before) << pair << ' ' << count;
      EXPECT_LE(std::exp(group.mean), speed_among_equals(pair, count, kLeastExcessRule) + 1e-12);
      EXPECT_GE(group.sd, -group.mean - 0.01) << pair << ' ' << count;
      before = std::exp(group.mean);
    }
  }
  // From an excess of one on they add up.
  EXPECT_NEAR(std::exp(log_speed_among_equals(idle, 4, 0.25).mean), 0.1, 1e-9);
}

TEST(Saturation, NoLoadIsTooLargeOrTooSmall) {
  for (const double log_load : {-700.0, -30.0, 30.0, 700.0}) {
    const LogSpeed found = sure({log_load, 0.2, 1, 1, 0}, 5);
    EXPECT_TRUE(std::isfinite(found.mean) && std::isfinite(found.sd)) << log_load;
    EXPECT_NEAR(found.mean, log_load > 0 ? -std::log(5.0) : 0, 1e-9);
  }
}

}  // namespace
}  // namespace corun::saturation_test
