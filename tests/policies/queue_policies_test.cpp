#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "sim/base/text.hpp"
#include "sim/records/metrics.hpp"
#include "tests/helpers/scenarios.hpp"

/// fifo, sjf, srtf and las: starts computed by hand, and compared with the records of Lucid's simulator for
/// the same traces.
namespace corun::test::queue_policies_test {
namespace {

Parameters with(std::string_view policy, std::map<std::string, ParameterValue> values) {
  Parameters p(find_policy(policy)->parameters);
  for (auto& [name, value] : values) p.set(name, value);
  return p;
}

RunResult simulate(std::string_view policy, const ClusterSpec& spec, std::vector<JobSpec> jobs,
                   std::map<std::string, ParameterValue> values = {}, PreemptionCost cost = {}) {
  const ShareWorld world(0);
  const OwnedWorkload w = workload(std::move(jobs));
  RunOptions options;
  options.simulation.preemption = cost;
  options.name = policy;
  const auto p = make_policy(*find_policy(policy), w, world, 1, with(policy, std::move(values)));
  return run(spec, w, world, *p, options);
}

std::vector<std::int64_t> starts(const RunResult& r) {
  std::vector<std::int64_t> s;
  for (const JobRecord& j : r.record.jobs) s.push_back((*j.first_start).count() / 1'000'000'000);
  return s;
}
std::vector<std::int64_t> ends(const RunResult& r) {
  std::vector<std::int64_t> s;
  for (const JobRecord& j : r.record.jobs) s.push_back(j.finish.count() / 1'000'000'000);
  return s;
}
using Seconds = std::vector<std::int64_t>;

TEST(Fifo, GoesBySubmitTimeAndTheHeadOfTheLineBlocks) {
  const std::vector<JobSpec> jobs{job(seconds(10)).gpus(1), job(seconds(10)).at(seconds(1)).gpus(2),
                                  job(seconds(1)).at(seconds(2)).gpus(1)};
  EXPECT_EQ(starts(simulate("fifo", cluster(1, 2), jobs)), (Seconds{0, 10, 20}));
  EXPECT_EQ(starts(simulate("fifo", cluster(1, 2), jobs, {{"blocking", std::string("backfill")}})),
            (Seconds{0, 10, 2}));
}

TEST(FifoPacked, GoesBySubmitTimeNotByRow) {
  const std::vector<JobSpec> jobs{job(seconds(100)).at(seconds(50)), job(seconds(100)),
                                  job(seconds(10)).at(seconds(60))};
  const RunResult r = simulate("fifo-packed", cluster(1, 1), jobs, {{"threshold", 2.0}});
  EXPECT_EQ(starts(r), (Seconds{100, 0, 200}));
  EXPECT_EQ(ends(r), (Seconds{200, 100, 210}));
}

/// A pair is planned again in each pass: it goes on where it runs, whichever row is older. It ends
/// only when a job finishes, at 100 s: the other one gets a new co-runner.
TEST(FifoPacked, APairOfAnYoungerRowFirstIsKept) {
  const std::vector<JobSpec> jobs{job(seconds(100)).at(seconds(1)), job(seconds(100)),
                                  job(seconds(10)).at(seconds(2))};
  const RunResult r = simulate("fifo-packed", cluster(1, 1), jobs, {{"threshold", 0.0}});
  EXPECT_EQ(r.record.jobs[0].preemptions, 1);
  EXPECT_EQ(ends(r), (Seconds{101, 100, 110}));
}

TEST(Sjf, GoesByEstimateThenBySubmitTimeThenByPosition) {
  const auto r =
      simulate("sjf", cluster(1, 1),
               {job(seconds(10)), job(seconds(5)).at(seconds(2)), job(seconds(3)).at(seconds(3)),
                job(seconds(5)).at(seconds(1)), job(seconds(5)).at(seconds(1))});
  EXPECT_EQ(starts(r), (Seconds{0, 23, 10, 13, 18}));
}

TEST(Sjf, BlocksToo) {
  // The shortest wants both GPUs and waits for the one that is taken.
  const auto r = simulate(
      "sjf", cluster(1, 2),
      {job(seconds(10)), job(seconds(2)).at(seconds(1)).gpus(2), job(seconds(4)).at(seconds(1))});
  EXPECT_EQ(starts(r), (Seconds{0, 10, 12}));
}

TEST(QueuePolicies, AGangThatFitsANodeWaitsForOne) {
  const std::vector<JobSpec> jobs{job(seconds(10)).gpus(1), job(seconds(7)).gpus(1),
                                  job(seconds(5)).at(seconds(1)).gpus(2)};
  // One to each node would leave none whole, so both go to the first.
  EXPECT_EQ(starts(simulate("fifo", cluster(2, 2), jobs)), (Seconds{0, 0, 1}));
  // On a cluster with one GPU per node a gang of two takes any two.
  EXPECT_EQ(starts(simulate("fifo", cluster(4, 1), jobs)), (Seconds{0, 0, 1}));
  // {2, 1}: job 0 takes the tighter node, job 1 breaks the other.
  EXPECT_EQ(starts(simulate("fifo", cluster({node(2), node(1)}), jobs)), (Seconds{0, 0, 7}));
  EXPECT_EQ(starts(simulate("fifo", cluster({node(2), node(1), node(1)}),
                            {job(seconds(10)).gpus(3), job(seconds(5)).gpus(4)})),
            (Seconds{0, 10}));
}

TEST(QueuePolicies, AGangOnSeveralNodesTakesWholeOnesAndARest) {
  // 5 GPUs on nodes of 2: two whole nodes and one GPU of a third.
  const auto r =
      simulate("fifo", cluster(3, 2), {job(seconds(9)).gpus(1), job(seconds(5)).gpus(5)});
  EXPECT_EQ(starts(r), (Seconds{0, 0}));
  const auto& log = r.log;
  const auto start = std::find_if(log.begin(), log.end(), [](const LogEntry& e) {
    return e.kind == LogKind::kStart && e.job == J(1);
  });
  EXPECT_EQ(start->gpus, (std::vector<GpuId>{G(2), G(3), G(4), G(5), G(1)}));
  // Three free GPUs on three nodes are not enough for a gang of 3, which needs a whole node.
  const auto s =
      simulate("fifo", cluster(3, 2),
               {job(seconds(9)).gpus(1), job(seconds(9)).gpus(2), job(seconds(9)).gpus(1),
                job(seconds(9)).gpus(1), job(seconds(1)).gpus(3)});
  EXPECT_EQ(starts(s), (Seconds{0, 0, 0, 0, 9}));
}

TEST(Srtf, TheShorterTakesTheGpuAndTheOtherGoesOnLater) {
  const auto r =
      simulate("srtf", cluster(1, 1), {job(seconds(10)), job(seconds(3)).at(seconds(4))});
  EXPECT_EQ(starts(r), (Seconds{0, 4}));
  EXPECT_EQ(ends(r), (Seconds{13, 7}));
  EXPECT_EQ(r.record.jobs[0].preemptions, 1);
  EXPECT_EQ(r.record.jobs[0].ran, seconds(4));
  EXPECT_DOUBLE_EQ(r.record.jobs[0].isd(), 0);
}

TEST(Srtf, WhatRemainsCountsNotWhatWasAsked) {
  // At 8 s two seconds of job 0 are left: less than the three of job 1.
  const auto r =
      simulate("srtf", cluster(1, 1), {job(seconds(10)), job(seconds(3)).at(seconds(8))});
  EXPECT_EQ(ends(r), (Seconds{10, 13}));
  EXPECT_EQ(r.record.jobs[0].preemptions, 0);
}

TEST(Srtf, TakesTheLongestAndOnlyAsManyAsItNeeds) {
  // Nodes of 2: jobs 0 and 1 on one, 2 and 3 on the other. The gang of 2 needs a whole one. Job 0 is the
  // longest, but the node of the next longest, 2 and 3, comes free first: job 0 may stay.
  const auto r =
      simulate("srtf", cluster(2, 2),
               {job(seconds(90)), job(seconds(40)).at(seconds(1)), job(seconds(85)).at(seconds(2)),
                job(seconds(80)).at(seconds(3)), job(seconds(10)).at(seconds(5)).gpus(2)});
  EXPECT_EQ(ends(r)[4], 15);
  std::vector<std::pair<LogKind, JobId>> at_5s;
  for (const LogEntry& e : r.log) {
    if (e.at == seconds(5)) at_5s.emplace_back(e.kind, e.job);
  }
  // Job 3, with 78 s left, then precedes job 0 with 85 s.
  EXPECT_EQ(at_5s, (std::vector<std::pair<LogKind, JobId>>{{LogKind::kArrive, J(4)},
                                                           {LogKind::kPreempt, J(2)},
                                                           {LogKind::kPreempt, J(3)},
                                                           {LogKind::kStart, J(4)},
                                                           {LogKind::kPreempt, J(0)},
                                                           {LogKind::kStart, J(3)}}));
}

TEST(Srtf, NobodyGoesWhereItWouldNotDo) {
  // Job 1 is shorter than the gang, and without its GPU there is no room for it.
  const auto r =
      simulate("srtf", cluster(1, 2),
               {job(seconds(50)), job(seconds(9)), job(seconds(8)).at(seconds(4)).gpus(2)});
  EXPECT_EQ(r.record.jobs[0].preemptions, 1);  // at 9 s
  EXPECT_EQ(ends(r), (Seconds{58, 9, 17}));
}

/// One job preempted once: 4 of its 10 s are done when the other comes, half of which is lost.
TEST(Preemption, CostsAreThoseOfTheConfiguration) {
  const auto r = simulate("srtf", cluster(1, 1), {job(seconds(10)), job(seconds(3)).at(seconds(4))},
                          {}, {.save = seconds(2), .restore = seconds(1), .lost_work = 0.5});
  // From 7 s: 3 s of saving and loading, then 8 s of work.
  EXPECT_EQ(ends(r), (Seconds{18, 7}));
  const JobRecord& j = r.record.jobs[0];
  EXPECT_EQ(j.ran, seconds(4));
  EXPECT_EQ(j.corun(), seconds(15));
  EXPECT_EQ(j.solo, seconds(10));
  EXPECT_DOUBLE_EQ(j.isd(), 0.5);
  EXPECT_EQ(r.record.usage.busy, GpuTime(seconds(18)));
  const MetricValues m = compute_metrics(r.record);
  EXPECT_DOUBLE_EQ(at(m, Metric::kJctS), (18.0 + 3.0) / 2);
  EXPECT_DOUBLE_EQ(at(m, Metric::kIsd), 0.25);
  // One GPU, never empty: one episode of 18 s for 13 s of requested work. If the record has three instead,
  // the sum is the same.
  EXPECT_DOUBLE_EQ(at(m, Metric::kPsTotal), (13.0 - 18.0) / 13.0);
}

std::map<std::string, ParameterValue> thresholds(std::vector<double> s, double promote_after = 0) {
  return {{"thresholds_s", std::move(s)}, {"promote_after", promote_after}};
}

TEST(Las, WhoHasHadLittleGoesFirst) {
  // Job 0 passes 10 GPU-seconds at 10 s and gives way to job 1, which passes them at 20 s; from then on
  // both are in the last queue, job 0 came there first.
  const auto r = simulate("las", cluster(1, 1), {job(seconds(30)), job(seconds(15)).at(seconds(5))},
                          thresholds({10}));
  EXPECT_EQ(starts(r), (Seconds{0, 10}));
  EXPECT_EQ(ends(r), (Seconds{40, 45}));
  EXPECT_EQ(r.record.jobs[0].preemptions, 1);
  EXPECT_EQ(r.record.jobs[1].preemptions, 1);
}

TEST(Las, ServiceIsGpusTimesTime) {
  // On two GPUs 10 GPU-seconds are over after 5 s.
  const auto r = simulate("las", cluster(1, 2),
                          {job(seconds(30)).gpus(2), job(seconds(6)).at(seconds(1)).gpus(2)},
                          thresholds({10}));
  EXPECT_EQ(starts(r), (Seconds{0, 5}));
  // Job 1 moves down at 10 s behind job 0.
  EXPECT_EQ(ends(r), (Seconds{35, 36}));
}

TEST(Las, NobodyIsMovedWhereNobodyWaits) {
  const auto r = simulate("las", cluster(1, 1), {job(seconds(30)), job(seconds(5)).at(seconds(40))},
                          thresholds({10, 20}));
  EXPECT_EQ(ends(r), (Seconds{30, 45}));
  EXPECT_EQ(r.record.jobs[0].preemptions, 0);
}

// Both long jobs are in the last queue from 20 s on, and the older one runs. The other is back in the first
// queue after 2 x 10 s of waiting, at 40, and takes the GPU; so does a job that comes to the first queue
// later.
TEST(Las, WhoIsBackInTheFirstQueueTakesTheGpu) {
  const auto r = simulate("las", cluster(1, 1),
                          {job(seconds(1000)), job(seconds(20)), job(seconds(1)).at(seconds(200))},
                          thresholds({10}, 2));
  EXPECT_EQ(ends(r), (Seconds{1021, 50, 201}));
}

TEST(Las, WhoHasWaitedLongComesBackToTheFirstQueue) {
  // Job 0 is in the last queue from 10 s on while short jobs keep coming, one every 5 s.
  std::vector<JobSpec> jobs{job(seconds(20))};
  for (int i = 0; i < 20; ++i) jobs.push_back(job(seconds(5)).at(seconds(10 + 5 * i)));
  EXPECT_EQ(ends(simulate("las", cluster(1, 1), jobs, thresholds({10})))[0], 120);
  // With the guard it is back after 10 s served and 3 x 10 s waited, that is at 40 s.
  const auto r = simulate("las", cluster(1, 1), jobs, thresholds({10}, 3));
  EXPECT_EQ(ends(r)[0], 50);
}

}  // namespace
}  // namespace corun::test::queue_policies_test
