#include <map>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "tests/helpers/scenarios.hpp"

/// schedtune: Algorithms 1 and 2 and equations 1 and 2, by hand.
namespace corun::test::schedtune_test {
namespace {

struct Start {
  std::int64_t at_s = 0;
  std::vector<GpuId> gpus;
  friend bool operator==(const Start&, const Start&) = default;
};
using Values = std::map<std::string, ParameterValue>;

const Values kNoMargin{{"memory_margin_pct", 0.0}};
const Values kCompletion{{"memory_margin_pct", 0.0}, {"minimise", std::string("completion-time")}};

struct Found {
  std::map<JobId, Start> last;
  std::int64_t ooms = 0;
};

Found starts(const ClusterSpec& spec, std::vector<JobSpec> jobs, const Values& values) {
  const ShareWorld world(0);
  const OwnedWorkload w = workload(std::move(jobs));
  const PolicyEntry& entry = *find_policy("schedtune");
  Parameters parameters(entry.parameters);
  for (const auto& [name, value] : values) parameters.set(name, value);
  const auto policy = make_policy(entry, w, world, 1, parameters);
  RunOptions options;
  options.traits = entry.traits;
  Found found;
  for (const LogEntry& e : run(spec, w, world, *policy, options).log) {
    if (e.kind == LogKind::kStart) found.last[e.job] = {e.at.count() / 1'000'000'000, e.gpus};
    found.ooms += e.kind == LogKind::kOom || e.kind == LogKind::kFail ? 1 : 0;
  }
  return found;
}

/// GPU 0: 8,000 MiB; GPU 1: 16,000 MiB, twice as fast.
ClusterSpec small_and_large() {
  return cluster({of_type(0, node(1, 1, 8000)), of_type(1, node(1, 2, 16000))});
}

TEST(SchedTune, TheLeastQueueOrTheLeastCompletion) {
  const std::vector<JobSpec> one{job(seconds(100)).memory(1000)};
  EXPECT_EQ(starts(small_and_large(), one, kNoMargin).last.at(J(0)).gpus, std::vector{G(0)});
  EXPECT_EQ(starts(small_and_large(), one, kCompletion).last.at(J(0)).gpus, std::vector{G(1)});
}

TEST(SchedTune, DelayIsTheRestOfRunningJobsAndTheWholeOfQueuedOnes) {
  // At 40 s GPU 0 has 60 s left and GPU 1 50 s (half of 100 s at double speed is 50, sent at 40).
  const std::vector<JobSpec> jobs{job(seconds(100)).memory(7000),
                                  job(seconds(100)).memory(7000).at(seconds(40)),
                                  job(seconds(10)).memory(7900).at(seconds(40))};
  Values one = kNoMargin;
  one["collocation_limit"] = std::int64_t{1};
  const auto s = starts(small_and_large(), jobs, one).last;
  EXPECT_EQ(s.at(J(0)), (Start{0, {G(0)}}));
  EXPECT_EQ(s.at(J(1)), (Start{40, {G(1)}}));
  EXPECT_EQ(s.at(J(2)), (Start{90, {G(1)}}));
}

TEST(SchedTune, QueuesAreFirstInFirstOut) {
  // Job 2 would fit beside job 0, but job 1 is before it in the queue of the only GPU.
  const auto s =
      starts(cluster(1, 1, 1, 8000),
             {job(seconds(50)).memory(5000), job(seconds(50)).memory(5000).at(seconds(1)),
              job(seconds(50)).memory(1000).at(seconds(2))},
             kNoMargin)
          .last;
  EXPECT_EQ(s.at(J(1)).at_s, 50);
  EXPECT_EQ(s.at(J(2)).at_s, 50);
}

TEST(SchedTune, TheMarginCountsInTheFilterAndInTheSum) {
  // The paper's example, section IV-C: 11,140 MiB and 8.98 % are more than 7,982 MiB.
  const ClusterSpec two = cluster({of_type(0, node(1, 1, 7982)), of_type(1, node(1, 1, 16000))});
  EXPECT_EQ(starts(two, {job(seconds(9)).memory(7400)}, {}).last.at(J(0)).gpus, std::vector{G(1)});
  EXPECT_EQ(starts(two, {job(seconds(9)).memory(7300)}, {}).last.at(J(0)).gpus, std::vector{G(0)});
  const std::vector<JobSpec> pair{job(seconds(9)).memory(3900), job(seconds(9)).memory(3900)};
  const ClusterSpec one = cluster(1, 1, 1, 7982);
  EXPECT_EQ(starts(one, pair, kNoMargin).last.at(J(1)).at_s, 0);
  EXPECT_EQ(starts(one, pair, {}).last.at(J(1)).at_s, 9);
}

TEST(SchedTune, TheThresholdGoesByTheMemoryOfTheType) {
  const std::vector<JobSpec> tiny(9, job(seconds(10)).memory(10));
  const auto at_once = [&](double memory_mib, const Values& values) {
    const auto s = starts(cluster(1, 1, 1, memory_mib), tiny, values).last;
    return std::ranges::count_if(s, [](const auto& start) { return start.second.at_s == 0; });
  };
  EXPECT_EQ(at_once(8000, kNoMargin), 3);  // 8,000 / 2,048
  EXPECT_EQ(at_once(1000, kNoMargin), 1);
  EXPECT_EQ(at_once(64000, kNoMargin), 4);  // collocation_limit
  EXPECT_EQ(at_once(8000, {{"memory_per_job_mib", 4000.0}}), 2);
}

TEST(SchedTune, UnseenJobsGoToTheLargestMemoryAndHaveItAlone) {
  const auto s = starts(small_and_large(),
                        {job(seconds(100)), job(seconds(10)).memory(9000).at(seconds(1)),
                         job(seconds(10)).memory(10).at(seconds(2))},
                        kNoMargin)
                     .last;
  EXPECT_EQ(s.at(J(0)), (Start{0, {G(1)}}));
  EXPECT_EQ(s.at(J(1)), (Start{50, {G(1)}}));
  EXPECT_EQ(s.at(J(2)), (Start{2, {G(0)}}));
}

TEST(SchedTune, AJobThatNoGpuHoldsIsTriedOnTheLargest) {
  const Found found = starts(small_and_large(), {job(seconds(100)).memory(20000)}, kNoMargin);
  EXPECT_EQ(found.last.at(J(0)).gpus, std::vector{G(1)});
  EXPECT_EQ(found.ooms, 1 + cluster(1, 1).oom.retries);
}

TEST(SchedTune, TheControllerDecidesOneAfterTheOther) {
  Values slow = kNoMargin;
  slow["decision_s"] = 5.0;
  const auto s = starts(cluster(1, 4),
                        {job(seconds(9)).memory(10), job(seconds(9)).memory(10).at(seconds(1)),
                         job(seconds(9)).memory(10).at(seconds(30))},
                        slow)
                     .last;
  EXPECT_EQ(s.at(J(0)).at_s, 5);
  EXPECT_EQ(s.at(J(1)).at_s, 10);
  EXPECT_EQ(s.at(J(2)).at_s, 35);
}

TEST(SchedTune, AGangWaitsInTheQueuesOfItsGpus) {
  const auto s = starts(cluster(1, 3, 1, 1000),
                        {job(seconds(30)).memory(900), job(seconds(30)).memory(900).at(seconds(1)),
                         job(seconds(10)).memory(900).gpus(2).at(seconds(2)),
                         job(seconds(10)).memory(900).at(seconds(3))},
                        kNoMargin)
                     .last;
  // The gang is sent to GPU 2 (empty) and GPU 0 (28 s left); the last job to GPU 2, behind it.
  EXPECT_EQ(s.at(J(2)), (Start{30, {G(0), G(2)}}));
  EXPECT_EQ(s.at(J(3)).at_s, 40);
}

}  // namespace
}  // namespace corun::test::schedtune_test
