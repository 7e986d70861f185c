#include "predictors/held_out.hpp"

#include <algorithm>
#include <cmath>
#include <set>
#include <stdexcept>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace corun::held_out_test {
namespace {

PredictorJob job_of(std::uint64_t model, std::uint64_t family) {
  PredictorJob job;
  job.groups.model = model;
  job.groups.family = family;
  return job;
}

TEST(HeldOut, FamiliarityIsThatOfTheClosestSeenGroup) {
  const PredictorJob a = job_of(1, 10), b = job_of(2, 10), unnamed = job_of(0, 0);
  const std::vector<const PredictorJob*> jobs{&a, &unnamed};
  const SeenGroups seen(jobs);
  EXPECT_EQ(seen.familiarity(a.groups), Familiarity::kModel);
  EXPECT_EQ(seen.familiarity(b.groups), Familiarity::kFamily);
  EXPECT_EQ(seen.familiarity(job_of(3, 30).groups), Familiarity::kNeither);
  EXPECT_EQ(seen.familiarity(unnamed.groups), Familiarity::kNeither) << "0 is no group";
  const SeenGroups again = SeenGroups::load(seen.save());
  EXPECT_EQ(again.familiarity(b.groups), Familiarity::kFamily);
}

// Ten families of three models with four jobs each: each job is held out three times, and never with a job of its
// group among the fitted ones.
TEST(HeldOut, EachJobIsHeldOutAtEachLevel) {
  std::vector<PredictorJob> jobs;
  for (std::uint64_t family = 1; family <= 10; ++family) {
    for (std::uint64_t model = 0; model < 3; ++model) {
      for (int batch = 0; batch < 4; ++batch) {
        jobs.push_back(job_of(10 * family + model, 1000 + family));
      }
    }
  }
  std::vector<const PredictorJob*> all;
  for (const PredictorJob& job : jobs) all.push_back(&job);
  std::vector<int> times(jobs.size(), 0);
  const auto errors = held_out_errors(
      all, 1, [&](std::span<const std::size_t> train, std::span<const std::size_t> test) {
        std::set<std::uint64_t> models, families;
        for (const std::size_t j : train) {
          models.insert(jobs[j].groups.model);
          families.insert(jobs[j].groups.family);
        }
        std::vector<HeldOutError> found;
        std::set<int> levels;
        for (const std::size_t j : test) {
          EXPECT_EQ(std::ranges::count(train, j), 0);
          times[j] += 1;
          levels.insert(static_cast<int>(models.contains(jobs[j].groups.model)) +
                        static_cast<int>(families.contains(jobs[j].groups.family)));
          found.push_back({});
        }
        EXPECT_EQ(levels.size(), 1U) << "one fold has one familiarity";
        return found;
      });
  std::array<std::size_t, kFamiliarities> count{};
  for (const HeldOutError& error : errors) count.at(static_cast<std::size_t>(error.level)) += 1;
  EXPECT_EQ(count[2], jobs.size());
  EXPECT_GT(count[0], jobs.size() / 2);
  EXPECT_GT(count[1], jobs.size() / 2);
  EXPECT_LE(*std::ranges::max_element(times), 3);
}

std::vector<HeldOutError> errors_at(Familiarity level, int count, double size) {
  std::vector<HeldOutError> errors;
  for (int i = 0; i < count; ++i) {
    HeldOutError error;
    error.level = level;
    error.error = size * (2.0 * i / (count - 1) - 1);
    error.log_value = 0;
    errors.push_back(error);
  }
  return errors;
}

TEST(ErrorSpread, AnIntervalIsThatOfItsFamiliarity) {
  auto errors = errors_at(Familiarity::kModel, 2001, 0.1);
  const auto unfamiliar = errors_at(Familiarity::kNeither, 2001, 0.4);
  errors.insert(errors.end(), unfamiliar.begin(), unfamiliar.end());
  const ErrorSpread spread(errors);
  const Prediction known = spread.around(std::log(1000.0), 1, Familiarity::kModel, 1e9);
  const Prediction unknown = spread.around(std::log(1000.0), 1, Familiarity::kNeither, 1e9);
  EXPECT_NEAR(known.median, 1000, 1e-9);
  // Uniform errors: the 5 % quantile is 0.9 of the largest.
  EXPECT_NEAR(std::log(known.lo / 1000), -0.09, 1e-3);
  EXPECT_NEAR(std::log(known.hi / 1000), 0.09, 1e-3);
  EXPECT_NEAR(std::log(unknown.hi / 1000), 0.36, 1e-3);
  EXPECT_NEAR(std::log(unknown.safe / 1000), 0.392, 1e-3);
  // A level without errors has those of the next one; twice the scale is twice the width.
  const Prediction family = spread.around(std::log(1000.0), 2, Familiarity::kFamily, 1e9);
  EXPECT_NEAR(std::log(family.hi / 1000), 0.72, 2e-3);
  EXPECT_EQ(spread.around(std::log(1000.0), 1, Familiarity::kModel, 1005).hi, 1005);
  const Prediction again =
      ErrorSpread::load(spread.save()).around(std::log(1000.0), 1, Familiarity::kModel, 1e9);
  EXPECT_EQ(again.hi, known.hi);
}

TEST(ErrorSpread, LowerBoundsAreNoErrors) {
  auto errors = errors_at(Familiarity::kModel, 101, 0.1);
  const double before = ErrorSpread(errors).around(0, 1, Familiarity::kModel, 1e9).hi;
  HeldOutError crash;
  crash.error = 5;
  crash.at_least = true;
  errors.insert(errors.end(), 100, crash);
  EXPECT_EQ(ErrorSpread(errors).around(0, 1, Familiarity::kModel, 1e9).hi, before);
}

/// 1,000 jobs that need 1 to 1,000 MiB, predicted `off` times as large.
std::vector<HeldOutError> thousand_jobs(double off) {
  std::vector<HeldOutError> errors;
  for (int i = 1; i <= 1000; ++i) {
    HeldOutError error;
    error.log_value = std::log(static_cast<double>(i));
    error.error = -std::log(off);
    errors.push_back(error);
  }
  return errors;
}

TEST(MemoryLimits, ByHand) {
  EXPECT_TRUE(MemoryLimits().empty());
  EXPECT_EQ(MemoryLimits().limit_mib(500, Familiarity::kModel), 500);
  // Exact predictions: of the 501 jobs of 500 MiB or more, the one at 0.3 % is the second.
  EXPECT_NEAR(MemoryLimits(thousand_jobs(1)).limit_mib(500, Familiarity::kNeither), 500, 1e-9);
  // All predicted a tenth too small: a job of 501 MiB is predicted to need 450.9.
  EXPECT_NEAR(MemoryLimits(thousand_jobs(0.9)).limit_mib(500, Familiarity::kNeither), 450.9, 0.01);
  // Of the same jobs a tenth may be missed: the limit is the prediction of the job at 10 % of the 501.
  PhysicsConstants constants;
  constants.missed_share = 0.1;
  constants.most_false_alarms = 1;
  EXPECT_NEAR(MemoryLimits(thousand_jobs(0.9), constants).limit_mib(500, Familiarity::kNeither),
              0.9 * 550, 0.01);
  // All predicted larger than they are: the limit is the capacity.
  EXPECT_NEAR(MemoryLimits(thousand_jobs(1.5)).limit_mib(500, Familiarity::kNeither), 500, 1e-9);
}

TEST(MemoryLimits, FalseAlarmsAreLimited) {
  std::vector<HeldOutError> errors = thousand_jobs(1);
  // Ten jobs that need 900 MiB are predicted to need 10: a limit that catches them is useless.
  for (int i = 0; i < 10; ++i) {
    HeldOutError error;
    error.log_value = std::log(900.0);
    error.error = std::log(90.0);
    errors.push_back(error);
  }
  const MemoryLimits limits(errors);
  const double limit = limits.limit_mib(500, Familiarity::kNeither);
  // 3.5 % of the 499 smaller jobs lie above.
  EXPECT_NEAR(limit, 499 * 0.965, 2);
  const MemoryLimits again = MemoryLimits::load(limits.save());
  EXPECT_EQ(again.limit_mib(500, Familiarity::kNeither), limit);
}

}  // namespace
}  // namespace corun::held_out_test
