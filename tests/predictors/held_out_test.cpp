#include "predictors/held_out.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <set>
#include <span>
#include <stdexcept>
#include <utility>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "sim/rng.hpp"

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
  const SeenGroups seen(std::vector{a.groups, unnamed.groups});
  EXPECT_EQ(seen.familiarity(a.groups), Familiarity::kModel);
  EXPECT_EQ(seen.familiarity(b.groups), Familiarity::kFamily);
  EXPECT_EQ(seen.familiarity(job_of(3, 30).groups), Familiarity::kNeither);
  EXPECT_EQ(seen.familiarity(unnamed.groups), Familiarity::kNeither) << "0 is no group";
  const SeenGroups again = SeenGroups::load(seen.save());
  EXPECT_EQ(again.familiarity(b.groups), Familiarity::kFamily);
}

TEST(HeldOut, AGpuIsSeenByTypeOrByArchitecture) {
  const auto on = [](std::uint64_t gpu, std::uint64_t architecture) {
    return JobGroups{.model = 1, .family = 1, .gpu = gpu, .host = 0, .architecture = architecture};
  };
  const SeenGroups seen = SeenGroups::load(SeenGroups(std::vector{on(1, 7), on(2, 8)}).save());
  EXPECT_EQ(seen.level(on(2, 8)).gpu, GpuFamiliarity::kType);
  EXPECT_EQ(seen.level(on(3, 7)).gpu, GpuFamiliarity::kArchitecture);
  EXPECT_EQ(seen.level(on(3, 9)).gpu, GpuFamiliarity::kNeither);
  EXPECT_EQ(seen.level(on(0, 0)).gpu, GpuFamiliarity::kNeither) << "0 is no type";
  EXPECT_EQ(SeenGroups(std::vector{on(0, 0)}).level(on(3, 9)).gpu, GpuFamiliarity::kType)
      << "types of fitted jobs are not known";
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
  std::vector<JobGroups> all;
  for (const PredictorJob& job : jobs) all.push_back(job.groups);
  std::vector<int> times(jobs.size(), 0);
  const auto errors = held_out_errors(
      all, 1, {}, [&](std::span<const std::size_t> train, std::span<const std::size_t> test) {
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
          found.emplace_back().job = j;
        }
        EXPECT_EQ(levels.size(), 1U) << "one fold has one familiarity";
        return found;
      });
  std::array<std::size_t, kFamiliarities> count{};
  for (const HeldOutError& error : errors) count.at(static_cast<std::size_t>(error.level.job)) += 1;
  EXPECT_EQ(count[2], jobs.size());
  EXPECT_GT(count[0], jobs.size() / 2);
  EXPECT_GT(count[1], jobs.size() / 2);
  EXPECT_LE(*std::ranges::max_element(times), 3);
}

// Six families on six types of three architectures: a fit of each level sees exactly as much of a job as the level says,
// and every level of unknown GPU types has errors.
TEST(HeldOut, WhatIsUnknownOfAJobIsUnknownToItsFit) {
  std::vector<JobGroups> jobs;
  for (std::uint64_t family = 1; family <= 6; ++family) {
    for (std::uint64_t model = 1; model <= 2; ++model) {
      for (std::uint64_t gpu = 1; gpu <= 6; ++gpu) {
        jobs.push_back({.model = 10 * family + model,
                        .family = family,
                        .gpu = gpu,
                        .host = gpu,
                        .architecture = 1 + gpu % 3});
      }
    }
  }
  std::set<std::pair<Familiarity, GpuFamiliarity>> levels;
  const auto errors = held_out_errors(
      jobs, 1, {}, [&](std::span<const std::size_t> train, std::span<const std::size_t> test) {
        std::vector<JobGroups> known;
        for (const std::size_t j : train) known.push_back(jobs[j]);
        const SeenGroups seen(known);
        std::vector<HeldOutError> found;
        for (const std::size_t j : test) {
          EXPECT_EQ(std::ranges::count(train, j), 0);
          const SeenLevel level = seen.level(jobs[j]);
          levels.insert({level.job, level.gpu});
          HeldOutError error;
          error.job = j;
          error.log_value = static_cast<double>(level.gpu);
          found.push_back(error);
        }
        return found;
      });
  EXPECT_EQ(levels.size(), std::size_t{kFamiliarities} * kGpuFamiliarities);
  for (const HeldOutError& error : errors) {
    EXPECT_EQ(error.log_value, static_cast<double>(error.level.gpu));
    EXPECT_EQ(error.gpu_group == 0, error.level.gpu == GpuFamiliarity::kType);
    EXPECT_EQ(error.job_group == 0, error.level.job == Familiarity::kModel);
  }
}

