#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "policies/placement.hpp"
#include "policies/queues/gittins.hpp"
#include "tests/helpers/scenarios.hpp"

/// tiresias and srsf, the Gittins index and the placement yarn: results computed by hand.
namespace corun::test::counted_queues_test {
namespace {

using Values = std::map<std::string, ParameterValue>;
using Seconds = std::vector<std::int64_t>;

RunResult simulate(std::string_view policy, const ClusterSpec& spec, std::vector<JobSpec> jobs,
                   Values values = {}, PreemptionCost cost = {}) {
  const ShareWorld world(0);
  const OwnedWorkload w = workload(std::move(jobs));
  Parameters parameters(find_policy(policy)->parameters);
  for (auto& [name, value] : values) parameters.set(name, value);
  RunOptions options;
  options.simulation.preemption = cost;
  options.name = policy;
  options.traits = find_policy(policy)->traits_for(parameters);
  PolicyContext context{.parameters = parameters, .belief = nullptr, .seed = 1};
  context.preemption = {to_seconds(cost.save + cost.restore), cost.lost_work, cost.large_gang,
                        to_seconds(cost.save + cost.large_restore)};
  const auto p = find_policy(policy)->make(std::move(context));
  return run(spec, w, world, *p, options);
}

Seconds ends(const RunResult& r) {
  Seconds s;
  for (const JobRecord& j : r.record.jobs) {
    EXPECT_EQ(j.finish.count() % 1'000'000'000, 0);
    s.push_back(j.finish.count() / 1'000'000'000);
  }
  return s;
}

ParameterValue numbers(std::vector<double> values) { return values; }
ParameterValue word(std::string text) { return text; }

TEST(Tiresias, AJobAtItsThresholdGoesToTheEndOfTheNextQueue) {
  // Job 0 comes down at 10 s, job 1 at 20 s: behind job 0, which waits.
  const std::vector<JobSpec> jobs{job(seconds(30)), job(seconds(15)).at(seconds(5))};
  const RunResult r = simulate("tiresias", cluster(1, 1), jobs, {{"thresholds_s", numbers({10})}});
  EXPECT_EQ(ends(r), (Seconds{40, 45}));
  EXPECT_EQ(r.record.jobs[0].preemptions, 1);
  EXPECT_EQ(r.record.jobs[1].preemptions, 1);
  // Three queues: job 0 comes down at 10 s of service and at 12, job 1 too. At 20 s queue 1 has job 0, then job 1.
  EXPECT_EQ(ends(simulate("tiresias", cluster(1, 1), jobs, {{"thresholds_s", numbers({10, 12})}})),
            (Seconds{42, 45}));
}

TEST(Tiresias, AttainedIsServiceOrTime) {
  const std::vector<JobSpec> jobs{job(seconds(30)).gpus(2), job(seconds(4)).at(seconds(3)).gpus(2)};
  EXPECT_EQ(ends(simulate("tiresias", cluster(1, 2), jobs, {{"thresholds_s", numbers({10})}})),
            (Seconds{34, 9}));  // 10 GPU s after 5 s
  EXPECT_EQ(ends(simulate("tiresias", cluster(1, 2), jobs,
                          {{"thresholds_s", numbers({10})}, {"attained", word("time")}})),
            (Seconds{34, 14}));
}

/// At 2 s the simulator expects the gang's 10 GPU s in (10 - 2) / 2 s, not in (10 - 4) / 2.
TEST(Tiresias, TheSimulatorsTimerIsLateForGangs) {
  const std::vector<JobSpec> jobs{job(seconds(20)).gpus(2), job(seconds(3)).at(seconds(2)).gpus(2)};
  EXPECT_EQ(ends(simulate("tiresias", cluster(1, 2), jobs, {{"thresholds_s", numbers({10})}})),
            (Seconds{23, 8}));
  EXPECT_EQ(ends(simulate("tiresias", cluster(1, 2), jobs,
                          {{"thresholds_s", numbers({10})}, {"rules", word("simulator")}})),
            (Seconds{23, 9}));
  // Without the arrival it is planned from 0 s, when the fault has no effect: (10 - 0) / 2 s.
  const std::vector<JobSpec> together{job(seconds(20)).gpus(2), job(seconds(3)).gpus(2)};
  for (const char* rules : {"paper", "simulator"}) {
    EXPECT_EQ(ends(simulate("tiresias", cluster(1, 2), together,
                            {{"thresholds_s", numbers({10})}, {"rules", word(rules)}})),
              (Seconds{23, 8}))
        << rules;
  }
}

TEST(Tiresias, AJobThatHasWaitedLongEnoughReturnsToTheFirstQueue) {
  // Job 0 comes down at 10 s with 10 s executed. With promote_after 1 it is back in queue 0 at 20 s, before job 4,
  // and starts at 36 s; 10 s later it comes down again.
  std::vector<JobSpec> jobs{job(seconds(30))};
  for (const auto& [length, submit] : {std::pair{8, 5}, {9, 12}, {9, 20}, {9, 30}}) {
    jobs.push_back(job(seconds(length)).at(seconds(submit)));
  }
  const ParameterValue limit = numbers({10});
  EXPECT_EQ(ends(simulate("tiresias", cluster(1, 1), jobs, {{"thresholds_s", limit}})),
            (Seconds{65, 18, 27, 36, 45}));
  for (const char* rules : {"paper", "simulator"}) {
    const Values values{{"thresholds_s", limit}, {"promote_after", 1.0}, {"rules", word(rules)}};
    EXPECT_EQ(ends(simulate("tiresias", cluster(1, 1), jobs, values)),
              (Seconds{65, 18, 27, 36, 55}))
        << rules;
  }
}

/// Job 1 does not fit beside job 0. Job 2 passes it, and is then before it in the queue: when job 0 ends, job 3 passes
/// it, too, and job 1 needs an empty cluster.
TEST(Tiresias, RunningJobsMoveBeforeWaitingOnes) {
  const std::vector<JobSpec> jobs{job(seconds(10)), job(seconds(5)).at(seconds(1)).gpus(2),
                                  job(seconds(20)).at(seconds(2)), job(seconds(20)).at(seconds(3))};
  EXPECT_EQ(ends(simulate("tiresias", cluster(1, 2), jobs)), (Seconds{10, 35, 22, 30}));
  // By submit time job 1 takes both GPUs at 10 s.
  EXPECT_EQ(ends(simulate("tiresias", cluster(1, 2), jobs, {{"within", word("submit")}})),
            (Seconds{10, 15, 27, 35}));
}

/// Two nodes of two GPUs, each with one job: the gang takes its two of the four GPUs by number, so that a job behind it is
/// preempted, but with placement consolidated no node has room for it.
TEST(Tiresias, AJobThatTookGpusWithoutAPlacementWaitsOn) {
  const std::vector<JobSpec> jobs{job(seconds(5)).gpus(2), job(seconds(30)), job(seconds(50)),
                                  job(seconds(4)).at(seconds(6)).gpus(2)};
  EXPECT_EQ(ends(simulate("tiresias", cluster(2, 2), jobs, {{"placement", word("consolidated")}})),
            (Seconds{5, 30, 50, 10}));
  const std::vector<JobSpec> split{job(seconds(5)), job(seconds(30)), job(seconds(5)),
                                   job(seconds(20)), job(seconds(4)).at(seconds(6)).gpus(2)};
  EXPECT_EQ(ends(simulate("tiresias", cluster(2, 2), split, {{"placement", word("consolidated")}})),
            (Seconds{5, 30, 5, 20, 24}));
  EXPECT_EQ(ends(simulate("tiresias", cluster(2, 2), split)), (Seconds{5, 30, 5, 20, 10}));
}

TEST(Tiresias, WithASampleTheGittinsIndexOrdersAQueue) {
  const std::vector<JobSpec> jobs{job(seconds(10)), job(seconds(2)).at(seconds(5))};
  EXPECT_EQ(ends(simulate("tiresias", cluster(1, 1), jobs)), (Seconds{10, 12}));
  // At 5 GPU s no job of the sample ends within 2 more; of new jobs three quarters do.
  const Values sample{{"services_s", numbers({2, 2, 2, 50})}, {"quantum_s", 2.0}};
  EXPECT_EQ(ends(simulate("tiresias", cluster(1, 1), jobs, sample)), (Seconds{12, 7}));
}

TEST(GittinsIndex, ByDefinition) {
  const GittinsIndex index({30, 10, 20}, 10, GittinsFormula::kDefinition);
  EXPECT_DOUBLE_EQ(index.at(0), 1.0 / 30);   // 1/3 end, after 10 GPU s on average
  EXPECT_DOUBLE_EQ(index.at(10), 1.0 / 20);  // 1/2
  EXPECT_DOUBLE_EQ(index.at(15), 0.5 / 7.5);
  EXPECT_DOUBLE_EQ(index.at(25), 1.0 / 5);
  EXPECT_EQ(index.at(30), 0);
  EXPECT_EQ(GittinsIndex({}, 10, GittinsFormula::kDefinition).at(0), 0);
}

TEST(GittinsIndex, AsInTiresiasSimulator) {
  const GittinsIndex index({30, 10, 20}, 10, GittinsFormula::kSimulator);
  // At 9 GPU s: one of three ends, E = (10 + 2 * 10) / 3.
  EXPECT_DOUBLE_EQ(index.at(0), 0.033333);
  EXPECT_DOUBLE_EQ(index.at(9.5), 0.033333);
  // At 19: one of two, E = (20 + 10) / 2.
  EXPECT_DOUBLE_EQ(index.at(10), 0.0333333333);
  EXPECT_EQ(index.at(20), 0);  // the last never ends within a quantum
  EXPECT_EQ(index.at(30), 0);
}

TEST(Srsf, GoesByRemainingServiceOrTime) {
  // At 1 s job 0 has 9 s left on 2 GPUs, job 1 15 s on one.
  const std::vector<JobSpec> jobs{job(seconds(10)).gpus(2), job(seconds(15)).at(seconds(1))};
  EXPECT_EQ(ends(simulate("srsf", cluster(1, 2), jobs)), (Seconds{25, 16}));
  EXPECT_EQ(ends(simulate("srsf", cluster(1, 2), jobs, {{"remaining", word("time")}})),
            (Seconds{10, 25}));
}

TEST(Srsf, CountsWhatPreemptionCosts) {
  // Job 0 is preempted at 1 s with 9 s left and 5 s to save and load. At 4 s job 2 goes first, with 12 s.
  const std::vector<JobSpec> jobs{job(seconds(10)), job(seconds(8)).at(seconds(1)),
                                  job(seconds(12)).at(seconds(2))};
  EXPECT_EQ(ends(simulate("srsf", cluster(1, 1), jobs, {}, {seconds(2), seconds(3), 0})),
            (Seconds{35, 9, 21}));
  EXPECT_EQ(ends(simulate("srsf", cluster(1, 1), jobs)), (Seconds{18, 9, 30}));
}

/// Job 0 is preempted at 2 s, and at 5 s again, when it has paid 2 of 4 s.
TEST(Preemption, CostsThatWereNotPaidAreDroppedOrAddUp) {
  const std::vector<JobSpec> jobs{job(seconds(10)), job(seconds(1)).at(seconds(2)),
                                  job(seconds(1)).at(seconds(5))};
  EXPECT_EQ(ends(simulate("srsf", cluster(1, 1), jobs, {}, {.restore = seconds(4)})),
            (Seconds{18, 3, 6}));
  EXPECT_EQ(
      ends(simulate("srsf", cluster(1, 1), jobs, {}, {.restore = seconds(4), .adds_up = true})),
      (Seconds{20, 3, 6}));
  // On a GPU of half the speed work takes twice as long, but not this; 1 of 4 s is paid at 5 s.
  EXPECT_EQ(ends(simulate("srsf", cluster({node(1, 0.5)}), jobs, {},
                          {.restore = seconds(4), .adds_up = true})),
            (Seconds{32, 4, 7}));
}

TEST(Preemption, LargeGangsTakeLonger) {
  const std::vector<JobSpec> jobs{job(seconds(10)).gpus(2), job(seconds(1)).at(seconds(2)).gpus(2)};
  const PreemptionCost cost{.restore = seconds(4), .large_gang = 1, .large_restore = seconds(6)};
  EXPECT_EQ(ends(simulate("srsf", cluster(1, 2), jobs, {}, cost)), (Seconds{17, 3}));
  const std::vector<JobSpec> small{job(seconds(10)), job(seconds(1)).at(seconds(2))};
  EXPECT_EQ(ends(simulate("srsf", cluster(1, 1), small, {}, cost)), (Seconds{15, 3}));
}

/// At 1 s job 2 needs both GPUs: jobs 1 and 0 are stopped, the last of the order first.
TEST(Blox, StopsRunningJobsFromTheEndOfTheOrder) {
  const std::vector<JobSpec> jobs{job(seconds(10)), job(seconds(12)),
                                  job(seconds(3)).at(seconds(1)).gpus(2)};
  EXPECT_EQ(ends(simulate("blox", cluster(1, 2), jobs, {{"by", word("remaining")}})),
            (Seconds{13, 15, 4}));
  EXPECT_EQ(ends(simulate("blox", cluster(1, 2), jobs)), (Seconds{10, 12, 15}));
}

/// At 1 s job 2 wants all GPUs and comes between the others: job 1 is stopped, which is not enough, and waits until job 0
/// has ended, although GPUs are idle.
TEST(Blox, WhatWasStoppedInVainStaysStopped) {
  const std::vector<JobSpec> jobs{job(seconds(10)), job(seconds(40)),
                                  job(seconds(20)).at(seconds(1)).gpus(4)};
  EXPECT_EQ(ends(simulate("blox", cluster(2, 2), jobs, {{"by", word("remaining")}})),
            (Seconds{10, 69, 30}));
}

TEST(Blox, ByAttainedTimeJobsTakeTurns) {
  const std::vector<JobSpec> jobs{job(seconds(20)), job(seconds(20))};
  const RunResult r =
      simulate("blox", cluster(1, 1), jobs, {{"by", word("attained")}, {"every_s", 10.0}});
  EXPECT_EQ(ends(r), (Seconds{30, 40}));
  EXPECT_EQ(r.record.jobs[0].preemptions, 1);
}

class Yarn : public testing::Test {
 protected:
  /// Nodes with these numbers of free GPUs of `gpus` each.
  std::vector<GpuId> gpus(int per_node, const std::vector<int>& free, int gang,
                          std::uint32_t switch_nodes = 0) {
    spec_ = cluster(static_cast<int>(free.size()), per_node);
    for (std::uint32_t n = 0; n < free.size() && switch_nodes > 0; ++n) {
      spec_.nodes[n].switch_id = n / switch_nodes;
    }
    const ClusterState state(spec_);
    FreeGpus left = state.empty();
    for (std::uint32_t n = 0; n < free.size(); ++n) {
      for (int g = free[n]; g < per_node; ++g) {
        left.erase(G(n * static_cast<std::uint32_t>(per_node) + static_cast<std::uint32_t>(g)),
                   NodeId{n});
      }
    }
    JobView job;
    job.gpus = gang;
    return yarn(state, left, job);
  }

 private:
  ClusterSpec spec_;
};

TEST_F(Yarn, TakesTheFirstNodeWithRoomNotTheFullest) {
  EXPECT_EQ(gpus(2, {0, 2, 1}, 1), (std::vector<GpuId>{G(2)}));
  EXPECT_EQ(gpus(2, {1, 1}, 2), std::vector<GpuId>{});
}

TEST_F(Yarn, AGangLargerThanANodeTakesIdleNodesAndARest) {
  EXPECT_EQ(gpus(2, {1, 2, 1, 2}, 3), (std::vector<GpuId>{G(2), G(3), G(0)}));
  EXPECT_EQ(gpus(2, {1, 2, 1, 2}, 4), (std::vector<GpuId>{G(2), G(3), G(6), G(7)}));
  EXPECT_EQ(gpus(2, {1, 2, 1, 1}, 4), std::vector<GpuId>{});  // one idle node, and no room for two
}

TEST_F(Yarn, AGangStaysUnderOneSwitchIfOneCanHoldIt) {
  EXPECT_EQ(gpus(2, {1, 2, 2, 2}, 4, 2), (std::vector<GpuId>{G(4), G(5), G(6), G(7)}));
  EXPECT_EQ(gpus(2, {1, 2, 2, 1}, 4, 2), std::vector<GpuId>{});
  EXPECT_EQ(gpus(2, {2, 2, 2, 2}, 6, 2), (std::vector<GpuId>{G(0), G(1), G(2), G(3), G(4), G(5)}));
}

TEST(Scattered, TakesUpToAWholeGangOfEachNodeAndNeverCutsTheLast) {
  const auto gpus = [](std::vector<NodeSpec> nodes, std::vector<std::uint32_t> taken, int gang) {
    const ClusterSpec spec = cluster(std::move(nodes));
    const ClusterState state(spec);
    FreeGpus left = state.empty();
    for (const std::uint32_t g : taken) left.erase(G(g), state.gpu(G(g)).node);
    JobView job;
    job.gpus = gang;
    return scattered(state, left, job);
  };
  EXPECT_EQ(gpus({node(4), node(4)}, {0, 1, 4, 5}, 4),
            (std::vector<GpuId>{G(2), G(3), G(6), G(7)}));
  EXPECT_EQ(gpus({node(4), node(4)}, {0, 4}, 4), std::vector<GpuId>{});  // 3 and 3
  EXPECT_EQ(gpus({node(4), node(4)}, {0, 4}, 2), (std::vector<GpuId>{G(1), G(2)}));
  // 3 of nodes of 2 never come out even: one of the second node.
  EXPECT_EQ(gpus({node(2), node(2)}, {}, 3), (std::vector<GpuId>{G(0), G(1), G(2)}));
}

}  // namespace
}  // namespace corun::test::counted_queues_test
