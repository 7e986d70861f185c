#include <chrono>
#include <memory>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "models/allocation_speeds.hpp"
#include "tests/helpers/scenarios.hpp"

/// How many GPUs srsf-packed gives to elastic jobs, by hand.
namespace corun::test::srsf_sizes_test {
namespace {

using namespace std::chrono_literals;

struct Setting {
  double parallel_share = 1;  ///< of all jobs
  double gain = 0.2;
  bool believes = true;  ///< in allocations
};

/// With estimates, and a belief that knows the world; sharing never pays.
RunResult simulate(std::vector<JobSpec> jobs, Setting setting = {}) {
  const OwnedWorkload w = workload(std::move(jobs));
  std::vector<ParallelJob> parallel;
  std::vector<Duration> solo;
  for (const JobSpec& job : w.jobs) {
    parallel.push_back({.gpus = job.gpus, .parallel_share = setting.parallel_share});
    solo.push_back(job.work);
  }
  const auto speeds = std::make_shared<const AllocationSpeeds>(parallel, LevelSpeeds{});
  const AllocationWorld world(std::make_unique<ShareWorld>(9), speeds, speeds);
  const PolicyEntry& entry = *find_policy("srsf-packed");
  PolicyContext context{Parameters(entry.parameters)};
  context.parameters.set("gain", setting.gain);
  context.belief = std::make_unique<TruthBelief>(world, std::move(solo), false);
  if (setting.believes) context.allocations = speeds.get();
  RunOptions options;
  options.traits = entry.traits_for(context.parameters);
  const auto policy = entry.make(std::move(context));
  return run(cluster(1, 4), w, world, *policy, options);
}

TEST(SrsfSizes, AJobAloneGetsAllGpusThatDoEnoughWork) {
  const std::vector<JobSpec> one{job(400s).elastic(1, 4)};
  EXPECT_EQ(simulate(one).record.jobs[0].finish, 100s);
  // By Amdahl 1, 4/3 and 8/5 as fast on 1, 2 and 4 GPUs: the second GPU does a third of a GPU's work, the next two 2/15 each.
  EXPECT_EQ(simulate(one, {.parallel_share = 0.5}).record.jobs[0].finish, 300s);
  EXPECT_EQ(simulate(one, {.parallel_share = 0.5, .gain = 0.1}).record.jobs[0].finish, 250s);
  EXPECT_EQ(simulate(one, {.believes = false}).record.jobs[0].finish, 400s);
}

// B comes at 20 s, when A has 320 s left on one GPU: A goes on on two. B ends at 120 s; A has 120 s left and is back on four.
TEST(SrsfSizes, AJobGivesUpGpusToAWaitingOneAndTakesThemBack) {
  const RunResult r = simulate({job(400s).elastic(1, 4), job(100s).at(20s)});
  EXPECT_EQ(r.record.jobs[1].finish, 120s);
  EXPECT_EQ(r.record.jobs[0].finish, 150s);
  EXPECT_EQ(r.record.jobs[0].restarts(), 2);
}

// A begins on two GPUs beside B, which ends at 100 s. A start of 10 s: A has 220 s left on one GPU, 110 s here or 55 + 10 s on
// four: it ends at 165 s. Of 60 s: 120 s left, 60 s here or 30 + 60 s there: it stays.
TEST(SrsfSizes, AJobMovesOnlyWhereThatPaysForItsStart) {
  for (const auto& [work, cost, finish] :
       {std::tuple(400s, 10s, 165s), std::tuple(200s, 60s, 160s)}) {
    std::vector<JobSpec> jobs{job(work).elastic(1, 4), job(100s)};
    jobs[0].start_cost = cost;
    EXPECT_EQ(simulate(std::move(jobs)).record.jobs[0].finish, finish);
  }
}

// Of two jobs the one with less left gets the GPU that is over: it completes sooner by it.
TEST(SrsfSizes, FurtherGpusGoToTheJobThatCompletesSoonest) {
  const RunResult r = simulate({job(300s).elastic(1, 2), job(100s).elastic(1, 2), job(1000s)});
  EXPECT_EQ(r.record.jobs[1].finish, 50s);
}

}  // namespace
}  // namespace corun::test::srsf_sizes_test
