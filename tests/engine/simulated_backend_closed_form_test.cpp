#include <chrono>
#include <cmath>
#include <cstdint>
#include <memory>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "models/interference/interference_world.hpp"
#include "sim/engine/simulated_backend.hpp"
#include "sim/error.hpp"
#include "sim/records/metrics.hpp"
#include "tests/helpers/builders.hpp"
#include "tests/helpers/featureless_model.hpp"
#include "tests/helpers/run_times.hpp"

/// Cases computed by hand, compared to the nanosecond. Each test states system and expectation first; "does
/// 40" means 40 s of work at speed 1.
namespace corun::test::simulated_backend_closed_form_test {
namespace {

using namespace std::chrono_literals;

std::vector<Time> finishes(const RunRecord& record) {
  std::vector<Time> out;
  for (const JobRecord& r : record.jobs) out.push_back(r.finish);
  return out;
}
using Times = std::vector<Time>;

// ---- one job ---------------------------------------------------------------------------------

TEST(ClosedForm, OneJobAlone) {
  const OwnedWorkload w = workload({job(100s).at(5s)});
  ScriptedPolicy policy = steps({{{J(0)}, {G(0)}}});
  const RunResult r = run(cluster(1, 1), w, ShareWorld(1), policy);
  const JobRecord& j = r.record.jobs[0];
  EXPECT_EQ(j.first_start, 5s);
  EXPECT_EQ(j.finish, 105s);
  EXPECT_EQ(j.isd(), 0);
  EXPECT_EQ(j.solo, 100s);
  ASSERT_EQ(r.record.episodes.size(), 1U);
  EXPECT_EQ(r.record.episodes[0].ps(), 0);
  EXPECT_EQ(r.record.usage.busy, 100s);
  EXPECT_EQ(r.log, (EventLog{{5s, LogKind::kArrive, J(0), {}},
                             {5s, LogKind::kStart, J(0), {G(0)}},
                             {105s, LogKind::kFinish, J(0), {}}}));
}

// J_a on a GPU of speed v is work / v: 100 s / 3 = 33.333333333(3) s, the nearest ns. ISD stays 0.
TEST(ClosedForm, AFasterGpuShortensTheSoloTimeToo) {
  for (const auto& [speed, expected] :
       std::vector<std::pair<double, Time>>{{2, 50s}, {3, 33333333333ns}, {0.75, 133333333333ns}}) {
    ScriptedPolicy policy = steps({{{J(0)}, {G(0)}}});
    const RunResult r = run(cluster(1, 1, speed), workload({job(100s)}), ShareWorld(1), policy);
    EXPECT_EQ(r.record.jobs[0].finish, expected);
    EXPECT_EQ(r.record.jobs[0].solo, expected);
    EXPECT_EQ(r.record.jobs[0].isd(), 0);
  }
}

// ---- two jobs --------------------------------------------------------------------------------

// Speed together 1 / 1.5 = 2/3. A (60 s) ends at 90. B (100 s) has done 60, the other 40 at speed
// 1: ends at 130. ISD 0.5 and 0.3; PS = (160 - 130) / 160 = 3/16.
TEST(ClosedForm, TwoJobsOfDifferentLengthsSharing) {
  const OwnedWorkload w = workload({job(60s), job(100s)});
  ScriptedPolicy policy = steps({{{J(0), J(1)}, {G(0)}}});
  const RunResult r = run(cluster(1, 1), w, ShareWorld(0.5), policy);
  EXPECT_EQ(finishes(r.record), (Times{90s, 130s}));
  EXPECT_DOUBLE_EQ(r.record.jobs[0].isd(), 0.5);
  EXPECT_DOUBLE_EQ(r.record.jobs[1].isd(), 0.3);
  ASSERT_EQ(r.record.episodes.size(), 1U);
  const EpisodeRecord& e = r.record.episodes[0];
  EXPECT_DOUBLE_EQ(*e.ps(), 0.1875);
  EXPECT_EQ(e.solo_sum, 160s);
  EXPECT_TRUE(e.together);
  EXPECT_EQ(e.jobs, (std::vector<JobId>{J(0), J(1)}));
  EXPECT_EQ(r.record.jobs[0].group, r.record.jobs[1].group);
  EXPECT_DOUBLE_EQ(r.record.usage.corun_s[static_cast<std::size_t>(Provenance::kModelled)], 90);
}

// Each its own speed: A (60 s) at 1/2, B (100 s) at 3/4. A ends at 120; B has done 90, ends at 130.
TEST(ClosedForm, TwoJobsThatSufferDifferently) {
  const OwnedWorkload w = workload({job(60s), job(100s)});
  ScriptedPolicy policy = steps({{{J(0), J(1)}, {G(0)}}});
  const RunResult r = run(cluster(1, 1), w, TableWorld({0.5, 0.75}), policy);
  EXPECT_EQ(finishes(r.record), (Times{120s, 130s}));
}

// Rounding: A (1 s) at speed 0.3 ends at 3.333333333(3) s -> 3333333333 ns. By then B (2 s) has
// done 0.9999999999 s; 1.0000000001 s is left: 1000000000.1 ns -> 1000000000. Ends at 4333333333
// ns.
TEST(ClosedForm, EndsAreRoundedToTheNearestNanosecond) {
  const OwnedWorkload w = workload({job(1s), job(2s)});
  ScriptedPolicy policy = steps({{{J(0), J(1)}, {G(0)}}});
  const RunResult r = run(cluster(1, 1), w, TableWorld({0.3, 0.3}), policy);
  EXPECT_EQ(finishes(r.record), (Times{3333333333ns, 4333333333ns}));
}

// 1 s at speed 0.6 takes 1.6666666666(6) s: upwards.
TEST(ClosedForm, EndsAreRoundedUpToo) {
  ScriptedPolicy policy = steps({{{J(0)}, {G(0)}}});
  const RunResult r = run(cluster(1, 1, 0.6), workload({job(1s)}), ShareWorld(1), policy);
  EXPECT_EQ(r.record.jobs[0].finish, 1666666667ns);
  EXPECT_EQ(r.record.jobs[0].solo, 1666666667ns);
}

// Equal twins end at the same instant, in the order in which they were started.
TEST(ClosedForm, TwinsEndTogether) {
  const OwnedWorkload w = workload({job(10s), job(10s)});
  ScriptedPolicy policy = steps({{{J(1), J(0)}, {G(0)}}});
  const RunResult r = run(cluster(1, 1), w, ShareWorld(0.1), policy);
  EXPECT_EQ(finishes(r.record), (Times{11s, 11s}));
  EXPECT_DOUBLE_EQ(*r.record.episodes[0].ps(), 0.45);
}

// On a GPU of speed 2 with shared speed 2/3: v = 4/3. A (60 s) ends at 45; B (100 s) has done 60,
// the other 40 at speed 2: ends at 65. J_a is 30 and 50: the same ISD 0.5 and 0.3.
TEST(ClosedForm, SharingAFasterGpu) {
  const OwnedWorkload w = workload({job(60s), job(100s)});
  ScriptedPolicy policy = steps({{{J(0), J(1)}, {G(0)}}});
  const RunResult r = run(cluster(1, 1, 2), w, ShareWorld(0.5), policy);
  EXPECT_EQ(finishes(r.record), (Times{45s, 65s}));
  EXPECT_DOUBLE_EQ(r.record.jobs[0].isd(), 0.5);
  EXPECT_DOUBLE_EQ(r.record.jobs[1].isd(), 0.3);
  EXPECT_DOUBLE_EQ(*r.record.episodes[0].ps(), 0.1875);
}

// ---- joining ---------------------------------------------------------------------------------

// x = 1/2: two run at 2/3, three at 1/2. A, B (120 s each) start at 0; C (50 s) joins at 60 when
// both have done 40. C ends at 160; A, B have done 90, the other 30 at 2/3 take 45: both end at
// 205. ISD 85/120 and 1. PS = (290 - 205) / 290.
TEST(ClosedForm, AThirdJobJoins) {
  const OwnedWorkload w = workload({job(120s), job(120s), job(50s).at(60s)});
  ScriptedPolicy policy = steps({{{J(0), J(1)}, {G(0)}}, {{J(2)}, {G(0)}}});
  const RunResult r = run(cluster(1, 1), w, ShareWorld(0.5), policy, join());
  EXPECT_EQ(finishes(r.record), (Times{205s, 205s, 160s}));
  EXPECT_DOUBLE_EQ(r.record.jobs[0].isd(), 85.0 / 120);
  EXPECT_DOUBLE_EQ(r.record.jobs[2].isd(), 1);
  ASSERT_EQ(r.record.episodes.size(), 1U);
  EXPECT_FALSE(r.record.episodes[0].together);
  EXPECT_DOUBLE_EQ(*r.record.episodes[0].ps(), 85.0 / 290);
  EXPECT_EQ(r.record.episodes[0].jobs, (std::vector<JobId>{J(0), J(1), J(2)}));
}

// A chain linked by overlap is one episode. x = 1: shared speed 1/2. A (20 s) 0.., B (20 s) joins
// at 10, C (20 s) joins when A has gone. 10: A has done 10, left 10 -> ends at 30; B has done 10
// then. C joins at 30: B left 10 -> ends at 50; C has done 10, the other 10 alone: ends at 60.
// PS = (60 - 60) / 60 = 0.
TEST(ClosedForm, AChainOfOverlapsIsOneEpisode) {
  const OwnedWorkload w = workload({job(20s), job(20s).at(10s), job(20s).at(30s)});
  ScriptedPolicy policy = steps({{{J(0)}, {G(0)}}, {{J(1)}, {G(0)}}, {{J(2)}, {G(0)}}});
  const RunResult r = run(cluster(1, 1), w, ShareWorld(1), policy, join());
  EXPECT_EQ(finishes(r.record), (Times{30s, 50s, 60s}));
  ASSERT_EQ(r.record.episodes.size(), 1U);
  EXPECT_EQ(*r.record.episodes[0].ps(), 0);
}

// A job that arrives at the instant at which the last one leaves starts a new episode.
TEST(ClosedForm, ComingAsTheLastLeavesIsANewEpisode) {
  const OwnedWorkload w = workload({job(20s), job(20s).at(20s)});
  ScriptedPolicy policy = steps({{{J(0)}, {G(0)}}, {{J(1)}, {G(0)}}});
  const RunResult r = run(cluster(1, 1), w, ShareWorld(1), policy, join());
  EXPECT_EQ(finishes(r.record), (Times{20s, 40s}));
  EXPECT_EQ(r.record.episodes.size(), 2U);
}

// A job with unchanged speed keeps its planned end, after any number of changes of co-runners: 1 s of work
// at speed 0.3 ends at 3333333333 ns; replanned at each of 300 joins it could have drifted.
TEST(ClosedForm, NothingDriftsWhileTheSpeedStays) {
  std::vector<JobSpec> jobs{job(1s)};
  std::vector<Step> script{{{J(0)}, {G(0)}}};
  std::vector<double> speeds{0.3};
  for (std::uint32_t i = 1; i <= 300; ++i) {
    jobs.push_back(job(10s).at(Time{i * 7'777'777}));
    script.push_back({{J(i)}, {G(0)}});
    speeds.push_back(0.5);
  }
  jobs.push_back(job(100s));
  script[0].jobs.push_back(J(301));
  speeds.push_back(0.9);
  ScriptedPolicy policy = steps(script);
  const RunResult r = run(cluster(1, 1), workload(jobs), TableWorld(speeds), policy, join());
  EXPECT_EQ(r.record.jobs[0].finish, 3333333333ns);
}

// ... and its place among those that end at the same instant: A was planned before B. C, which slows no
// job, joins A at 5.
TEST(ClosedForm, WhoKeepsItsSpeedKeepsItsPlace) {
  const OwnedWorkload w = workload({job(20s), job(20s), job(100s).at(5s)});
  ScriptedPolicy policy = steps({{{J(0)}, {G(0)}}, {{J(1)}, {G(1)}}, {{J(2)}, {G(0)}}});
  const RunResult r = run(cluster(1, 2), w, ShareWorld(0), policy, join());
  std::vector<JobId> ended;
  for (const LogEntry& e : r.log) {
    if (e.kind == LogKind::kFinish) ended.push_back(e.job);
  }
  EXPECT_EQ(ended, (std::vector<JobId>{J(0), J(1), J(2)}));
}

// ---- a bin of five ---------------------------------------------------------------------------

// x = 1/4: five run at 1/2, four at 4/7, three at 2/3, two at 4/5. Works 10, 20, 30, 40, 50: each
// stage does 10 more, in 20, 17.5, 15, 12.5 and 10 s. PS = (150 - 75) / 150 = 1/2.
TEST(ClosedForm, ABinOfFive) {
  const OwnedWorkload w = workload({job(10s), job(20s), job(30s), job(40s), job(50s)});
  ScriptedPolicy policy = steps({{{J(0), J(1), J(2), J(3), J(4)}, {G(0)}}});
  const RunResult r = run(cluster(1, 1), w, ShareWorld(0.25), policy);
  EXPECT_EQ(finishes(r.record), (Times{20s, 37500ms, 52500ms, 65s, 75s}));
  ASSERT_EQ(r.record.episodes.size(), 1U);
  EXPECT_DOUBLE_EQ(*r.record.episodes[0].ps(), 0.5);
  EXPECT_DOUBLE_EQ(r.record.jobs[0].isd(), 1.0);
  EXPECT_DOUBLE_EQ(r.record.jobs[4].isd(), 0.5);
}

// ---- gangs -----------------------------------------------------------------------------------

// A gang alone on a GPU of speed 2 and one of speed 1 runs at 1: 100 s, and that is its J_a.
TEST(ClosedForm, AGangRunsAtItsSlowestGpu) {
  const OwnedWorkload w = workload({job(100s).gpus(2)});
  ScriptedPolicy policy = steps({{{J(0)}, {G(0), G(1)}}});
  const RunResult r = run(cluster({node(1, 2), node(1, 1)}), w, ShareWorld(1), policy);
  EXPECT_EQ(r.record.jobs[0].finish, 100s);
  EXPECT_EQ(r.record.jobs[0].solo, 100s);
  EXPECT_EQ(r.record.jobs[0].isd(), 0);
  EXPECT_EQ(r.record.episodes.size(), 2U);  // one on each GPU
  EXPECT_EQ(r.record.usage.busy, 200s);
}

// x = 1. The gang A (100 s) holds GPUs 0 and 1; B (40 s) sits on GPU 1. A runs at min(1, 1/2) =
// 1/2. B ends at 80; A has done 40, ends at 140.
TEST(ClosedForm, AGangWithCoRunnerOnOneOfItsGpus) {
  const OwnedWorkload w = workload({job(100s).gpus(2), job(40s)});
  ScriptedPolicy policy = steps({{{J(0)}, {G(0), G(1)}}, {{J(1)}, {G(1)}}});
  const RunResult r = run(cluster(1, 2), w, ShareWorld(1), policy, join());
  EXPECT_EQ(finishes(r.record), (Times{140s, 80s}));
  EXPECT_DOUBLE_EQ(r.record.jobs[0].isd(), 0.4);
  EXPECT_DOUBLE_EQ(r.record.jobs[1].isd(), 1.0);
}

// x = 1. Gang A (100 s) on GPUs 0, 1, 2; B (30 s) on GPU 1; C, D (20 s each) on GPU 2. A runs at min(1,
// 1/2, 1/3) = 1/3; B at 1/2: the gang's slowness elsewhere does not change the world's s.
//   60: B has done 30 and ends; C, D have done 20 and end; A has done 20, left 80 at speed 1: 140.
TEST(ClosedForm, AGangWithDifferentCoRunnerEverywhere) {
  const OwnedWorkload w = workload({job(100s).gpus(3), job(30s), job(20s), job(20s)});
  ScriptedPolicy policy =
      steps({{{J(0)}, {G(0), G(1), G(2)}}, {{J(1)}, {G(1)}}, {{J(2), J(3)}, {G(2)}}});
  const RunResult r = run(cluster(1, 3), w, ShareWorld(1), policy, join());
  EXPECT_EQ(finishes(r.record), (Times{140s, 60s, 60s, 60s}));
}

// The slowest GPU changes. GPU 0 has speed 2, GPU 1 speed 1, x = 1. Gang A (100 s) on both; B
// (30 s) on GPU 0, C (10 s) on GPU 1.
//   GPU 0: A at 2/2 = 1, B at 1. GPU 1: A at 1/2, C at 1/2. A runs at 1/2.
//   20: C ends; A has done 10; now min(1, 1) = 1.   30: B ends; A has done 20; now min(2, 1) = 1.
//   A ends at 30 + 80 = 110. Its speed did not change at 30.
TEST(ClosedForm, TheSlowestMemberOfAGangChanges) {
  const OwnedWorkload w = workload({job(100s).gpus(2), job(30s), job(10s)});
  ScriptedPolicy policy = steps({{{J(0)}, {G(0), G(1)}}, {{J(1)}, {G(0)}}, {{J(2)}, {G(1)}}});
  const RunResult r = run(cluster({node(1, 2), node(1, 1)}), w, ShareWorld(1), policy, join());
  EXPECT_EQ(finishes(r.record), (Times{110s, 30s, 20s}));
  EXPECT_DOUBLE_EQ(r.record.jobs[0].isd(), 0.1);
}

// Two gangs of two share both GPUs, x = 1/2: 2/3 each, as one pair. Two equal episodes.
TEST(ClosedForm, TwoGangsShareTheirGpus) {
  const OwnedWorkload w = workload({job(60s).gpus(2), job(100s).gpus(2)});
  ScriptedPolicy policy = steps({{{J(0), J(1)}, {G(0), G(1)}}});
  const RunResult r = run(cluster(1, 2), w, ShareWorld(0.5), policy);
  EXPECT_EQ(finishes(r.record), (Times{90s, 130s}));
  ASSERT_EQ(r.record.episodes.size(), 2U);
  for (const EpisodeRecord& e : r.record.episodes) EXPECT_DOUBLE_EQ(*e.ps(), 0.1875);
  EXPECT_EQ(policy.seen.size(), 1U);  // one co-run, reported once
}

// ---- memory ----------------------------------------------------------------------------------

ClusterSpec small_memory(int retries = 3) {
  ClusterSpec spec = cluster(1, 1, 1, 1000);
  spec.oom = {30s, retries};
  return spec;
}

// x = 1. A (100 s, 600 MiB) starts at 0. B (50 s, 600 MiB) joins at 10: 1200 > 1000, it fails at
// 40. Meanwhile A had co-runners: it has done 10 + 15 = 25 at 40, the rest alone: ends at 115. B's
// work is lost: restarted at 115 it ends at 165. B holds no memory while it fails.
TEST(ClosedForm, ANewcomerAboveTheLimitFailsAndComesBack) {
  const OwnedWorkload w = workload({job(100s).memory(600), job(50s).at(10s).memory(600)});
  ScriptedPolicy policy = steps({{{J(0)}, {G(0)}}, {{J(1)}, {G(0)}}, {{J(1)}, {G(0)}, 115s}});
  const RunResult r = run(small_memory(), w, ShareWorld(1), policy, join());
  EXPECT_EQ(finishes(r.record), (Times{115s, 165s}));
  EXPECT_EQ(r.record.jobs[1].ooms, 1);
  EXPECT_EQ(r.record.jobs[1].end, JobEnd::kFinished);
  EXPECT_EQ(r.record.jobs[1].first_start, 10s);
  EXPECT_EQ(r.record.jobs[1].last_start, 115s);
  EXPECT_EQ(r.record.jobs[1].isd(), 0);
  EXPECT_DOUBLE_EQ(r.record.jobs[0].isd(), 0.15);
  ASSERT_EQ(r.record.episodes.size(), 2U);
  EXPECT_EQ(r.record.episodes[0].jobs, (std::vector<JobId>{J(0)}));
  EXPECT_EQ(r.record.episodes[0].end, 115s);
  EXPECT_DOUBLE_EQ(r.record.usage.mem_s, 0.6 * 115 + 0.6 * 50);
  EXPECT_EQ(r.log[5], (LogEntry{115s, LogKind::kFinish, J(0), {}}));
  EXPECT_EQ(r.log[4], (LogEntry{40s, LogKind::kOom, J(1), {}}));
}

// The sum may reach the limit.
TEST(ClosedForm, ExactlyFullIsNotTooFull) {
  const OwnedWorkload w = workload({job(10s).memory(600), job(10s).memory(400)});
  ScriptedPolicy policy = steps({{{J(0), J(1)}, {G(0)}}});
  const RunResult r = run(small_memory(), w, ShareWorld(1), policy);
  EXPECT_EQ(finishes(r.record), (Times{20s, 20s}));
}

// Never fits: starts at 0, 30 and 60, fails for good at 90 after two retries.
TEST(ClosedForm, RetriesRunOut) {
  const OwnedWorkload w = workload({job(10s).memory(1001)});
  ScriptedPolicy policy = steps({{{J(0)}, {G(0)}}, {{J(0)}, {G(0)}}, {{J(0)}, {G(0)}}});
  const RunResult r = run(small_memory(2), w, ShareWorld(1), policy);
  const JobRecord& j = r.record.jobs[0];
  EXPECT_EQ(j.end, JobEnd::kFailed);
  EXPECT_EQ(j.ooms, 3);
  EXPECT_EQ(j.first_start, 0s);
  EXPECT_EQ(j.last_start, 60s);
  EXPECT_EQ(j.finish, 90s);
  ASSERT_EQ(r.record.episodes.size(), 3U);
  for (const EpisodeRecord& e : r.record.episodes) {
    EXPECT_TRUE(e.jobs.empty());
    EXPECT_EQ(e.unfinished, 1);
    EXPECT_EQ(e.end - e.start, 30s);
    EXPECT_EQ(e.ps(), std::nullopt);
  }
  EXPECT_EQ(r.record.usage.busy, 90s);
  EXPECT_EQ(r.log.back(), (LogEntry{90s, LogKind::kFail, J(0), {}}));
}

TEST(ClosedForm, WithoutRetriesTheFirstFailureIsTheLast) {
  const OwnedWorkload w = workload({job(10s).memory(1001)});
  ScriptedPolicy policy = steps({{{J(0)}, {G(0)}}});
  const RunResult r = run(small_memory(0), w, ShareWorld(1), policy);
  EXPECT_EQ(r.record.jobs[0].finish, 30s);
  EXPECT_EQ(r.record.jobs[0].end, JobEnd::kFailed);
}

// Joining jobs are admitted in group order: [B, A, C] of 600, 600, 400 MiB: B fits, A does not, C does,
// because A holds nothing. x = 1: three at 1/3 until 30, when B and C have done 10; then two at 1/2.
// B, C (20 s) need 20 s more: both end at 50. A (10 s) starts again at 50 and ends at 60.
TEST(ClosedForm, AGroupIsTakenInItsOrder) {
  const OwnedWorkload w =
      workload({job(10s).memory(600), job(20s).memory(600), job(20s).memory(400)});
  ScriptedPolicy policy = steps({{{J(1), J(0), J(2)}, {G(0)}}, {{J(0)}, {G(0)}, 50s}});
  const RunResult r = run(small_memory(), w, ShareWorld(1), policy);
  EXPECT_EQ(finishes(r.record), (Times{60s, 50s, 50s}));
  EXPECT_EQ(r.record.jobs[0].ooms, 1);
}

// Unknown demand never fails and counts 0.
TEST(ClosedForm, UnknownMemoryNeverFails) {
  const OwnedWorkload w = workload({job(10s).memory(1000), job(10s), job(10s)});
  ScriptedPolicy policy = steps({{{J(1), J(0), J(2)}, {G(0)}}});
  const RunResult r = run(small_memory(), w, ShareWorld(1), policy);
  EXPECT_EQ(finishes(r.record), (Times{30s, 30s, 30s}));
  EXPECT_EQ(r.record.unknown_memory_jobs, 2U);
  EXPECT_EQ(r.record.usage.mem_known_s, 0);
}

// Reserved memory is not a demand: 150 % together, and no job fails.
TEST(ClosedForm, ReservedMemoryIsNoDemand) {
  const OwnedWorkload w = workload({job(10s).reserved(75), job(10s).reserved(75)});
  ScriptedPolicy policy = steps({{{J(0), J(1)}, {G(0)}}});
  const RunResult r = run(small_memory(), w, ShareWorld(1), policy);
  EXPECT_EQ(finishes(r.record), (Times{20s, 20s}));
}

// A gang above the memory of one of its GPUs fails on all: A (700 MiB) holds GPU 1; gang B (400
// MiB) starts on GPUs 0 and 1 at 0 and fails at 30. x = 1: A (60 s) has done 15 by then and ends at
// 75.
TEST(ClosedForm, AGangFailsAsAWhole) {
  const OwnedWorkload w = workload({job(60s).memory(700), job(20s).gpus(2).memory(400)});
  ScriptedPolicy policy =
      steps({{{J(0)}, {G(1)}}, {{J(1)}, {G(0), G(1)}}, {{J(1)}, {G(0), G(1)}, 75s}});
  ClusterSpec spec = cluster(1, 2, 1, 1000);
  const RunResult r = run(spec, w, ShareWorld(1), policy, join());
  EXPECT_EQ(finishes(r.record), (Times{75s, 95s}));
  EXPECT_EQ(r.record.usage.busy, (30s + 20s) + (75s + 20s));
}

// A resident may end while the joining job ramps up; the joining job still runs out of memory.
TEST(ClosedForm, ADoomedNewcomerStaysDoomed) {
  const OwnedWorkload w = workload({job(10s).memory(600), job(50s).at(5s).memory(600)});
  ScriptedPolicy policy = steps({{{J(0)}, {G(0)}}, {{J(1)}, {G(0)}}, {{J(1)}, {G(0)}}});
  const RunResult r = run(small_memory(), w, ShareWorld(1), policy, join());
  // A: 5 done by 5, the other 5 at 1/2: ends at 15. B fails at 35, starts again at once: 85.
  EXPECT_EQ(finishes(r.record), (Times{15s, 85s}));
}

// EpisodeOutcome::together: "all members started at the same instant". The only member of this episode is
// A; the joining job that ran out of memory is not one.
TEST(ClosedForm, ANewcomerThatFailedIsNoMemberOfTheEpisode) {
  const OwnedWorkload w = workload({job(100s).memory(600), job(50s).at(10s).memory(600)});
  ScriptedPolicy policy = steps({{{J(0)}, {G(0)}}, {{J(1)}, {G(0)}}, {{J(1)}, {G(0)}, 115s}});
  const RunResult r = run(small_memory(), w, ShareWorld(1), policy, join());
  ASSERT_EQ(policy.seen.size(), 2U);
  ASSERT_EQ(policy.seen[0].members.size(), 1U);
  EXPECT_TRUE(policy.seen[0].together);
}

// ---- profiling -------------------------------------------------------------------------------

RunOptions profiled(ProfilingMode mode, bool keeps = false) {
  RunOptions options;
  options.control.profiling = mode;
  options.simulation.profiling_keeps_progress = keeps;
  return options;
}

ScriptedPolicy profiling_steps(std::vector<Step> list) {
  ScriptedPolicy policy = steps(std::move(list));
  policy.wants_profile = true;
  return policy;
}

// One minute alone, then the whole job: ends at 160. The minute is in JCT and occupancy, not in
// J_c.
TEST(ClosedForm, AMinuteOfProfiling) {
  ScriptedPolicy policy = profiling_steps({{{J(0)}, {G(0)}}});
  const RunResult r = run(cluster(1, 1), workload({job(100s)}), ShareWorld(1), policy,
                          profiled(ProfilingMode::kMinute));
  const JobRecord& j = r.record.jobs[0];
  EXPECT_EQ(j.first_start, 60s);
  EXPECT_EQ(j.finish, 160s);
  EXPECT_EQ(j.corun(), 100s);
  EXPECT_EQ(j.isd(), 0);
  EXPECT_EQ(j.profiling, 60s);
  EXPECT_EQ(r.record.usage.busy, 160s);
  ASSERT_EQ(r.record.episodes.size(), 1U);
  EXPECT_EQ(r.record.episodes[0].start, 60s);
  EXPECT_EQ(r.log, (EventLog{{0s, LogKind::kArrive, J(0), {}},
                             {0s, LogKind::kProfile, J(0), {G(0)}},
                             {60s, LogKind::kProfiled, J(0), {}},
                             {60s, LogKind::kStart, J(0), {G(0)}},
                             {160s, LogKind::kFinish, J(0), {}}}));
}

// Progress kept: 40 s are left, ends at 100. J_a of the run's work is 40 s.
TEST(ClosedForm, ProfilingThatKeepsProgress) {
  ScriptedPolicy policy = profiling_steps({{{J(0)}, {G(0)}}});
  const RunResult r = run(cluster(1, 1), workload({job(100s)}), ShareWorld(1), policy,
                          profiled(ProfilingMode::kMinute, true));
  EXPECT_EQ(r.record.jobs[0].finish, 100s);
  EXPECT_EQ(r.record.jobs[0].solo, 40s);
  EXPECT_EQ(r.record.jobs[0].isd(), 0);
}

// One epoch of 7 s; a job without a known epoch takes a minute.
TEST(ClosedForm, AnEpochOfProfiling) {
  ScriptedPolicy policy = profiling_steps({{{J(0)}, {G(0)}}, {{J(1)}, {G(1)}}});
  const RunResult r = run(cluster(1, 2), workload({job(100s).epoch(7s), job(100s)}), ShareWorld(1),
                          policy, profiled(ProfilingMode::kEpoch));
  EXPECT_EQ(finishes(r.record), (Times{107s, 160s}));
}

// A job shorter than the segment: profiled for its 30 s. Not kept, the work is done once more.
TEST(ClosedForm, AJobShorterThanItsProfilingSegment) {
  ScriptedPolicy policy = profiling_steps({{{J(0)}, {G(0)}}});
  const RunResult r = run(cluster(1, 1), workload({job(30s)}), ShareWorld(1), policy,
                          profiled(ProfilingMode::kMinute, false));
  EXPECT_EQ(r.record.jobs[0].finish, 60s);
  EXPECT_EQ(r.record.jobs[0].profiling, 30s);
  EXPECT_EQ(r.record.jobs[0].isd(), 0);
}

// Kept, it is all its work: the job finishes, though the GPU is wanted. It is a run like any other.
TEST(ClosedForm, ProfilingThatDoesAllTheWorkFinishesTheJob) {
  ScriptedPolicy policy = profiling_steps({{{J(1)}, {G(0)}}});
  const RunResult r = run(cluster(1, 1), workload({job(30s), job(100s).at(1s)}), ShareWorld(1),
                          policy, profiled(ProfilingMode::kMinute, true));
  const JobRecord& j = r.record.jobs[0];
  EXPECT_EQ(j.first_start, 0s);
  EXPECT_EQ(j.finish, 30s);
  EXPECT_EQ(j.profiling, 0s);
  EXPECT_EQ(j.corun(), 30s);
  EXPECT_EQ(j.solo, 30s);
  EXPECT_EQ(j.isd(), 0);
  ASSERT_EQ(r.record.episodes.size(), 2U);
  EXPECT_EQ(r.record.episodes[0].jobs, std::vector<JobId>{J(0)});
  EXPECT_EQ(r.record.episodes[0].ps(), 0);
  EXPECT_EQ(EventLog(r.log.begin(), r.log.begin() + 5),
            (EventLog{{0s, LogKind::kArrive, J(0), {}},
                      {0s, LogKind::kProfile, J(0), {G(0)}},
                      {1s, LogKind::kArrive, J(1), {}},
                      {30s, LogKind::kFinish, J(0), {}},
                      {30s, LogKind::kProfile, J(1), {G(0)}}}));
  EXPECT_EQ(r.record.jobs[1].profiling, 60s);
  EXPECT_EQ(r.record.jobs[1].finish, 130s);
}

// Done at 10 s, which the clock notices at 12 s. The policy takes it off at 11 s: it has finished, whatever preemption
// costs, and does not start again.
TEST(ClosedForm, AJobThatIsPreemptedWhenItsWorkIsDoneFinishes) {
  RunOptions options;
  options.simulation.tick = 4s;
  options.simulation.preemption = {1s, 1s, 0.5};
  ScriptedPolicy policy([](const ClusterView& view, std::vector<Decision>& out) {
    if (view.now() == 0s) {
      out.emplace_back(StartGroup{{J(0)}, {G(0)}});
    } else if (view.waiting().size() == 1 && view.waiting()[0] == J(1)) {
      out.emplace_back(Preempt{{J(0)}});
      out.emplace_back(StartGroup{{J(0), J(1)}, {G(0)}});
    }
  });
  const RunResult r =
      run(cluster(1, 1), workload({job(10s), job(1s).at(11s)}), ShareWorld(1), policy, options);
  const JobRecord& j = r.record.jobs[0];
  EXPECT_EQ(j.finish, 11s);
  EXPECT_EQ(j.preemptions, 0);
  EXPECT_EQ(j.solo, 10s);
  EXPECT_DOUBLE_EQ(j.isd(), 0.1);
  EXPECT_EQ(r.record.jobs[1].finish, 12s);
  ASSERT_EQ(policy.seen.size(), 2U);
  EXPECT_EQ(policy.seen[0].members[0].job, J(0));
}

// 0.3 ns of work are left when the probe ends, and would round to a run without work.
TEST(ClosedForm, AProbeThatLeavesLessThanHalfANanosecondFinishesTheJob) {
  RunOptions options;
  options.control.probes = 1;
  options.control.probe_length = 10s;
  options.simulation.probes_keep_progress = true;
  ScriptedPolicy policy = steps({{{J(1)}, {G(0)}}});
  policy.probe_pairs = {{J(0), J(1)}};
  const RunResult r = run(cluster(1, 1), workload({job(3000000001ns), job(100s)}),
                          TableWorld({0.30000000007, 0.5}), policy, options);
  EXPECT_EQ(r.record.jobs[0].finish, 10s);
  EXPECT_EQ(r.record.jobs[0].first_start, 0s);
  EXPECT_EQ(r.record.jobs[0].solo, 3000000001ns);
  EXPECT_EQ(r.record.jobs[1].finish, 105s);
}

// Segments wait for an empty GPU, in order of arrival, and go before the pass: B is profiled
// when A's segment ends, so A starts only at 120, and ends at 130.
TEST(ClosedForm, ProfilingSegmentsQueueForTheGpu) {
  const OwnedWorkload w = workload({job(70s), job(70s)});
  ScriptedPolicy policy = profiling_steps({{{J(0), J(1)}, {G(0)}}});
  const RunResult r =
      run(cluster(1, 1), w, ShareWorld(0), policy, profiled(ProfilingMode::kMinute));
  EXPECT_EQ(r.record.jobs[0].first_start, 120s);
  EXPECT_EQ(finishes(r.record), (Times{190s, 190s}));
}

// On a GPU of speed 2 an epoch of 7 s takes 3.5 s.
TEST(ClosedForm, AnEpochOnAFasterGpuIsShorter) {
  ScriptedPolicy policy = profiling_steps({{{J(0)}, {G(0)}}});
  const RunResult r = run(cluster(1, 1, 2), workload({job(100s).epoch(7s)}), ShareWorld(1), policy,
                          profiled(ProfilingMode::kEpoch));
  EXPECT_EQ(r.record.jobs[0].profiling, 3500ms);
  EXPECT_EQ(r.record.jobs[0].finish, 53500ms);
}

TEST(ClosedForm, OnlyPoliciesThatNeedAProfilePayForIt) {
  for (const ProfilingMode mode :
       {ProfilingMode::kNone, ProfilingMode::kPredictor, ProfilingMode::kMinute}) {
    ScriptedPolicy policy = steps({{{J(0)}, {G(0)}}});
    policy.wants_profile = mode != ProfilingMode::kMinute;
    const RunResult r =
        run(cluster(1, 1), workload({job(100s)}), ShareWorld(1), policy, profiled(mode));
    EXPECT_EQ(r.record.jobs[0].finish, 100s);
    EXPECT_EQ(r.record.jobs[0].profiling, 0s);
  }
}

// ---- ticks -----------------------------------------------------------------------------------

// Ends are noticed at multiples of one second: 1.3 s of work end at 2. Until then the GPU is held:
// x = 1, A (1.3 s) and B (2 s) at 1/2: A is done at 2.6 and leaves at 3; B has done 1.5, the other
// half second at speed 1: 3.5, noticed at 4.
TEST(ClosedForm, TicksDelayTheNoticeOfAnEnd) {
  RunOptions options;
  options.simulation.tick = 1s;
  ScriptedPolicy alone = steps({{{J(0)}, {G(0)}}});
  EXPECT_EQ(
      finishes(run(cluster(1, 1), workload({job(1300ms)}), ShareWorld(1), alone, options).record),
      (Times{2s}));
  ScriptedPolicy pair = steps({{{J(0), J(1)}, {G(0)}}});
  const RunResult r =
      run(cluster(1, 1), workload({job(1300ms), job(2s)}), ShareWorld(1), pair, options);
  EXPECT_EQ(finishes(r.record), (Times{3s, 4s}));
  ScriptedPolicy exact = steps({{{J(0)}, {G(0)}}});
  EXPECT_EQ(finishes(run(cluster(1, 1), workload({job(3s)}), ShareWorld(1), exact, options).record),
            (Times{3s}));
}

// ---- utilisation -----------------------------------------------------------------------------

// 80 % and 60 % at speed 2/3 each: 140/100 * 2/3 = 14/15 for 90 s, then B alone at 60 % for 40 s.
TEST(ClosedForm, UtilisationScalesWithSpeedAndIsCut) {
  const OwnedWorkload w = workload({job(60s).util(80), job(100s).util(60)});
  ScriptedPolicy policy = steps({{{J(0), J(1)}, {G(0)}}});
  EXPECT_DOUBLE_EQ(run(cluster(1, 1), w, ShareWorld(0.5), policy).record.usage.util_s,
                   90 * 14.0 / 15 + 40 * 0.6);
  // x = 0: 140 % is cut to 100 % for 60 s, then 60 % for 40 s.
  ScriptedPolicy again = steps({{{J(0), J(1)}, {G(0)}}});
  EXPECT_DOUBLE_EQ(run(cluster(1, 1), w, ShareWorld(0), again).record.usage.util_s, 60 + 24);
}

// Utilisation without a profile is unknown, which is not 0.
TEST(ClosedForm, UtilisationThatNobodyKnows) {
  ScriptedPolicy policy = steps({{{J(0)}, {G(0)}}});
  const RunResult r = run(cluster(1, 2), workload({job(10s)}), ShareWorld(1), policy);
  EXPECT_TRUE(std::isnan(at(compute_metrics(r.record), Metric::kGpuUtil)));
  EXPECT_EQ(at(compute_metrics(r.record), Metric::kOccupancy), 0.5);
}

// A gang slowed on one GPU uses the other less, too: x = 1, gang A (100 s, 50 %) on both GPUs
// at 1/2 until B (40 s, 40 %) has left GPU 1 at 80, then 60 s at speed 1.
//   GPU 0: 80 * 0.25 + 60 * 0.5 = 50.   GPU 1: 80 * (0.25 + 0.2) + 60 * 0.5 = 66.
TEST(ClosedForm, UtilisationOfAGang) {
  const OwnedWorkload w = workload({job(100s).gpus(2).util(50), job(40s).util(40)});
  ScriptedPolicy policy = steps({{{J(0)}, {G(0), G(1)}}, {{J(1)}, {G(1)}}});
  const RunResult r = run(cluster(1, 2), w, ShareWorld(1), policy, join());
  EXPECT_DOUBLE_EQ(r.record.usage.util_s, 116);
  EXPECT_DOUBLE_EQ(r.record.usage.util_known_s, 280);
}

// ---- a measured group ------------------------------------------------------------------------

/// Half speed for every job: the world's answer for groups that were not measured.
class HalfSpeed final : public test::FeaturelessModel {
 public:
  void speeds(std::span<const PairJob>, std::span<double> out) const override {
    std::fill(out.begin(), out.end(), 0.5);
  }
  double residual_sigma() const override { return 0; }
};

InterferenceWorld measured_three() {
  // Excess 1/2 per other resident: three at 1/2, two at 2/3. Solo 10, 20, 30 s.
  //   20: the first ends; 35: the second (10 + 15 * 2/3 = 20); 45: the third (10 + 10 + 10 = 30).
  CorunMeasurement m;
  m.source = "test";
  m.members = {{0, {}, 10, 20, 0}, {1, {}, 20, 35, 0}, {2, {}, 30, 45, 0}};
  return InterferenceWorld(std::make_shared<MeasuredTable>(std::vector{m}),
                           std::make_shared<HalfSpeed>(), {{0, {}}, {1, {}}, {2, {}}, {7, {}}},
                           false);
}

// The measured group reproduces its measured times, while its members leave one by one.
TEST(ClosedForm, AMeasuredGroupReproducesItsTimes) {
  const OwnedWorkload w = workload({job(10s), job(20s), job(30s)});
  ScriptedPolicy policy = steps({{{J(0), J(1), J(2)}, {G(0)}}});
  const RunResult r = run(cluster(1, 1), w, measured_three(), policy);
  EXPECT_EQ(finishes(r.record), (Times{20s, 35s, 45s}));
  EXPECT_DOUBLE_EQ(r.record.usage.corun_s[static_cast<std::size_t>(Provenance::kMeasured)], 35);
}

// Twice as long a run keeps the speeds; and the first to leave may be another one: works 60, 40,
// 20.
//   three at 1/2: the third ends at 40, others have done 20; two at 2/3: the second (20 left) ends at
//   70; the first has done 40, ends at 90.
TEST(ClosedForm, AMeasuredGroupShrinksInAnyOrder) {
  ScriptedPolicy longer = steps({{{J(0), J(1), J(2)}, {G(0)}}});
  EXPECT_EQ(finishes(run(cluster(1, 1), workload({job(20s), job(40s), job(60s)}), measured_three(),
                         longer)
                         .record),
            (Times{40s, 70s, 90s}));
  ScriptedPolicy other = steps({{{J(0), J(1), J(2)}, {G(0)}}});
  EXPECT_EQ(
      finishes(run(cluster(1, 1), workload({job(60s), job(40s), job(20s)}), measured_three(), other)
                   .record),
      (Times{90s, 70s, 40s}));
}

// A job outside the group joins when the first has left: the residents are no measured group any more and
// run at the model's 1/2. Works 10, 20, 30 and 5 (joins at 20).
//   20: second and third have done 10. Three at 1/2 until 30: the joined job's 5 s are done, second and
//   third have done 15. The latest start formed {1, 2, 3}, never measured, nor was {1, 2}: model, 1/2.
//   40: the second ends; the third has done 20 and ends at 50.
TEST(ClosedForm, AStrangerEndsAMeasuredGroup) {
  const OwnedWorkload w = workload({job(10s), job(20s), job(30s), job(5s).at(20s)});
  ScriptedPolicy policy = steps({{{J(0), J(1), J(2)}, {G(0)}}, {{J(3)}, {G(0)}}});
  const RunResult r = run(cluster(1, 1), w, measured_three(), policy, join());
  EXPECT_EQ(finishes(r.record), (Times{20s, 40s, 50s, 30s}));
  EXPECT_DOUBLE_EQ(r.record.usage.corun_s[static_cast<std::size_t>(Provenance::kMeasured)], 20);
  EXPECT_DOUBLE_EQ(r.record.usage.corun_s[static_cast<std::size_t>(Provenance::kModelled)], 20);
}

// ---- the ends of the range -------------------------------------------------------------------

// 9e7 s on a GPU of speed 1/100 take 9e9 s: 285 years. Each job can do that on a GPU of its own, and the
// sums over GPUs (2.7e10 GPU-seconds) are exact beyond the range of a Duration.
TEST(ClosedForm, GpuTimeBeyondTheRangeOfADuration) {
  const OwnedWorkload w = workload({job(90'000'000s), job(90'000'000s), job(90'000'000s)});
  ScriptedPolicy policy = steps({{{J(0)}, {G(0)}}, {{J(1)}, {G(1)}}, {{J(2)}, {G(2)}}});
  const RunResult r = run(cluster(1, 3, 1e-2), w, ShareWorld(1), policy);
  EXPECT_EQ(finishes(r.record), Times(3, 9'000'000'000s));
  EXPECT_DOUBLE_EQ(to_seconds(r.record.usage.busy), 2.7e10);
  const MetricValues m = compute_metrics(r.record);
  EXPECT_EQ(at(m, Metric::kPsTotal), 0);
  EXPECT_EQ(at(m, Metric::kPs), 0);
  EXPECT_DOUBLE_EQ(at(m, Metric::kOccupancy), 1);
}

// An event beyond 292 years is refused wherever it would happen, and never wraps around.
TEST(ClosedForm, TimeBeyondTheRangeIsRefused) {
  const auto refused = [](const ClusterSpec& spec, const OwnedWorkload& w, std::vector<Step> list,
                          const RunOptions& options) {
    ScriptedPolicy policy = steps(std::move(list));
    try {
      run(spec, w, ShareWorld(1), policy, options);
    } catch (const InputError& e) {
      return std::string(e.what()).rfind("simulated time would pass 292 years; ", 0) == 0;
    }
    return false;
  };
  const OwnedWorkload long_jobs = workload({job(90'000'000s), job(90'000'000s), job(90'000'000s)});
  const ClusterSpec slow = cluster(1, 1, 1e-2);
  // One after the other; sharing; on a GPU on which a single job does not end in time.
  EXPECT_TRUE(refused(slow, long_jobs, {{{J(0)}, {G(0)}}, {{J(1)}, {G(0)}, 9'000'000'000s}}, {}));
  EXPECT_TRUE(refused(slow, long_jobs, {{{J(0), J(1), J(2)}, {G(0)}}}, {}));
  EXPECT_TRUE(refused(cluster(1, 1, 1e-12), long_jobs, {{{J(0)}, {G(0)}}}, {}));
  // Rounds and ticks of 1e9 s: nothing can start or end after 9e9 s.
  RunOptions coarse;
  coarse.simulation.tick = 1'000'000'000s;
  EXPECT_TRUE(refused(slow, workload({job(90'000'001s)}), {{{J(0)}, {G(0)}}}, coarse));
  coarse = {};
  coarse.control.round = 1'000'000'000s;
  EXPECT_TRUE(refused(slow, workload({job(10s).at(9'000'000'001s)}), {{{J(0)}, {G(0)}}}, coarse));
  // A job that can never fit fails after 1e9 s, ten times: the tenth would be at 1e10 s.
  ClusterSpec small = cluster(1, 1, 1, 100);
  small.oom.ramp = 1'000'000'000s;
  small.oom.retries = 20;
  EXPECT_TRUE(refused(small, workload({job(10s).memory(200)}),
                      std::vector<Step>(21, {{J(0)}, {G(0)}}), {}));
  // Arrivals, too.
  EXPECT_TRUE(refused(slow, workload({job(10s).at(kNever)}), {}, {}));
}

// A round without waiting jobs does not matter: 9e9 s is a multiple of 1e9 s, the end is not.
TEST(ClosedForm, ARoundBeyondTheRangeThatNobodyWaitsForIsNone) {
  RunOptions options;
  options.control.round = 1'000'000'000s;
  ScriptedPolicy policy = steps({{{J(0)}, {G(0)}}});
  const OwnedWorkload w = workload({job(10s).at(9'000'000'000s)});
  EXPECT_EQ(finishes(run(cluster(1, 1), w, ShareWorld(1), policy, options).record),
            (Times{9'000'000'010s}));
}

// 1 ns of work on a GPU of speed 1e6 takes 1 ns, the shortest run: alone it has no slowdown.
TEST(ClosedForm, TheShortestRunTakesANanosecond) {
  ScriptedPolicy alone = steps({{{J(0)}, {G(0)}}});
  const RunResult one = run(cluster(1, 1, 1e6), workload({job(1ns)}), ShareWorld(1), alone);
  EXPECT_EQ(one.record.jobs[0].solo, 1ns);
  EXPECT_EQ(one.record.jobs[0].finish, 1ns);
  EXPECT_EQ(one.record.jobs[0].isd(), 0);
  EXPECT_EQ(at(compute_metrics(one.record), Metric::kPsTotal), 0);
  // Sharing with a longer one that joins at the same instant.
  ScriptedPolicy joined = steps({{{J(0)}, {G(0)}}, {{J(1)}, {G(0)}}});
  EXPECT_EQ(run(cluster(1, 1, 1e6), workload({job(1ns), job(1s)}), ShareWorld(1), joined, join())
                .record.jobs[0]
                .isd(),
            0);
  // Sharing with a longer one from the start.
  ScriptedPolicy both = steps({{{J(0), J(1)}, {G(0)}}});
  const RunResult two = run(cluster(1, 1, 1e6), workload({job(1ns), job(1s)}), ShareWorld(1), both);
  EXPECT_EQ(two.record.jobs[0].solo, 1ns);
  EXPECT_EQ(two.record.jobs[0].isd(), 0);
  EXPECT_TRUE(std::isfinite(*two.record.episodes[0].ps()));
}

// ---- ticks that make progress -------------------------------------------------------------------

SimulationOptions progress_of(Duration tick) {
  SimulationOptions options;
  options.tick = tick;
  options.tick_rule = TickRule::kProgress;
  return options;
}

// A tick either ends a job without work left or does one second: 5 ticks of work, and one to end.
TEST(ClosedForm, ATickToNoticeTheEndAfterTheLastTickOfWork) {
  ScriptedPolicy policy = steps({{{J(0)}, {G(0)}}, {{J(1)}, {G(1)}}});
  const RunResult r = run(cluster(1, 2), workload({job(5s), job(4500ms).at(2s)}), ShareWorld(0),
                          policy, {.simulation = progress_of(1s)});
  EXPECT_EQ(finishes(r.record), (Times{6s, 8s}));
}

// Started between two ticks a job works from the next one on: at 20 it has its work done by the tick at 21
// and ends at 28, as if it had started at 14.
TEST(ClosedForm, AStartBetweenTicksWorksFromTheNext) {
  for (const auto& [start, end] :
       std::vector<std::pair<Time, Time>>{{14s, 28s}, {20s, 28s}, {21s, 35s}}) {
    ScriptedPolicy policy = steps({{{J(0)}, {G(0)}}});
    const RunResult r = run(cluster(1, 1), workload({job(5s).at(start)}), ShareWorld(0), policy,
                            {.simulation = progress_of(7s)});
    EXPECT_EQ(r.record.jobs[0].finish, end);
  }
}

// J0 does half a second a tick, J1 0.8: J1 has nothing left after 4 ticks and ends at 5. J0 had its tick
// of that instant before, at half speed: 2.5 done, 7.5 to do from 5 on, ends at 5 + 8 + 1.
TEST(ClosedForm, TheEarlierStartedHasHadItsTickWhenItsCoRunnerEnds) {
  ScriptedPolicy policy = steps({{{J(0), J(1)}, {G(0)}}});
  const RunResult r = run(cluster(1, 1), workload({job(10s), job(3s)}), TableWorld({0.5, 0.8}),
                          policy, {.simulation = progress_of(1s)});
  EXPECT_EQ(finishes(r.record), (Times{14s, 5s}));
}

// The same in the other order: J0 is alone already when its tick of that instant comes: 3 done, 7 to do.
TEST(ClosedForm, TheLaterStartedHasItsTickAtFullSpeed) {
  ScriptedPolicy policy = steps({{{J(1), J(0)}, {G(0)}}});
  const RunResult r = run(cluster(1, 1), workload({job(10s), job(3s)}), TableWorld({0.5, 0.8}),
                          policy, {.simulation = progress_of(1s)});
  EXPECT_EQ(finishes(r.record), (Times{13s, 5s}));
}

// J1 joins at 4: J0 has done 4 ticks by then and goes on at half speed: 6 / 0.5 = 12, ends at 4 + 12 + 1.
TEST(ClosedForm, ANewcomerChangesTheNextTick) {
  ScriptedPolicy policy = steps({{{J(0)}, {G(0)}}, {{J(1)}, {G(0)}}});
  RunOptions options = join();
  options.simulation = progress_of(1s);
  const RunResult r = run(cluster(1, 1), workload({job(10s), job(100s).at(4s)}),
                          TableWorld({0.5, 0.8}), policy, options);
  EXPECT_EQ(r.record.jobs[0].finish, 17s);
}

// Both have no work left after two ticks: both end at 3, in either order.
TEST(ClosedForm, CoRunnersThatAreDueEndTogether) {
  ScriptedPolicy policy = steps({{{J(0), J(1)}, {G(0)}}});
  const RunResult r = run(cluster(1, 1), workload({job(1s), job(1s)}), TableWorld({0.5, 0.5}),
                          policy, {.simulation = progress_of(1s)});
  EXPECT_EQ(finishes(r.record), (Times{3s, 3s}));
}

// ---- speed and memory by job and GPU type ---------------------------------------------------------

// Job 0 runs at 2 and 1/2 times the reference, job 1 at 1/2 and 4: each on its own type.
TEST(ClosedForm, OneJobOnEachType) {
  const TableOnTypes on_types({{{2}, {0.5}}, {{0.5}, {4}}});
  const ShareWorld share(1);
  const ClusterSpec spec = cluster({of_type(0, node(1)), of_type(1, node(1))});
  const OwnedWorkload w = workload({job(100s).util(50), job(100s).util(50)});
  ScriptedPolicy policy = steps({{{J(0)}, {G(0)}}, {{J(1)}, {G(1)}}});
  const RunResult r = run(spec, w, OnTypesWorld(share, &on_types), policy);
  EXPECT_EQ(finishes(r.record), (Times{50s, 25s}));
  EXPECT_EQ(r.record.jobs[0].solo, 50s);
  EXPECT_EQ(r.record.jobs[0].reference_solo, 100s);
  EXPECT_EQ(r.record.jobs[0].whole_solo, 50s);
  EXPECT_DOUBLE_EQ(r.record.jobs[0].isd(), 0);
  EXPECT_DOUBLE_EQ(r.record.jobs[1].isd_reference(), -0.75);
  EXPECT_DOUBLE_EQ(r.record.usage.util_s, 37.5);  // half of the time, whatever the speed
  EXPECT_DOUBLE_EQ(r.record.usage.solo_s[static_cast<std::size_t>(SoloSource::kMeasured)], 75);
  // Both on type 1: job 0 does 12.5 of its 100 at 1/4 until job 1, at 2, is done at 50; the rest at 1/2.
  policy = steps({{{J(0), J(1)}, {G(1)}}});
  const RunResult both = run(spec, w, OnTypesWorld(share, &on_types), policy);
  EXPECT_EQ(finishes(both.record), (Times{225s, 50s}));
  EXPECT_EQ(both.record.jobs[0].solo, 200s);
}

// A gang across two types waits for the slower, which differs by job; alone and beside the other.
TEST(ClosedForm, AGangAcrossTwoTypesRunsAtItsSlowest) {
  const TableOnTypes on_types({{{2}, {0.5}}, {{0.8}, {4}}});
  const ShareWorld share(1);
  const OnTypesWorld world(share, &on_types);
  const ClusterSpec spec = cluster({of_type(0, node(1)), of_type(1, node(1))});
  const OwnedWorkload w = workload({job(100s).gpus(2), job(100s).gpus(2)});
  ScriptedPolicy policy = steps({{{J(0)}, {G(0), G(1)}}, {{J(1)}, {G(0), G(1)}, 200s}});
  EXPECT_EQ(finishes(run(spec, w, world, policy).record), (Times{200s, 325s}));
  // Job 1 does 100 at 0.4 until 250; job 0, at 1/4 until then, does the other 37.5 at 1/2.
  policy = steps({{{J(0), J(1)}, {G(0), G(1)}}});
  const RunResult both = run(spec, w, world, policy);
  EXPECT_EQ(finishes(both.record), (Times{325s, 250s}));
  EXPECT_EQ(both.record.jobs[0].solo, 200s);
  EXPECT_EQ(both.record.jobs[1].solo, 125s);
  EXPECT_EQ(both.record.jobs[1].reference_solo, 100s);
}

// 60 of 100 s of work on the type twice as fast, then the rest on the other one, with 2 s to save and load.
TEST(ClosedForm, APreemptedJobGoesOnOnAnotherType) {
  const TableOnTypes on_types({{{2}, {0.5}}, {{1}, {1}}});
  const ShareWorld share(1);
  const ClusterSpec spec = cluster({of_type(0, node(1)), of_type(1, node(1))});
  Timetable policy({{0s, {}, {J(0)}, {G(0)}}, {30s, {J(0)}, {J(0)}, {G(1)}}});
  RunOptions options = of_timetable();
  options.simulation.preemption = {1s, 1s, 0};
  const RunResult r =
      run(spec, workload({job(100s)}), OnTypesWorld(share, &on_types), policy, options);
  const JobRecord& j = r.record.jobs[0];
  EXPECT_EQ(j.finish, 30s + 2s + 80s);
  EXPECT_EQ(j.solo, 30s + 80s);
  EXPECT_EQ(j.reference_solo, 100s);
  EXPECT_EQ(j.run_reference_solo, 40s);
  EXPECT_EQ(j.whole_solo, 200s);
  EXPECT_DOUBLE_EQ(j.isd_reference(), 0.12);
}

// Two jobs that fit the memory of type 0, and, with other demands, not that of type 1.
TEST(ClosedForm, MemoryIsThatOfTheTypeAndTheDemandOnIt) {
  ClusterSpec spec = cluster({of_type(0, node(1, 1, 1000)), of_type(1, node(1, 1, 2000))});
  spec.oom = {5s, 0};
  // The demands of the profiles do not count.
  const OwnedWorkload w = workload({job(10s).memory(9000), job(10s).memory(9000)});
  const ShareWorld share(0);
  const auto ooms_on = [&](GpuId gpu, double on_second) {
    const TableOnTypes on_types({{{1, 500}, {1, 1000}}, {{1, 500}, {1, on_second}}});
    ScriptedPolicy policy = steps({{{J(0), J(1)}, {gpu}}});
    return run(spec, w, OnTypesWorld(share, &on_types), policy).record.jobs[1].ooms;
  };
  EXPECT_EQ(ooms_on(G(0), 1001), 0);
  EXPECT_EQ(ooms_on(G(1), 1001), 1);
  EXPECT_EQ(ooms_on(G(1), 1000), 0);
  EXPECT_EQ(ooms_on(G(1), -1), 0);  // not known
}

// One type; the same types by three names; and three types on which all jobs are alike: equal records.
TEST(ClosedForm, EqualTypesAreAsOne) {
  const OwnedWorkload w =
      workload({job(100s).memory(300).util(60), job(70s).memory(500).util(50),
                job(30s).gpus(2).memory(100).util(30), job(50s).at(31s).memory(900)});
  const auto made = [&](bool named, bool by_job) {
    ClusterSpec spec = cluster(3, 1, 1.5, 1000);
    for (std::uint32_t n = 0; n < 3 && named; ++n) spec.nodes[n] = of_type(n, spec.nodes[n]);
    const TableOnTypes on_types({{{1.5, 300}, {1.5, 300}, {1.5, 300}},
                                 {{1.5, 500}, {1.5, 500}, {1.5, 500}},
                                 {{1.5, 100}, {1.5, 100}, {1.5, 100}},
                                 {{1.5, 900}, {1.5, 900}, {1.5, 900}}});
    const ShareWorld share(0.5);
    ScriptedPolicy policy =
        steps({{{J(0), J(1)}, {G(0)}}, {{J(2)}, {G(1), G(2)}}, {{J(3)}, {G(1)}}});
    return run(spec, w, OnTypesWorld(share, by_job ? &on_types : nullptr), policy, join());
  };
  const RunResult one = made(false, false);
  EXPECT_EQ(one.record.jobs[3].ooms, 0);
  for (const bool by_job : {false, true}) {
    const RunResult three = made(true, by_job);
    EXPECT_EQ(three.log, one.log);
    for (std::size_t j = 0; j < w.jobs.size(); ++j) {
      const JobRecord& a = one.record.jobs[j];
      const JobRecord& b = three.record.jobs[j];
      EXPECT_EQ(std::tuple(a.finish, a.solo, a.run_solo, a.reference_solo, a.whole_solo, a.ooms),
                std::tuple(b.finish, b.solo, b.run_solo, b.reference_solo, b.whole_solo, b.ooms));
    }
    EXPECT_EQ(three.record.usage.busy, one.record.usage.busy);
    EXPECT_EQ(three.record.usage.util_s, one.record.usage.util_s);
    EXPECT_EQ(three.record.usage.mem_s, one.record.usage.mem_s);
    EXPECT_EQ(three.record.usage.mem_known_s, one.record.usage.mem_known_s);
  }
}

// ---- warm-up and cool-down -----------------------------------------------------------------------

// Three jobs on one GPU, one after the other: JCT 10, 15, 20. With a window on the middle one it is 15; the
// makespan is that of all.
TEST(ClosedForm, AWindowOfSubmissions) {
  ScriptedPolicy policy = steps({{{J(0)}, {G(0)}}, {{J(1)}, {G(0)}, 10s}, {{J(2)}, {G(0)}, 20s}});
  const RunResult r = run(cluster(1, 1), workload({job(10s), job(10s).at(5s), job(10s).at(10s)}),
                          ShareWorld(1), policy);
  const MetricValues all = compute_metrics(r.record);
  EXPECT_DOUBLE_EQ(at(all, Metric::kJctS), 15);
  EXPECT_DOUBLE_EQ(at(all, Metric::kJobs), 3);
  const MetricValues middle = compute_metrics(r.record, {1s, 9s});
  EXPECT_DOUBLE_EQ(at(middle, Metric::kJctS), 15);
  EXPECT_DOUBLE_EQ(at(middle, Metric::kQueueS), 5);
  EXPECT_DOUBLE_EQ(at(middle, Metric::kJobs), 1);
  EXPECT_DOUBLE_EQ(at(middle, Metric::kMakespanS), 30);
  const MetricValues last = compute_metrics(r.record, {10s, kNever});
  EXPECT_DOUBLE_EQ(at(last, Metric::kJctS), 20);
}

// ---- records that are not kept --------------------------------------------------------------------

TEST(ClosedForm, ASinkGivesTheSameMetrics) {
  const OwnedWorkload w = workload({job(10s).memory(300).util(60), job(20s).memory(300).util(50),
                                    job(15s).util(70), job(30s).gpus(2).memory(100).util(30),
                                    job(10s).at(31s).memory(600).util(20), job(7s).at(80s)});
  const ClusterSpec spec = cluster(1, 2, 1, 1000);
  const auto script = [] {
    return steps({{{J(0), J(1), J(2)}, {G(0)}},
                  {{J(3)}, {G(0), G(1)}, 25s},
                  {{J(4)}, {G(1)}},
                  {{J(5)}, {G(1)}}});
  };
  ScriptedPolicy policy = script();
  RunOptions options = join();
  const RunResult kept = run(spec, w, ShareWorld(0.5), policy, options);
  MetricsCollector collector(w.jobs.size());
  options.simulation.sink = &collector;
  policy = script();
  const RunResult streamed = run(spec, w, ShareWorld(0.5), policy, options);
  EXPECT_TRUE(streamed.record.jobs.empty());
  EXPECT_TRUE(streamed.record.episodes.empty());
  const MetricValues expected = compute_metrics(kept.record);
  const MetricValues found = std::move(collector).finish(streamed.record);
  for (std::size_t m = 0; m < kMetricCount; ++m) {
    EXPECT_TRUE(found[m] == expected[m] || (std::isnan(found[m]) && std::isnan(expected[m])))
        << metric_info(static_cast<Metric>(m)).name;
  }
}

}  // namespace
}  // namespace corun::test::simulated_backend_closed_form_test
