#include <chrono>
#include <cmath>
#include <cstdint>
#include <vector>

#include <gtest/gtest.h>

#include "sim/base/summary.hpp"
#include "tests/helpers/builders.hpp"
#include "tests/helpers/run_times.hpp"

/// What a real cluster adds (sim/engine/cluster_noise.hpp): by hand to the nanosecond, and by its distributions.
namespace corun::test::cluster_noise_test {
namespace {

using namespace std::chrono_literals;
using Times = std::vector<Time>;

Times finishes(const RunRecord& record) {
  Times out;
  for (const JobRecord& r : record.jobs) out.push_back(r.finish);
  return out;
}

RunOptions with_noise(RunNoise noise) {
  RunOptions options;
  options.simulation.noise = std::move(noise);
  return options;
}

// Each start takes its seconds, whatever the GPU: 20 + 100 / v.
TEST(ClusterNoise, AStartTakesItsTimeOnAnyGpu) {
  for (const double speed : {1.0, 2.0, 0.5}) {
    ScriptedPolicy policy = steps({{{J(0)}, {G(0)}}});
    const RunResult r = run(cluster(1, 1, speed), workload({job(100s)}), ShareWorld(0), policy,
                            with_noise({.start_cost = {20s}}));
    EXPECT_EQ(r.record.jobs[0].finish, 20s + from_seconds(100 / speed));
    EXPECT_EQ(r.record.jobs[0].solo, from_seconds(100 / speed));
    EXPECT_DOUBLE_EQ(r.record.jobs[0].isd(), 20 * speed / 100);
  }
}

// Set up from 0 to 20, work to 40, preempted. From 60 it is set up for 20 s, saved and loaded for 5 s, and works for 80 s.
TEST(ClusterNoise, ARestartCostsAStartAndTheCostsOfPreemption) {
  Timetable policy({{0s, {}, {J(0)}, {G(0)}}, {40s, {J(0)}, {}, {}}, {60s, {}, {J(0)}, {G(0)}}});
  RunOptions options = of_timetable();
  options.simulation.noise.start_cost = {20s};
  options.simulation.preemption.save = 2s;
  options.simulation.preemption.restore = 3s;
  const RunResult r =
      run(cluster(1, 1), workload({job(100s)}), ShareWorld(0), policy, std::move(options));
  EXPECT_EQ(r.record.jobs[0].finish, 165s);
  EXPECT_EQ(r.record.jobs[0].solo, 100s);
}

// Preempted while it is set up: nothing is done.
TEST(ClusterNoise, AStartThatIsCutOffLeavesNoWork) {
  Timetable policy({{0s, {}, {J(0)}, {G(0)}}, {15s, {J(0)}, {}, {}}, {15s, {}, {J(0)}, {G(0)}}});
  RunOptions options = of_timetable();
  options.simulation.noise.start_cost = {20s};
  const RunResult r =
      run(cluster(1, 1), workload({job(100s)}), ShareWorld(0), policy, std::move(options));
  EXPECT_EQ(r.record.jobs[0].finish, 135s);
}

// A is done at 100 and reported at 110, when B gets the GPU.
TEST(ClusterNoise, AJobHoldsItsGpusUntilItsReport) {
  ScriptedPolicy policy = steps({{{J(0)}, {G(0)}}, {{J(1)}, {G(0)}, 110s}});
  const RunResult r = run(cluster(1, 1), workload({job(100s), job(50s)}), ShareWorld(0), policy,
                          with_noise({.notice = 10s}));
  EXPECT_EQ(finishes(r.record), (Times{110s, 170s}));
  EXPECT_EQ(r.record.jobs[0].solo, 100s);
}

// Both at 1/2. A (60 s) is done at 120, reported at 130. B (100 s) has done 65 by then, and 35 at speed 1.
TEST(ClusterNoise, ACoRunnerIsSlowedUntilTheReport) {
  ScriptedPolicy policy = steps({{{J(0), J(1)}, {G(0)}}});
  const RunResult r = run(cluster(1, 1), workload({job(60s), job(100s)}), ShareWorld(1), policy,
                          with_noise({.notice = 10s}));
  EXPECT_EQ(finishes(r.record), (Times{130s, 175s}));
}

// B is done at 124, so that A's report at 130 changes nothing for it.
TEST(ClusterNoise, AReportIsNotPutOffByAnother) {
  ScriptedPolicy policy = steps({{{J(0), J(1)}, {G(0)}}});
  const RunResult r = run(cluster(1, 1), workload({job(60s), job(62s)}), ShareWorld(1), policy,
                          with_noise({.notice = 10s}));
  EXPECT_EQ(finishes(r.record), (Times{130s, 134s}));
}

TEST(ClusterNoise, AJobThatIsPreemptedBeforeItsReportHasFinished) {
  Timetable policy({{0s, {}, {J(0)}, {G(0)}}, {104s, {J(0)}, {}, {}}});
  RunOptions options = of_timetable();
  options.simulation.noise.notice = 10s;
  const RunResult r =
      run(cluster(1, 1), workload({job(100s)}), ShareWorld(0), policy, std::move(options));
  EXPECT_EQ(r.record.jobs[0].finish, 104s);
}

TEST(ClusterNoise, AStragglerIsAsMuchSlowerAsItsSpeedSays) {
  ScriptedPolicy policy = steps({{{J(0)}, {G(0)}}});
  const RunResult r =
      run(cluster(1, 1), workload({job(100s)}), ShareWorld(0), policy,
          with_noise({.start_cost = {20s}, .stragglers = 1, .straggler_speed = 0.5, .seed = 1}));
  EXPECT_EQ(r.record.jobs[0].finish, 220s);
  EXPECT_EQ(r.record.jobs[0].solo, 100s);
}

// The logs of 4,000 draws: mean 0 and standard deviation sigma, to four standard errors.
TEST(ClusterNoise, SpeedsAndTimesHaveTheirDistributions) {
  std::vector<double> jobs;
  std::vector<double> runs;
  std::vector<double> starts;
  std::vector<double> notices;
  int slow = 0;
  constexpr int kDraws = 4000;
  const std::vector<Duration> cost(kDraws, 20s);
  const RunNoise of_jobs{.job_sigma = 0.2, .seed = 3};
  const RunNoise of_runs{.start_cost = cost,
                         .start_sigma = 0.5,
                         .notice = 10s,
                         .notice_sigma = 0.3,
                         .run_sigma = 0.1,
                         .seed = 3};
  const RunNoise slower{.stragglers = 0.1, .straggler_speed = 0.5, .seed = 3};
  for (std::uint32_t j = 0; j < kDraws; ++j) {
    jobs.push_back(std::log(of_jobs.draw(J(j), 0).speed));
    EXPECT_EQ(of_jobs.draw(J(j), 0).speed, of_jobs.draw(J(j), 5).speed);
    const RunNoise::Run run = of_runs.draw(J(j), 1);
    runs.push_back(std::log(run.speed));
    starts.push_back(std::log(to_seconds(run.start_cost) / 20));
    notices.push_back(std::log(to_seconds(run.notice) / 10));
    slow += slower.draw(J(j), 0).speed < 1 ? 1 : 0;
  }
  const auto check = [](const std::vector<double>& logs, double sigma) {
    const double error = sigma / std::sqrt(kDraws);
    EXPECT_NEAR(mean(logs), 0, 4 * error);
    double squares = 0;
    for (const double value : logs) squares += value * value;
    EXPECT_NEAR(std::sqrt(squares / kDraws), sigma, 4 * error);
  };
  check(jobs, 0.2);
  check(runs, 0.1);
  check(starts, 0.5);
  check(notices, 0.3);
  EXPECT_NEAR(slow / double{kDraws}, 0.1, 0.02);
  EXPECT_NE(of_runs.draw(J(0), 0).speed, of_runs.draw(J(0), 1).speed);
}

TEST(ClusterNoise, OneSigmaChangesNoDrawOfAnother) {
  const RunNoise one{.start_cost = {20s}, .start_sigma = 0.5, .seed = 3};
  RunNoise both = one;
  both.run_sigma = 0.1;
  both.job_sigma = 0.1;
  EXPECT_EQ(one.draw(J(0), 2).start_cost, both.draw(J(0), 2).start_cost);
}

// Rounds of 60 s, 5 s longer for each start: 0 to 70 with two starts, to 135 with one, to 195 with none; then multiples.
TEST(ClusterNoise, RoundsAreLongerByTheirStarts) {
  ScriptedPolicy policy = steps(
      {{{J(0)}, {G(0)}}, {{J(1)}, {G(1)}}, {{J(2)}, {G(2)}}, {{J(3)}, {G(3)}}, {{J(4)}, {G(4)}}});
  RunOptions options;
  options.control.round = 60s;
  options.control.round_noise.per_start = 5s;
  const RunResult r =
      run(cluster(1, 5),
          workload({job(1000s), job(1000s), job(1s).at(10s), job(1s).at(80s), job(1s).at(330s)}),
          ShareWorld(0), policy, std::move(options));
  Times starts;
  for (const JobRecord& record : r.record.jobs) starts.push_back(*record.first_start);
  // The round from 135 has a start, too: it ends at 200, and rounds without a pass at 260, 320, 380.
  EXPECT_EQ(starts, (Times{0s, 0s, 70s, 135s, 380s}));
}

TEST(ClusterNoise, LengthsOfRoundsHaveTheirDistribution) {
  const RoundNoise noise{.per_start = 1s, .sigma = 0.1, .seed = 5};
  std::vector<double> logs;
  for (int k = 0; k < 4000; ++k) {
    logs.push_back(std::log(to_seconds(noise.length(120s, 3, k * 120s)) / 123));
  }
  EXPECT_NEAR(mean(logs), 0, 4 * 0.1 / std::sqrt(4000));
  double squares = 0;
  for (const double value : logs) squares += value * value;
  EXPECT_NEAR(std::sqrt(squares / 4000), 0.1, 0.005);
  EXPECT_EQ((RoundNoise{.per_start = 1s}.length(120s, 3, 0s)), 123s);
}

}  // namespace
}  // namespace corun::test::cluster_noise_test
