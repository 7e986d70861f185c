#include <map>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "tests/helpers/scenarios.hpp"

/// proactive and reactive: first-fit-decreasing on utilisation, by hand.
namespace corun::test::utilisation_packing_test {
namespace {

struct Start {
  std::int64_t at_s = 0;
  std::vector<GpuId> gpus;
  friend bool operator==(const Start&, const Start&) = default;
};

struct Found {
  std::map<JobId, Start> last;  ///< start of each job
  EventLog log;
};

Found starts(const std::string& name, const ClusterSpec& spec, std::vector<JobSpec> jobs,
             const std::map<std::string, ParameterValue>& values = {}) {
  const ShareWorld world(0);  // sharing costs nothing
  const OwnedWorkload w = workload(std::move(jobs));
  const PolicyEntry& entry = *find_policy(name);
  Parameters parameters(entry.parameters);
  for (const auto& [key, value] : values) parameters.set(key, value);
  const auto policy = make_policy(entry, w, world, 1, parameters);
  RunOptions options;
  options.traits = entry.traits;
  options.control.profiling = ProfilingMode::kMinute;
  Found found;
  found.log = run(spec, w, world, *policy, options).log;
  for (const LogEntry& e : found.log) {
    if (e.kind == LogKind::kStart) found.last[e.job] = {e.at.count() / 1'000'000'000, e.gpus};
  }
  return found;
}

TEST(Proactive, LargestFirstOnTheFirstGpuWithRoom) {
  // By utilisation: 70, 60, 40, 30, 20. GPU 0: 70 + 30, GPU 1: 60 + 40, then 20 waits.
  const auto s =
      starts("proactive", cluster(1, 2),
             {job(seconds(10)).util(20), job(seconds(20)).util(30), job(seconds(30)).util(60),
              job(seconds(30)).util(70), job(seconds(30)).util(40)})
          .last;
  EXPECT_EQ(s.at(J(3)), (Start{0, {G(0)}}));
  EXPECT_EQ(s.at(J(2)), (Start{0, {G(1)}}));
  EXPECT_EQ(s.at(J(4)), (Start{0, {G(1)}}));
  EXPECT_EQ(s.at(J(1)), (Start{0, {G(0)}}));
  EXPECT_EQ(s.at(J(0)), (Start{20, {G(0)}}));  // after the 30 % job
}

TEST(Proactive, ThreeOnAGpuAtMostAndAnyJobOnAnEmptyOne) {
  std::vector<JobSpec> four(4, job(seconds(10)).util(5));
  auto s = starts("proactive", cluster(1, 1), four).last;
  EXPECT_EQ(s.at(J(2)).at_s, 0);
  EXPECT_EQ(s.at(J(3)).at_s, 10);
  s = starts("proactive", cluster(1, 1), four, {{"most_jobs", std::int64_t{4}}}).last;
  EXPECT_EQ(s.at(J(3)).at_s, 0);
  s = starts("proactive", cluster(1, 1), {job(seconds(10)).util(90), job(seconds(10)).util(80)},
             {{"capacity_pct", 50.0}})
          .last;
  EXPECT_EQ(s.at(J(0)).at_s, 0);
  EXPECT_EQ(s.at(J(1)).at_s, 10);
  // A job of unknown utilisation shares with none.
  s = starts("proactive", cluster(1, 1), {job(seconds(10)), job(seconds(10)).util(1)}).last;
  EXPECT_EQ(s.at(J(1)).at_s, 10);
}

TEST(Proactive, AJobThatFitsNowhereHoldsUpNoOther) {
  const auto s = starts("proactive", cluster(1, 1),
                        {job(seconds(30)).util(60), job(seconds(10)).util(50).at(seconds(1)),
                         job(seconds(10)).util(40).at(seconds(2))})
                     .last;
  EXPECT_EQ(s.at(J(2)).at_s, 2);
  EXPECT_EQ(s.at(J(1)).at_s, 30);
}

TEST(Proactive, AfterRunningOutOfMemoryOnAnEmptyGpu) {
  const std::vector<JobSpec> jobs{job(seconds(100)).util(20).memory(600),
                                  job(seconds(100)).util(10).memory(600)};
  const Found ignored = starts("proactive", cluster(1, 1, 1, 1000), jobs);
  EXPECT_EQ(std::ranges::count(ignored.log, LogKind::kOom, &LogEntry::kind), 1);
  EXPECT_EQ(ignored.last.at(J(1)).at_s, 100);
  const Found checked =
      starts("proactive", cluster(1, 1, 1, 1000), jobs, {{"memory", std::string("checked")}});
  EXPECT_EQ(std::ranges::count(checked.log, LogKind::kOom, &LogEntry::kind), 0);
  EXPECT_EQ(checked.last.at(J(1)).at_s, 100);
}

TEST(Proactive, AGangTakesTheFirstGpusWithRoom) {
  const auto s =
      starts("proactive", cluster(1, 3),
             {job(seconds(50)).util(80), job(seconds(50)).util(30).gpus(2).at(seconds(1)),
              job(seconds(50)).util(65).gpus(3).at(seconds(2))})
          .last;
  EXPECT_EQ(s.at(J(1)), (Start{1, {G(1), G(2)}}));
  EXPECT_EQ(s.at(J(2)), (Start{50, {G(0), G(1), G(2)}}));
}

TEST(Reactive, OneMinuteAloneAndThenTogether) {
  const Found found =
      starts("reactive", cluster(1, 1), {job(seconds(100)).util(30), job(seconds(100)).util(40)});
  std::vector<std::int64_t> profiled;
  for (const LogEntry& e : found.log) {
    if (e.kind == LogKind::kProfile) profiled.push_back(e.at.count() / 1'000'000'000);
  }
  // The second waits for an empty GPU: profiling goes before starts.
  EXPECT_EQ(profiled, (std::vector<std::int64_t>{0, 60}));
  EXPECT_EQ(found.last.at(J(0)), (Start{120, {G(0)}}));
  EXPECT_EQ(found.last.at(J(1)), (Start{120, {G(0)}}));
}

TEST(Reactive, NoJobJoinsAGpuThatProfiles) {
  const Found found = starts("reactive", cluster(1, 2),
                             {job(seconds(100)).util(30), job(seconds(10)).util(40).at(seconds(30)),
                              job(seconds(10)).util(40).at(seconds(65))});
  EXPECT_EQ(found.last.at(J(0)), (Start{60, {G(0)}}));
  EXPECT_EQ(found.last.at(J(1)), (Start{40, {G(1)}}));
}

}  // namespace
}  // namespace corun::test::utilisation_packing_test
