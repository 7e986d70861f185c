#include "sim/engine/round_backend.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "sim/engine/control_loop.hpp"
#include "sim/error.hpp"
#include "tests/helpers/builders.hpp"

/// Rounds in closed form, and against a loop over single rounds.
namespace corun::test::round_backend_test {
namespace {

using namespace std::chrono_literals;

/// [ns] Effect of rounding to whole nanoseconds on one instant, times the rounds of these tests.
constexpr Duration kRounding{20};

void expect_near(Time found, double expected_s, const std::string& what = "") {
  EXPECT_LE(std::abs((found - from_seconds(expected_s)).count()), kRounding.count())
      << what << " " << to_seconds(found) << " s, expected " << expected_s;
}

JobSpec stepped(std::int64_t steps, double rate, Time submit = Time::zero(), int gpus = 1) {
  JobSpec job;
  job.submit = submit;
  job.steps = steps;
  job.steps_per_s = rate;
  job.work = from_seconds(static_cast<double>(steps) / rate);
  job.gpus = gpus;
  return job;
}

RunResult run_rounds(const ClusterSpec& spec, const OwnedWorkload& w, const World& world,
                     Policy& policy, Duration reallocate = Duration::zero(),
                     Duration round = 360s) {
  RoundBackend backend(spec, w, world, {round, {}});
  ControlOptions control;
  control.oom_retries = spec.oom.retries;
  control.reallocate = reallocate;
  ControlLoop loop(backend, {policy, "scripted"}, job_views(w), control);
  RunResult result;
  result.passes = loop.run(&result.log);
  result.record = backend.take_record();
  GpuTime episodes;
  for (const EpisodeRecord& e : result.record.episodes) episodes += e.end - e.start;
  EXPECT_EQ(episodes, result.record.usage.busy) << "busy time is the time of the episodes";
  return result;
}

/// Gives the next empty GPUs to waiting jobs, one job each.
ScriptedPolicy first_fit() {
  return ScriptedPolicy([](const ClusterView& view, std::vector<Decision>& out) {
    std::vector<GpuId> empty;
    view.empty_gpus().each([&](GpuId g) {
      empty.push_back(g);
      return true;
    });
    auto next = empty.begin();
    for (const JobId j : view.waiting()) {
      const auto gpus = view.job(j).gpus;
      if (empty.end() - next < gpus) return;
      out.emplace_back(StartGroup{{j}, {next, next + gpus}});
      next += gpus;
    }
  });
}

// 1.5 steps/s make 540 steps in a round. 1300 steps are two rounds and 220 steps.
TEST(RoundBackend, AJobAloneDoesWholeSteps) {
  ScriptedPolicy policy = first_fit();
  const OwnedWorkload w = workload({stepped(1300, 1.5)});
  const RunResult r = run_rounds(cluster(1, 1), w, ShareWorld(1), policy);
  expect_near(r.record.jobs[0].finish, 1300 / 1.5);
  EXPECT_EQ(r.record.jobs[0].solo, r.record.jobs[0].work);
}

// Job 0 does floor(0.99 * 360) = 356 steps in 359.6 s, job 1 floor(0.01 * 360) = 3 in 300 s: rounds
// last 359.6 s for both. Job 1 has 7 steps: two rounds, then 1 step, 100 s.
TEST(RoundBackend, TheNextRoundStartsForAllWhenTheSlowestEnds) {
  ScriptedPolicy policy = first_fit();
  const OwnedWorkload w = workload({stepped(3560, 0.99), stepped(7, 0.01)});
  const RunResult r = run_rounds(cluster(1, 2), w, ShareWorld(1), policy);
  const double length = 356 / 0.99;
  expect_near(r.record.jobs[0].finish, 10 * length);
  expect_near(r.record.jobs[1].finish, 2 * length + 100);
}

// Rate * round is below one step: one step is done all the same, and the round lasts that long.
TEST(RoundBackend, AtLeastOneStepARound) {
  ScriptedPolicy policy = first_fit();
  const OwnedWorkload w = workload({stepped(3, 0.001), stepped(1000, 1)});
  const RunResult r = run_rounds(cluster(1, 2), w, ShareWorld(1), policy);
  expect_near(r.record.jobs[0].finish, 3000);
  expect_near(r.record.jobs[1].finish, 2000 + 280);  // 360, 360, 280: in rounds of 1000 s
}

// 3.0 steps/s * 360 s is a whole number, though 1000 / 3 s are no whole number of nanoseconds.
TEST(RoundBackend, WholeNumbersOfStepsStayWhole) {
  for (const double rate : {3.0, 0.7, 1.1, 5.0 / 360, 97.0 / 360}) {
    ScriptedPolicy policy = first_fit();
    const auto per_round = static_cast<std::int64_t>(std::llround(rate * 360));
    const OwnedWorkload w = workload({stepped(10 * per_round, rate)});
    const RunResult r = run_rounds(cluster(1, 1), w, ShareWorld(1), policy);
    expect_near(r.record.jobs[0].finish, 3600, "rate " + std::to_string(rate));
  }
}

TEST(RoundBackend, JobsWithoutStepsCountTime) {
  ScriptedPolicy policy = first_fit();
  const OwnedWorkload w = workload({job(1000s), job(100s).at(1s)});
  const RunResult r = run_rounds(cluster(1, 2, 2.0), w, ShareWorld(1), policy);
  expect_near(r.record.jobs[0].finish, 500);
  expect_near(r.record.jobs[1].finish, 360 + 50);  // noticed at the end of the first round
}

// Both end in the first round, the second of them first.
TEST(RoundBackend, EndsWithinARoundAreReportedInTheOrderOfTime) {
  ScriptedPolicy policy = first_fit();
  const OwnedWorkload w = workload({stepped(300, 1), stepped(100, 1)});
  const RunResult r = run_rounds(cluster(1, 2), w, ShareWorld(1), policy);
  std::vector<JobId> ended;
  for (const LogEntry& e : r.log) {
    if (e.kind == LogKind::kFinish) ended.push_back(e.job);
  }
  EXPECT_EQ(ended, (std::vector<JobId>{J(1), J(0)}));
}

// Together both run at half speed. Job 0 is done in the second round: at 1000 s, the end of that
// round, job 1 has done 400 steps and waits; alone it needs 600 s more.
TEST(RoundBackend, AGroupEndsWithItsFirstMember) {
  bool restarted = false;
  ScriptedPolicy policy([&](const ClusterView& view, std::vector<Decision>& out) {
    if (view.waiting().size() == 2) {
      out.emplace_back(StartGroup{{J(0), J(1)}, {G(0)}});
    } else if (view.now() > Time::zero()) {
      restarted = true;
      EXPECT_EQ(view.waiting().front(), J(1));
      EXPECT_EQ(view.job(J(1)).preemptions, 1);
      EXPECT_EQ(view.job(J(1)).served, view.now());
      out.emplace_back(StartGroup{{J(1)}, {G(0)}});
    }
  });
  const OwnedWorkload w = workload({stepped(300, 1), stepped(1000, 1)});
  const RunResult r = run_rounds(cluster(1, 1), w, ShareWorld(1), policy);
  // Round 1: 180 steps each in 360 s. Round 2: 120 steps of job 0 in 240 s, 180 of job 1 in 360 s.
  EXPECT_TRUE(restarted);
  expect_near(r.record.jobs[0].finish, 720, "the later of the two");
  expect_near(r.record.jobs[1].finish, 720 + 640);
  const JobRecord& second = r.record.jobs[1];
  EXPECT_EQ(second.preemptions, 1);
  expect_near(second.ran, 720);
  expect_near(second.solo, 1000);
  expect_near(second.run_solo, 640);
  ASSERT_EQ(r.record.episodes.size(), 2U);
  const EpisodeRecord& shared = r.record.episodes[0];
  EXPECT_EQ(shared.jobs, std::vector<JobId>{J(0)});
  EXPECT_NEAR(*shared.ps(), (660.0 - 720) / 660, 1e-9);
  EXPECT_NEAR(to_seconds(r.record.usage.busy), 1360, 1e-6);
}

TEST(RoundBackend, BothOfAPairThatEndInOneRoundEndTogether) {
  ScriptedPolicy policy([](const ClusterView& view, std::vector<Decision>& out) {
    if (view.waiting().size() == 2) out.emplace_back(StartGroup{{J(0), J(1)}, {G(0)}});
  });
  const OwnedWorkload w = workload({stepped(100, 1), stepped(150, 1)});
  const RunResult r = run_rounds(cluster(1, 1), w, TableWorld({0.5, 1}), policy);
  expect_near(r.record.jobs[0].finish, 200);
  expect_near(r.record.jobs[1].finish, 200);
}

// One of two jobs is preempted at the end of the first round; the other continues alone.
TEST(RoundBackend, APreemptedMemberLeavesTheOther) {
  ScriptedPolicy policy([](const ClusterView& view, std::vector<Decision>& out) {
    if (view.now() == Time::zero()) {
      if (view.waiting().size() == 2) out.emplace_back(StartGroup{{J(0), J(1)}, {G(0)}});
      if (view.waiting().size() == 2) out.emplace_back(WakeAt{300s});
    } else if (view.now() == 360s && view.gpu(G(0)).residents.size() == 2) {
      out.emplace_back(Preempt{{J(0)}});
    } else if (view.gpu(G(0)).residents.empty()) {
      out.emplace_back(StartGroup{{J(0)}, {G(0)}});
    }
  });
  // A third job makes the loop call the policy; it never fits beside them and starts last.
  const OwnedWorkload w = workload({stepped(1000, 1), stepped(1000, 1), stepped(10, 1, 100s)});
  ScriptedPolicy asked([&](const ClusterView& view, std::vector<Decision>& out) {
    if (view.gpu(G(0)).residents.empty() && view.now() > 360s) {
      out.emplace_back(StartGroup{{view.waiting().front()}, {G(0)}});
      return;
    }
    policy.decide(view, out);
  });
  const RunResult r = run_rounds(cluster(1, 1), w, ShareWorld(1), asked);
  expect_near(r.record.jobs[1].finish, 360 + 820);
  expect_near(r.record.jobs[0].ran, 360);
  EXPECT_EQ(r.record.jobs[1].preemptions, 0);
}

TEST(RoundBackend, AboveTheMemoryLimitAJobFailsAtTheEndOfItsRound) {
  ClusterSpec spec = cluster(1, 1, 1, 1000);
  spec.oom = {30s, 0};
  ScriptedPolicy policy([](const ClusterView& view, std::vector<Decision>& out) {
    if (!view.empty_gpus().empty()) out.emplace_back(StartGroup{ids(view.waiting()), {G(0)}});
  });
  const OwnedWorkload w = workload({job(1000s).memory(600), job(1000s).memory(600)});
  const RunResult r = run_rounds(spec, w, ShareWorld(0), policy);
  EXPECT_EQ(r.record.jobs[1].end, JobEnd::kFailed);
  EXPECT_EQ(r.record.jobs[1].ooms, 1);
  expect_near(r.record.jobs[1].finish, 360);
  expect_near(r.record.jobs[0].finish, 1000);
}

/// Two jobs that do not fit together, with any known memory demand.
class Misfits final : public World {
 public:
  Provenance speeds(const CoRunners&, std::optional<std::uint64_t>,
                    std::span<double> out) const override {
    std::fill(out.begin(), out.end(), 1.0);
    return Provenance::kMeasured;
  }
  bool fits_together(JobId a, JobId b, std::uint32_t) const override { return a == b; }
};

TEST(RoundBackend, MisfitsRunOutOfMemory) {
  ClusterSpec spec = cluster(1, 1);
  spec.oom = {30s, 0};
  const OwnedWorkload w = workload({job(1000s), job(1000s)});
  for (const bool rounds : {true, false}) {
    ScriptedPolicy policy([](const ClusterView& view, std::vector<Decision>& out) {
      if (!view.empty_gpus().empty()) out.emplace_back(StartGroup{ids(view.waiting()), {G(0)}});
    });
    const RunResult r =
        rounds ? run_rounds(spec, w, Misfits(), policy) : run(spec, w, Misfits(), policy);
    EXPECT_EQ(r.record.jobs[0].end, JobEnd::kFinished) << rounds;
    EXPECT_EQ(r.record.jobs[1].ooms, 1) << rounds;
  }
}

// A wake-up comes at the end of the round in which it lies; after the last arrival at its time.
TEST(RoundBackend, WakeUpsComeAtEndsOfRounds) {
  std::vector<Time> asked;
  ScriptedPolicy policy([&](const ClusterView& view, std::vector<Decision>& out) {
    if (asked.empty()) {
      out.emplace_back(StartGroup{{J(0)}, {G(0)}});
      out.emplace_back(WakeAt{1000s});
      out.emplace_back(WakeAt{5000s});
    }
    asked.push_back(view.now());
    if (view.now() >= 5000s && view.empty_gpus().size() == 1) {
      out.emplace_back(StartGroup{{J(1)}, {G(0)}});
    }
  });
  const OwnedWorkload w = workload({stepped(1200, 1), stepped(360, 1)});
  const RunResult r = run_rounds(cluster(1, 1), w, ShareWorld(1), policy);
  asked.erase(std::unique(asked.begin(), asked.end()), asked.end());
  EXPECT_EQ(asked, (std::vector<Time>{0s, 1080s, 1200s, 5000s}));
  expect_near(r.record.jobs[1].finish, 5360);
}

// At 0 job 0 starts; job 1, of 100 s, starts at once, too. Job 2 arrives in the first round and waits until
// 720 s (a reallocation at 0 does not count): there the interval begins. Job 3 arrives at 800 s, after the
// end of job 1, but the next allocation is due at 720 + 1920 s; it happens at the first end of a round
// after that.
TEST(ControlLoop, ReallocatesNoMoreOftenThanAsked) {
  ScriptedPolicy policy = first_fit();
  const OwnedWorkload w =
      workload({stepped(36000, 1), stepped(100, 1), stepped(500, 1, 400s), stepped(40, 1, 800s)});
  const RunResult r = run_rounds(cluster(1, 2), w, ShareWorld(1), policy, 1920s);
  // Job 1 ends within the round of job 0: a change at 360 s.
  EXPECT_EQ(r.record.jobs[1].finish, 100s);
  EXPECT_EQ(r.record.jobs[2].first_start, 2520s);  // last allocation at 360 s, with an empty queue
  EXPECT_EQ(r.record.jobs[3].first_start,
            4680s);  // 2520 + 1920 = 4440, in the round that ends at 4680
}

// Nothing runs and no job is still to arrive: the next allocation does not wait.
TEST(ControlLoop, AnIdleClusterReallocatesAtOnceAfterTheLastArrival) {
  ScriptedPolicy policy = first_fit();
  const OwnedWorkload w =
      workload({stepped(360, 1, 10s), stepped(100, 1, 20s), stepped(50, 1, 30s)});
  const RunResult r = run_rounds(cluster(1, 1), w, ShareWorld(1), policy, 1920s);
  EXPECT_EQ(r.record.jobs[0].first_start, 10s);
  EXPECT_EQ(r.record.jobs[1].first_start, 370s);
  EXPECT_EQ(r.record.jobs[2].first_start, 470s);
}

// While a job is still to arrive, an idle cluster waits for that arrival and for the interval.
TEST(ControlLoop, AnIdleClusterWaitsForTheNextArrival) {
  ScriptedPolicy policy = first_fit();
  const OwnedWorkload w = workload(
      {stepped(360, 1, 10s), stepped(100, 1, 20s), stepped(50, 1, 1900s), stepped(50, 1, 4000s)});
  const RunResult r = run_rounds(cluster(1, 1), w, ShareWorld(1), policy, 1920s);
  EXPECT_EQ(r.record.jobs[1].first_start, 4000s);
}

TEST(ControlLoop, ReallocationHoldsForEventsToo) {
  ScriptedPolicy policy = first_fit();
  const OwnedWorkload w = workload({job(1000s).at(5s), job(50s).at(10s), job(50s).at(20s)});
  RunOptions options;
  options.control.reallocate = 300s;
  const RunResult r = run(cluster(1, 2), w, ShareWorld(1), policy, options);
  EXPECT_EQ(r.record.jobs[1].first_start, 305s);
  EXPECT_EQ(r.record.jobs[2].first_start, 605s);
}

/// One round after the other, by the rules: the finish times of jobs that start alone in order of arrival,
/// whenever a GPU is free at the end of a round.
std::vector<double> one_by_one(const OwnedWorkload& w, int gpus, double round_s) {
  const std::size_t n = w.jobs.size();
  std::vector<double> finish(n, 0);
  std::vector<std::int64_t> left;
  for (const JobSpec& j : w.jobs) left.push_back(j.steps);
  std::vector<std::size_t> running, queue;
  std::size_t next = 0, done = 0;
  double t = 0;
  while (done < n) {
    if (running.empty() && queue.empty()) t = to_seconds(w.jobs[index(w.arrivals[next])].submit);
    for (; next < n && to_seconds(w.jobs[index(w.arrivals[next])].submit) <= t; ++next) {
      queue.push_back(index(w.arrivals[next]));
    }
    while (!queue.empty() && running.size() < static_cast<std::size_t>(gpus)) {
      running.push_back(queue.front());
      queue.erase(queue.begin());
    }
    double end = t;
    std::vector<std::size_t> still;
    for (const std::size_t j : running) {
      const double rate = w.jobs[j].steps_per_s;
      const auto steps =
          std::min(left[j], std::max<std::int64_t>(1, static_cast<std::int64_t>(rate * round_s)));
      left[j] -= steps;
      finish[j] = t + static_cast<double>(steps) / rate;
      end = std::max(end, finish[j]);
      if (left[j] > 0) still.push_back(j);
      done += left[j] == 0;
    }
    running = still;
    t = end;
  }
  return finish;
}

TEST(RoundBackend, AgreesWithALoopOverRounds) {
  for (std::uint32_t seed = 0; seed < 40; ++seed) {
    Rng rng(seed, Stream::kTest);
    std::vector<JobSpec> jobs;
    Time submit{0};
    for (int j = 0; j < 60; ++j) {
      const double rate = std::exp(4 * rng.uniform() - 3);
      jobs.push_back(stepped(1 + rng.below(20000), rate, submit));
      if (rng.below(3) > 0) submit += from_seconds(3000 * rng.uniform());
    }
    const OwnedWorkload w = workload(jobs);
    const int gpus = 1 + static_cast<int>(rng.below(7));
    ScriptedPolicy policy = first_fit();
    const RunResult r = run_rounds(cluster(1, gpus), w, ShareWorld(1), policy);
    const std::vector<double> expected = one_by_one(w, gpus, 360);
    for (std::size_t j = 0; j < jobs.size(); ++j) {
      EXPECT_NEAR(to_seconds(r.record.jobs[j].finish), expected[j], 1e-5) << seed << " " << j;
    }
  }
}

TEST(RoundBackend, TimeDoesNotPassItsEnd) {
  ScriptedPolicy policy = first_fit();
  OwnedWorkload w = workload({stepped(1'000'000'000'000'000, 1), stepped(2, 1)});
  EXPECT_THROW(run_rounds(cluster(1, 2), w, ShareWorld(1), policy), InputError);
}

TEST(RoundBackend, GangsRunAtTheSpeedOfTheirSlowestGpu) {
  ScriptedPolicy policy = first_fit();
  const OwnedWorkload w = workload({stepped(1000, 1, Time::zero(), 2)});
  const RunResult r = run_rounds(cluster({node(1, 1.0), node(1, 0.5)}), w, ShareWorld(1), policy);
  expect_near(r.record.jobs[0].finish, 2000);
  ASSERT_EQ(r.record.episodes.size(), 2U);
  EXPECT_NE(r.record.episodes[0].primary, r.record.episodes[1].primary);
}

// Each job has its own speeds on the two types; beside each other both run at half of theirs.
TEST(RoundBackend, JobsDifferBetweenTypes) {
  const TableOnTypes on_types({{{2}, {0.5}}, {{0.8}, {4}}});
  const ShareWorld share(1);
  const OnTypesWorld world(share, &on_types);
  const ClusterSpec spec = cluster({of_type(0, node(1)), of_type(1, node(1))});
  const OwnedWorkload single = workload({stepped(1000, 1), stepped(1000, 1)});
  ScriptedPolicy apart = steps({{{J(0)}, {G(0)}}, {{J(1)}, {G(1)}}});
  const RunResult r = run_rounds(spec, single, world, apart);
  expect_near(r.record.jobs[0].finish, 500);
  expect_near(r.record.jobs[1].finish, 250);
  EXPECT_EQ(r.record.jobs[0].solo, seconds(500));
  EXPECT_EQ(r.record.jobs[0].reference_solo, r.record.jobs[0].work);
  const OwnedWorkload gang = workload({stepped(1000, 1, Time::zero(), 2)});
  ScriptedPolicy across = steps({{{J(0)}, {G(0), G(1)}}});
  expect_near(run_rounds(spec, gang, world, across).record.jobs[0].finish, 2000);
}

}  // namespace
}  // namespace corun::test::round_backend_test
