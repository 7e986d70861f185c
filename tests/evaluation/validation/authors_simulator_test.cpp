#include "evaluation/validation/authors_simulator.hpp"

#include <cmath>
#include <string>

#include <gtest/gtest.h>

#include "tests/helpers/public_data.hpp"
#include "tests/helpers/round_study.hpp"

namespace corun::authors_simulator_test {
namespace {

constexpr const char* kStudy = "realruns/shockwave";

/// Six policies, 120 jobs each, published to the microsecond.
TEST(AuthorsSimulator, GivesAll720FinishTimesToAMillisecond) {
  const std::string directory = test::public_data(kStudy);
  if (!test::has_public_data(std::string(kStudy) + "/trace.csv")) {
    GTEST_SKIP() << test::not_checked(kStudy);
  }
  const RoundWorkload workload = read_round_workload(directory);
  std::size_t equal = 0;
  for (const std::string& name : list_round_runs(directory, "simulated")) {
    const RoundRun run = read_round_run(directory, name, workload);
    const AuthorsRun again = simulate_as_authors(workload, run.rounds);
    for (std::size_t j = 0; j < run.jobs.size(); ++j) {
      EXPECT_NEAR(again.finish_s[j], run.jobs[j].finish_s, 1e-3) << name << " job " << j;
      equal += std::abs(again.finish_s[j] - run.jobs[j].finish_s) <= 1e-3 ? 1 : 0;
    }
  }
  EXPECT_EQ(equal, 720U);
}

/// By hand. Job 0 (1 step/s, 300 steps): 120 s, 120 s, 60 s. Job 1 (2 steps/s, 400 steps): 240 steps in round 0,
/// 160 in round 1, ends at 120 + 80 s; the due change to batch size 20 after round 0 was only flagged. Job 2 starts
/// in round 2 and loses nothing: it would run for 100 s, fewer than 115.
TEST(AuthorsSimulator, ClosedForm) {
  const test::TemporaryDirectory directory;
  test::write_round_study(directory, test::round_study_files());
  const RoundWorkload workload = read_round_workload(directory.path());
  const RoundRun run = read_round_run(directory.path(), "real/one", workload);
  const AuthorsRun simulated = simulate_as_authors(workload, run.rounds);
  EXPECT_DOUBLE_EQ(simulated.finish_s[0], 300);
  EXPECT_DOUBLE_EQ(simulated.finish_s[1], 200);
  EXPECT_DOUBLE_EQ(simulated.finish_s[2], 340);
  EXPECT_EQ(simulated.round_end_s.back(), 340);
}

/// A job of 200 steps at 1 step/s alone: 120 steps in round 0; in round 2, after a break, min(120, 80) s; ended by its
/// limit of floor(0.5 * 200) s after round 0 already.
TEST(AuthorsSimulator, TheRunTimeLimitEndsAJob) {
  RoundWorkload workload;
  RoundJob job{.model = "A",
               .mode = "static",
               .samples_per_epoch = 100,
               .steps = 200,
               .epochs = 2,
               .declared_s = 200,
               .declared = {{0, 1}},
               .target = {}};
  workload.jobs = {job};
  workload.rates.set("A", 1, 1, 1.0);
  const std::vector<Round> rounds(2, Round{{0, {0}}});
  EXPECT_EQ(simulate_as_authors(workload, rounds).finish_s[0], 200);
  EXPECT_EQ(simulate_as_authors(workload, rounds, 0.5).finish_s[0], 120);
}

/// After a break a full round gives floor(120 (120 - 20) / 120) = 100 steps, and the clock still takes 120 s.
TEST(AuthorsSimulator, ARestartTakesWorkNotTime) {
  RoundWorkload workload;
  RoundJob job{.model = "A",
               .mode = "static",
               .samples_per_epoch = 100,
               .steps = 340,
               .epochs = 4,
               .declared_s = 1000,
               .declared = {{0, 1}},
               .target = {}};
  workload.jobs = {job, job};
  workload.rates.set("A", 1, 1, 1.0);
  const std::vector<Round> rounds{{{0, {0}}}, {{1, {0}}}, {{0, {0}}}, {{0, {0}}}};
  const AuthorsRun run = simulate_as_authors(workload, rounds);
  EXPECT_EQ(run.finish_s[0], 480) << "120 + 100 + 120 steps";
  EXPECT_TRUE(std::isnan(run.finish_s[1])) << "one round is not enough";
}

}  // namespace
}  // namespace corun::authors_simulator_test
