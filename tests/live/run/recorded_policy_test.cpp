// The decisions of an ended run, made again in a simulation.
#include "live/run/recorded_policy.hpp"

#include <vector>

#include <gtest/gtest.h>

#include "tests/helpers/builders.hpp"

namespace corun::test::recorded_policy_test {
namespace {

using live::RecordedPolicy;
using live::RecordedRun;

/// Plays `runs` back on `gpus` GPUs, in a ShareWorld of this slowdown.
RunRecord play(const OwnedWorkload& work, const std::vector<RecordedRun>& runs, int gpus,
               double slowdown) {
  const ClusterSpec box = cluster(1, gpus);
  const ShareWorld world(slowdown);
  SimulatedBackend backend(box, work, world, {});
  RecordedPolicy policy(live::recorded_starts(runs, work), work.jobs.size(),
                        static_cast<std::size_t>(gpus));
  ControlLoop(backend, {policy, "the record", RecordedPolicy::kTraits}, job_views(work), {}).run();
  return backend.take_record();
}

/// Job i ran on this GPU from `start` to `exit`.
RecordedRun ran(std::uint32_t i, std::uint32_t gpu, std::uint32_t group, Time start, Time exit) {
  return {J(i), G(gpu), group, false, start, exit};
}

TEST(RecordedPolicy, AGroupStartsTogetherAndTheNextAfterIt) {
  const OwnedWorkload work = workload({job(seconds{2}), job(seconds{2}), job(seconds{1})});
  // Members of a group start shortly after one another. The third job started 1 s after the second had ended.
  const auto starts = live::recorded_starts(
      std::vector{ran(0, 0, 0, seconds{0}, seconds{5}), ran(1, 0, 0, milliseconds{20}, seconds{6}),
                  ran(2, 0, 1, seconds{7}, seconds{8})},
      work);
  ASSERT_EQ(starts.size(), 2U);
  EXPECT_EQ(starts[0].jobs, (std::vector{J(0), J(1)}));
  EXPECT_EQ(starts[0].delay, Duration{0});
  EXPECT_EQ(starts[1].after, (std::vector{J(0), J(1)}));
  EXPECT_EQ(starts[1].delay, seconds{1});
}

TEST(RecordedPolicy, TimesAreTheWorldsAndCoRunnerIsTheRecords) {
  const OwnedWorkload work = workload({job(seconds{2}), job(seconds{2}), job(seconds{1})});
  const RunRecord record =
      play(work,
           {ran(0, 0, 0, seconds{0}, seconds{5}), ran(1, 0, 0, milliseconds{20}, seconds{6}),
            ran(2, 0, 1, seconds{7}, seconds{8})},
           1, 1.0);
  EXPECT_EQ(record.jobs[0].finish, seconds{4});
  EXPECT_EQ(record.jobs[1].finish, seconds{4});
  EXPECT_EQ(record.jobs[0].group, record.jobs[1].group);
  EXPECT_EQ(record.jobs[2].last_start, seconds{5});
  EXPECT_EQ(record.jobs[2].isd(), 0);
}

TEST(RecordedPolicy, WhoJoinedJoinsWhenTheSameHaveLeft) {
  // In the record 0 and 1 ran together, and 2 replaced 0 beside 1.
  const OwnedWorkload work = workload({job(seconds{1}), job(seconds{9}), job(seconds{1})});
  const RunRecord record =
      play(work,
           {ran(0, 0, 0, seconds{0}, seconds{3}), ran(1, 0, 1, seconds{0}, seconds{12}),
            ran(2, 0, 2, seconds{3}, seconds{6})},
           1, 1.0);
  EXPECT_EQ(record.jobs[0].finish, seconds{2});
  EXPECT_EQ(record.jobs[2].last_start, seconds{2});
  EXPECT_EQ(record.jobs[2].finish, seconds{4});
  EXPECT_EQ(record.jobs[1].finish, seconds{11});  // 2 s of work by 4 s, then 7 s alone
}

TEST(RecordedPolicy, NobodyOvertakesOnAGpu) {
  // In the record 2 started after 1; in the simulation it could start before 1 is submitted.
  const OwnedWorkload work =
      workload({job(seconds{1}), job(seconds{4}).at(seconds{5}), job(seconds{4})});
  const RunRecord record =
      play(work,
           {ran(0, 0, 0, seconds{0}, seconds{6}), ran(1, 0, 1, seconds{5}, seconds{14}),
            ran(2, 0, 2, seconds{6}, seconds{14})},
           1, 1.0);
  EXPECT_EQ(record.jobs[0].finish, seconds{1});
  EXPECT_EQ(record.jobs[1].last_start, seconds{5});
  EXPECT_EQ(record.jobs[2].last_start, seconds{5});
  EXPECT_EQ(record.jobs[2].finish, seconds{13});
}

TEST(RecordedPolicy, WhoWaitedForMemoryWaitsAgain) {
  const OwnedWorkload work = workload({job(seconds{2}), job(seconds{2})});
  RecordedRun second = ran(1, 0, 0, seconds{3}, seconds{5});
  second.deferred = true;
  const RunRecord record = play(work, {ran(0, 0, 0, seconds{0}, seconds{3}), second}, 1, 1.0);
  EXPECT_EQ(record.jobs[0].finish, seconds{2});
  EXPECT_EQ(record.jobs[1].last_start, seconds{2});
  EXPECT_EQ(record.jobs[1].isd(), 0);
}

TEST(RecordedPolicy, GpusGoTheirOwnWays) {
  const OwnedWorkload work =
      workload({job(seconds{1}), job(seconds{1}), job(seconds{1}), job(seconds{1})});
  const RunRecord record =
      play(work,
           {ran(0, 0, 0, seconds{0}, seconds{1}), ran(1, 1, 1, seconds{0}, seconds{2}),
            ran(2, 0, 2, seconds{2}, seconds{3}), ran(3, 1, 3, seconds{2}, seconds{3})},
           2, 1.0);
  EXPECT_EQ(record.jobs[2].gpu, G(0));
  EXPECT_EQ(record.jobs[2].last_start, seconds{2});  // it waited 1 s in the record
  EXPECT_EQ(record.jobs[3].gpu, G(1));
  EXPECT_EQ(record.jobs[3].last_start, seconds{1});
}

}  // namespace
}  // namespace corun::test::recorded_policy_test