TEST(HeldOut, IndependentErrorsByHand) {
  const std::vector<std::uint64_t> two{1, 1, 1, 2, 2, 2};
  // Alike within groups: as many as there are groups. Alike in all groups, or no groups: all of them.
  EXPECT_NEAR(independent_errors(std::vector{1., 1., 1., -2., -2., -2.}, two), 2, 1e-12);
  EXPECT_NEAR(independent_errors(std::vector{-1., 0., 1., -1., 0., 1.}, two), 6, 1e-12);
  EXPECT_EQ(
      independent_errors(std::vector{1., 1., 1., -2., -2., -2.}, std::vector<std::uint64_t>(6, 0)),
      6);
  EXPECT_EQ(independent_errors(std::vector{1., 2., 3.}, std::vector<std::uint64_t>(3, 5)), 1);
  // Errors of the same mean, but of one group ten times as large.
  EXPECT_LT(independent_errors(std::vector{-1., 1., -1., 1., -10., 10., -10., 10.},
                               std::vector<std::uint64_t>{1, 1, 1, 1, 2, 2, 2, 2}),
            3);
  // Analysis of variance by hand: mean squares 6 between, 1 within, so that rho is 5 / 8 and 6 / (1 + 2 rho) = 8 / 3.
  EXPECT_NEAR(independent_errors(std::vector{9., 10., 11., 11., 12., 13.}, two), 8. / 3, 1e-12);
}

std::vector<HeldOutError> errors_at(SeenLevel level, int count, double size) {
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

// A family errs by a deviation of its own, three times as large as those of its jobs. The jobs of a few families show that
// of the few; the pooled quantiles of these jobs, without more, hold 72 to 81 % of a new family's.
TEST(ErrorSpread, AnIntervalHoldsForAFamilyNeverSeen) {
  constexpr int kDraws = 400, kJobs = 30;
  Rng rng(5, Stream::kTest);
  for (const int families : {4, 5, 8}) {
    int covered = 0;
    for (int draw = 0; draw < kDraws; ++draw) {
      std::vector<HeldOutError> errors;
      for (int family = 1; family <= families; ++family) {
        const double shared = 0.3 * rng.normal();
        for (int job = 0; job < kJobs; ++job) {
          HeldOutError error;
          error.level = Familiarity::kNeither;
          error.job_group = static_cast<std::uint64_t>(family);
          error.error = shared + 0.1 * rng.normal();
          errors.push_back(error);
        }
      }
      const Prediction p = ErrorSpread(errors).around(0, 1, Familiarity::kNeither, 1e9);
      const double shared = 0.3 * rng.normal();
      for (int job = 0; job < kJobs; ++job) {
        const double value = std::exp(shared + 0.1 * rng.normal());
        covered += p.lo <= value && value <= p.hi ? 1 : 0;
      }
    }
    const double share = static_cast<double>(covered) / (kDraws * kJobs);
    EXPECT_GT(share, 0.85) << families;
    EXPECT_LT(share, 0.95) << families;
  }
}

TEST(ErrorSpread, AnUnseenGpuHasItsOwnErrors) {
  const SeenLevel on_new{Familiarity::kModel, GpuFamiliarity::kNeither};
  auto errors = errors_at(Familiarity::kModel, 101, 0.1);
  const auto width = [](const ErrorSpread& spread, SeenLevel level) {
    return std::log(spread.around(0, 1, level, 1e9).hi);
  };
  // Without errors on unseen types nothing tells how much larger they are.
  EXPECT_EQ(width(ErrorSpread(errors), on_new), width(ErrorSpread(errors), Familiarity::kModel));
  for (HeldOutError error : errors_at(on_new, 101, 0.3)) {
    error.gpu_group = 1 + errors.size() % 2;
    errors.push_back(error);
  }
  const ErrorSpread spread(errors);
  EXPECT_GT(width(spread, on_new), 2.9 * width(spread, Familiarity::kModel));
  // Of which less is known, if it has errors; else of which more is.
  EXPECT_EQ(width(spread, {Familiarity::kModel, GpuFamiliarity::kArchitecture}),
            width(spread, on_new));
  EXPECT_EQ(width(spread, Familiarity::kModel),
            width(ErrorSpread::load(spread.save()), Familiarity::kModel));
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
