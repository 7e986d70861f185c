#include <chrono>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "sim/error.hpp"
#include "sim/records/metrics.hpp"
#include "tests/helpers/builders.hpp"

/// Probes computed by hand, compared to the nanosecond. A runs at 1/2 and B at 3/4 while they share a GPU,
/// unless stated otherwise.
namespace corun::test::probing_test {
namespace {

using namespace std::chrono_literals;

const TableWorld kHalfAndThreeQuarters({0.5, 0.75, 0.5});

RunOptions probing(Duration length, bool keeps = false, int probes = 1) {
  RunOptions options;
  options.control.probes = probes;
  options.control.probe_length = length;
  options.simulation.probes_keep_progress = keeps;
  return options;
}

ScriptedPolicy probed_steps(std::vector<std::pair<JobId, JobId>> pairs, std::vector<Step> list) {
  ScriptedPolicy policy = steps(std::move(list));
  policy.probe_pairs = std::move(pairs);
  return policy;
}

// A minute together without progress, then A (100 s) and B (200 s) from their beginning: A takes 200 s,
// ends at 260; B has done 150 by then and ends at 310. ISD 1 and 1/4, as without the probe.
TEST(Probing, AMinuteTogetherThenBothFromTheirBeginning) {
  ScriptedPolicy policy = probed_steps({{J(1), J(0)}}, {{{J(0), J(1)}, {G(0)}}});
  const RunResult r = run(cluster(1, 1), workload({job(100s), job(200s)}), kHalfAndThreeQuarters,
                          policy, probing(60s));
  const JobRecord& a = r.record.jobs[0];
  const JobRecord& b = r.record.jobs[1];
  EXPECT_EQ(a.finish, 260s);
  EXPECT_EQ(b.finish, 310s);
  EXPECT_EQ(a.solo, 100s);
  EXPECT_DOUBLE_EQ(a.isd(), 1);
  EXPECT_DOUBLE_EQ(b.isd(), 0.25);
  EXPECT_EQ(a.first_start, 60s);
  EXPECT_EQ(b.profiling, 60s);
  EXPECT_EQ(r.record.usage.busy, 310s);
  EXPECT_DOUBLE_EQ(r.record.usage.corun_s[static_cast<std::size_t>(Provenance::kMeasured)], 260);
  const MetricValues m = compute_metrics(r.record);
  EXPECT_DOUBLE_EQ(at(m, Metric::kJctS), 285);
  EXPECT_DOUBLE_EQ(at(m, Metric::kQueueS), 60);
  EXPECT_DOUBLE_EQ(at(m, Metric::kProfilingS), 60);
  EXPECT_DOUBLE_EQ(at(m, Metric::kOccupancy), 1);
  ASSERT_EQ(r.record.episodes.size(), 2U);
  EXPECT_EQ(r.record.episodes[0].unfinished, 2);
  EXPECT_EQ(r.record.episodes[0].ps(), std::nullopt);
  EXPECT_EQ(r.record.episodes[1].start, 60s);
  ASSERT_EQ(policy.probed.size(), 1U);
  EXPECT_EQ(policy.probed[0].a, J(0));
  EXPECT_EQ(policy.probed[0].b, J(1));
  EXPECT_EQ(policy.probed[0].speed_a, 0.5);
  EXPECT_EQ(policy.probed[0].speed_b, 0.75);
  EXPECT_EQ(policy.probed[0].end, 60s);
  EXPECT_EQ(r.log, (EventLog{{0s, LogKind::kArrive, J(0), {}},
                             {0s, LogKind::kArrive, J(1), {}},
                             {0s, LogKind::kProbe, J(1), {G(0)}},
                             {0s, LogKind::kProbe, J(0), {G(0)}},
                             {60s, LogKind::kProbed, J(0), {}},
                             {60s, LogKind::kProbed, J(1), {}},
                             {60s, LogKind::kStart, J(0), {G(0)}},
                             {60s, LogKind::kStart, J(1), {G(0)}},
                             {260s, LogKind::kFinish, J(0), {}},
                             {310s, LogKind::kFinish, J(1), {}}}));
}

// Progress kept: A has 70 s left, ends at 200; B has 155 left, 105 done by then, ends at 250. J_a is
// that of the work that was left.
TEST(Probing, ProgressKept) {
  ScriptedPolicy policy = probed_steps({{J(0), J(1)}}, {{{J(0), J(1)}, {G(0)}}});
  const RunResult r = run(cluster(1, 1), workload({job(100s), job(200s)}), kHalfAndThreeQuarters,
                          policy, probing(60s, true));
  EXPECT_EQ(r.record.jobs[0].finish, 200s);
  EXPECT_EQ(r.record.jobs[1].finish, 250s);
  EXPECT_EQ(r.record.jobs[0].solo, 70s);
  EXPECT_EQ(r.record.jobs[1].solo, 155s);
  EXPECT_DOUBLE_EQ(r.record.jobs[0].isd(), 1);
  // All of their work counts, not only that of the last run: 300 s in 250.
  EXPECT_DOUBLE_EQ(at(compute_metrics(r.record), Metric::kPsTotal), (300.0 - 250) / 300);
}

// On a GPU of speed 2 twice the work is done: A (100 s) has 40 s left, 20 s alone on it.
TEST(Probing, AFasterGpuKeepsMoreProgress) {
  ScriptedPolicy policy = probed_steps({{J(0), J(1)}}, {{{J(0)}, {G(0)}}, {{J(1)}, {G(1)}}});
  const RunResult r = run(cluster(1, 2, 2), workload({job(100s), job(200s)}), kHalfAndThreeQuarters,
                          policy, probing(60s, true));
  EXPECT_EQ(r.record.jobs[0].finish, 80s);
  EXPECT_EQ(r.record.jobs[1].finish, 60s + 55s);
  EXPECT_EQ(policy.probed[0].speed_a, 0.5) << "relative to alone";
}

// A (20 s) ends at 40 and the probe with it. That was A's run, from 0; B starts at 40.
TEST(Probing, WhoFinishesEndsTheProbe) {
  ScriptedPolicy policy = probed_steps({{J(0), J(1)}}, {{{J(1)}, {G(0)}}});
  const RunResult r = run(cluster(1, 1), workload({job(20s), job(200s)}), kHalfAndThreeQuarters,
                          policy, probing(60s));
  const JobRecord& a = r.record.jobs[0];
  EXPECT_EQ(a.first_start, 0s);
  EXPECT_EQ(a.finish, 40s);
  EXPECT_DOUBLE_EQ(a.isd(), 1);
  EXPECT_EQ(a.profiling, 0s);
  EXPECT_EQ(r.record.jobs[1].first_start, 40s);
  EXPECT_EQ(r.record.jobs[1].finish, 240s);
  EXPECT_EQ(r.record.jobs[1].profiling, 40s);
  ASSERT_EQ(policy.probed.size(), 1U);
  EXPECT_EQ(policy.probed[0].end, 40s);
  ASSERT_EQ(policy.seen.size(), 2U) << "the episode that A ended in, and B's";
  ASSERT_EQ(policy.seen[0].members.size(), 1U);
  EXPECT_DOUBLE_EQ(policy.seen[0].ps, -1);
}

// A (30 s) and B (45 s) both end at 60, which is also the end of the probe: completions come first. This is
// an ordinary co-run, and beliefs learn from it once.
TEST(Probing, BothFinish) {
  ScriptedPolicy policy = probed_steps({{J(0), J(1)}}, {});
  const RunResult r = run(cluster(1, 1), workload({job(30s), job(45s)}), kHalfAndThreeQuarters,
                          policy, probing(60s));
  EXPECT_EQ(r.record.jobs[0].finish, 60s);
  EXPECT_EQ(r.record.jobs[1].finish, 60s);
  EXPECT_TRUE(policy.probed.empty());
  ASSERT_EQ(policy.seen.size(), 1U);
  EXPECT_EQ(policy.seen[0].members.size(), 2U);
  ASSERT_EQ(r.record.probes.size(), 1U);
  EXPECT_FALSE(r.record.probes[0].measured);
}

// B does not fit beside A: out of memory at 10, which ends the probe; nothing was measured.
TEST(Probing, OutOfMemoryEndsTheProbe) {
  ClusterSpec spec = cluster(1, 1, 1, 1000);
  spec.oom = {10s, 3};
  const OwnedWorkload w = workload({job(100s).memory(600), job(100s).memory(600)});
  ScriptedPolicy policy = probed_steps({{J(0), J(1)}}, {{{J(0)}, {G(0)}}, {{J(1)}, {G(0)}, 110s}});
  const RunResult r = run(spec, w, kHalfAndThreeQuarters, policy, probing(60s));
  EXPECT_TRUE(policy.probed.empty());
  EXPECT_EQ(r.record.jobs[1].ooms, 1);
  EXPECT_EQ(r.record.jobs[0].profiling, 10s);
  EXPECT_EQ(r.record.jobs[0].finish, 110s);
  EXPECT_EQ(r.record.jobs[1].finish, 210s);
  // A probe shorter than the ramp-up ends without a failure.
  ScriptedPolicy brief = probed_steps({{J(0), J(1)}}, {{{J(0)}, {G(0)}}, {{J(1)}, {G(0)}, 105s}});
  const RunResult s = run(spec, w, kHalfAndThreeQuarters, brief, probing(5s));
  EXPECT_TRUE(brief.probed.empty());
  EXPECT_EQ(s.record.jobs[1].ooms, 0);
  EXPECT_EQ(s.record.jobs[0].finish, 105s);
}

// No job waits for a co-runner: the third job starts at once on the other GPU.
TEST(Probing, NobodyWaitsForACoRunner) {
  ScriptedPolicy policy = probed_steps({{J(0), J(1)}, {J(0), J(2)}},
                                       {{{J(2)}, {G(1)}}, {{J(0)}, {G(0)}}, {{J(1)}, {G(0)}, 70s}});
  const RunResult r = run(cluster(1, 2), workload({job(10s), job(10s), job(10s)}), ShareWorld(9),
                          policy, probing(60s));
  EXPECT_EQ(r.record.jobs[2].finish, 10s);
  EXPECT_EQ(r.record.jobs[0].finish, 70s);
  EXPECT_EQ(r.record.jobs[1].finish, 80s);
}

// C comes when A and B are back; it is probed with A, which then waits again, behind B.
TEST(Probing, ACoRunnerMayBeTakenFromTheQueue) {
  std::vector<std::vector<JobId>> queues;
  ScriptedPolicy policy([&](const ClusterView& view, std::vector<Decision>& out) {
    queues.push_back(ids(view.waiting()));
    if (view.now() >= 120s) out.emplace_back(StartGroup{ids(view.waiting()), {G(0)}});
  });
  policy.probe_pairs = {{J(0), J(1)}, {J(2), J(0)}};
  const OwnedWorkload w = workload({job(100s), job(200s), job(100s).at(60s)});
  const RunResult r = run(cluster(1, 1), w, kHalfAndThreeQuarters, policy, probing(60s));
  ASSERT_EQ(policy.probed.size(), 2U);
  EXPECT_EQ(policy.probed[1].a, J(0));
  EXPECT_EQ(policy.probed[1].b, J(2));
  EXPECT_EQ(queues, (std::vector<std::vector<JobId>>{{J(1)}, {J(1), J(0), J(2)}}));
  EXPECT_EQ(r.record.jobs[0].profiling, 120s);
}

// Two probes each: A with B until 60, A with C until 120, B with C until 180. Then all of them start.
TEST(Probing, SeveralProbes) {
  ScriptedPolicy policy([&](const ClusterView& view, std::vector<Decision>& out) {
    if (view.empty_gpus().empty()) return;
    EXPECT_EQ(view.now(), 180s);
    out.emplace_back(StartGroup{ids(view.waiting()), {G(0)}});
  });
  policy.probe_pairs = {{J(0), J(1)}, {J(0), J(2)}, {J(1), J(2)}};
  const RunResult r = run(cluster(1, 1), workload({job(100s), job(200s), job(100s)}),
                          kHalfAndThreeQuarters, policy, probing(60s, false, 2));
  EXPECT_EQ(policy.probed.size(), 3U);
  for (const JobRecord& j : r.record.jobs) EXPECT_EQ(j.profiling, 120s);
}

// The end is rounded up to ticks like completions: 60 -> 64. Passes only at rounds of 50: at 100.
TEST(Probing, TicksAndRounds) {
  RunOptions options = probing(60s);
  options.simulation.tick = 16s;
  options.control.round = 50s;
  ScriptedPolicy policy = probed_steps({{J(0), J(1)}}, {{{J(0)}, {G(0)}}, {{J(1)}, {G(1)}}});
  const RunResult r =
      run(cluster(1, 2), workload({job(100s), job(200s)}), kHalfAndThreeQuarters, policy, options);
  EXPECT_EQ(r.record.jobs[0].profiling, 64s);
  EXPECT_EQ(r.record.jobs[0].first_start, 100s);
}

// Profiled first, then probed.
TEST(Probing, AfterProfiling) {
  RunOptions options = probing(60s);
  options.control.profiling = ProfilingMode::kMinute;
  ScriptedPolicy policy = probed_steps({{J(0), J(1)}}, {{{J(0)}, {G(0)}}, {{J(1)}, {G(1)}}});
  policy.wants_profile = true;
  const RunResult r =
      run(cluster(1, 2), workload({job(100s), job(200s)}), kHalfAndThreeQuarters, policy, options);
  EXPECT_EQ(r.record.jobs[0].first_start, 120s);
  EXPECT_EQ(r.record.jobs[0].profiling, 120s);
}

TEST(Probing, OnlyWhereItIsAskedForAndNeeded) {
  for (const bool needed : {true, false}) {
    ScriptedPolicy policy = probed_steps({}, {{{J(0), J(1)}, {G(0)}}});
    if (needed) policy.probe_pairs = {{J(0), J(1)}};
    const RunResult r = run(cluster(1, 1), workload({job(100s), job(200s)}), kHalfAndThreeQuarters,
                            policy, probing(60s, false, needed ? 0 : 1));
    EXPECT_EQ(r.record.jobs[0].finish, 200s);
    EXPECT_TRUE(r.record.probes.empty());
  }
}

TEST(Probing, RuleProbe) {
  for (const auto& pair : {std::pair(J(0), J(0)), std::pair(J(0), J(1))}) {
    ScriptedPolicy policy = probed_steps({pair}, {});
    try {
      run(cluster(1, 2), workload({job(100s), job(200s).gpus(2)}), kHalfAndThreeQuarters, policy,
          probing(60s));
      ADD_FAILURE() << "accepted";
    } catch (const PolicyError& e) {
      EXPECT_NE(std::string(e.what()).find("broke the rule 'probe'"), std::string::npos);
    }
  }
}

}  // namespace
}  // namespace corun::test::probing_test
