#include <cmath>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "policies/remaining_service.hpp"
#include "tests/helpers/scenarios.hpp"

/// srsf-packed: placements, reservations, preemptions and the bound of a job's wait, computed by hand.
namespace corun::test::srsf_packed_test {
namespace {

using Values = std::map<std::string, ParameterValue>;

/// With estimates, and a belief that knows the world.
RunResult run_jobs(const ClusterSpec& spec, std::vector<JobSpec> jobs, const World& world,
                   const Values& values = {}) {
  const OwnedWorkload w = workload(std::move(jobs));
  const PolicyEntry& entry = *find_policy("srsf-packed");
  Parameters parameters(entry.parameters);
  parameters.set("mode", std::string("non-preemptive"));
  for (const auto& [name, value] : values) parameters.set(name, value);
  std::vector<Duration> solo;
  for (const JobSpec& j : w.jobs) solo.push_back(j.work);
  const auto policy =
      entry.make({parameters, std::make_unique<TruthBelief>(world, std::move(solo), false), 1});
  RunOptions options;
  options.traits = entry.traits_for(parameters);
  return run(spec, w, world, *policy, options);
}

std::int64_t start_s(const RunResult& r, std::uint32_t job) {
  return r.record.jobs[job].first_start->count() / 1'000'000'000;
}

TEST(SrsfPacked, TheShortestServiceGoesFirst) {
  const ShareWorld world(9);  // sharing never pays
  const RunResult r =
      run_jobs(cluster(1, 2),
               {job(seconds(10)).gpus(2), job(seconds(30)).gpus(2).at(seconds(1)),
                job(seconds(40)).gpus(1).at(seconds(1)), job(seconds(25)).gpus(2).at(seconds(1))},
               world);
  EXPECT_EQ(start_s(r, 2), 10);  // 40 GPU s
  EXPECT_EQ(start_s(r, 3), 50);  // 50
  EXPECT_EQ(start_s(r, 1), 75);  // 60
}

TEST(SrsfPacked, SharesOnlyWhereTheGpusDoMoreWork) {
  const std::vector<JobSpec> two{job(seconds(100)), job(seconds(90)).at(seconds(1))};
  // Both at 0.8: 1.6 in all. Both at 0.5: 1 in all.
  EXPECT_EQ(start_s(run_jobs(cluster(1, 1), two, ShareWorld(0.25)), 1), 1);
  EXPECT_EQ(start_s(run_jobs(cluster(1, 1), two, ShareWorld(1)), 1), 100);
}

TEST(SrsfPacked, ASmallGangSharesWithPartOfALargeOne) {
  const RunResult r =
      run_jobs(cluster(1, 4), {job(seconds(1000)).gpus(4), job(seconds(10)).at(seconds(1))},
               ShareWorld(0.05));
  EXPECT_EQ(start_s(r, 1), 1);
  // A host of 4 GPUs that slows to 0.5 loses two GPUs' work; the newcomer does half a GPU's.
  const RunResult slow = run_jobs(
      cluster(1, 4), {job(seconds(1000)).gpus(4), job(seconds(10)).at(seconds(1))}, ShareWorld(1));
  EXPECT_EQ(start_s(slow, 1), 1000);
}

TEST(SrsfPacked, NoJobDelaysAGangBeyondItsReservation) {
  // Job 1 waits for both GPUs until 100. Job 2 would end at 202, job 3 ends at 52.
  const std::vector<JobSpec> jobs{job(seconds(100)), job(seconds(100)).gpus(2).at(seconds(1)),
                                  job(seconds(300)).at(seconds(2)),
                                  job(seconds(50)).at(seconds(2))};
  const ShareWorld world(9);
  const RunResult r = run_jobs(cluster(1, 2), jobs, world);
  EXPECT_EQ(start_s(r, 3), 2);
  EXPECT_EQ(start_s(r, 1), 100);
  EXPECT_EQ(start_s(r, 2), 200);
  const RunResult without =
      run_jobs(cluster(1, 2), jobs, world, {{"reservations", std::int64_t{0}}});
  EXPECT_EQ(start_s(without, 2), 52);
}

TEST(SrsfPacked, AJobThatSharesIsGoneBeforeTheReservationAtItsSharedSpeed) {
  // Job 2 has the memory on both GPUs at 100. Job 3 runs at 0.8 beside one of the others: 90 s take 112.5 s, 70 s take 87.5 s.
  const auto start_of_last = [](std::int64_t work) {
    const std::vector<JobSpec> jobs{job(seconds(100)).memory(600), job(seconds(100)).memory(600),
                                    job(seconds(20)).gpus(2).memory(600).at(seconds(1)),
                                    job(seconds(work)).memory(300).at(seconds(2))};
    return start_s(run_jobs(cluster(1, 2, 1, 1000), jobs, ShareWorld(0.25)), 3);
  };
  EXPECT_EQ(start_of_last(70), 2);
  EXPECT_GT(start_of_last(90), 99);
}

// Alone all are equal. Beside job 0 job 1 would slow to 0.7, job 2 to 0.95.
TEST(SrsfPacked, OfEqualJobsTheOneWithTheLeastDelayStarts) {
  const TableWorld world({0.9, 0.7, 0.95});
  const auto jobs = [](std::int64_t second, std::int64_t third) {
    return std::vector<JobSpec>{job(seconds(1000)), job(seconds(second)).at(seconds(1)),
                                job(seconds(third)).at(seconds(1))};
  };
  const RunResult r = run_jobs(cluster(1, 1), jobs(100, 100), world);
  EXPECT_EQ(start_s(r, 2), 1);
  EXPECT_GT(start_s(r, 1), 100);
  const RunResult unequal = run_jobs(cluster(1, 1), jobs(99, 100), world);
  EXPECT_EQ(start_s(unequal, 1), 1);
  EXPECT_GT(start_s(unequal, 2), 99);
}

// Four jobs of 30 s and one of 100 s on two GPUs, none shared: the long one ends at 160 s after two others, at 100 s
// if it goes first. 2 x 100 s > (4 x 30 + 100) / 2, and 1 x 100 s is not.
TEST(SrsfPacked, TheTailGoesFirst) {
  const std::vector<JobSpec> jobs{job(seconds(30)), job(seconds(30)), job(seconds(30)),
                                  job(seconds(30)), job(seconds(100))};
  const auto run_with = [&](double tail) {
    return run_jobs(cluster(1, 2), jobs, ShareWorld(9), {{"tail", tail}});
  };
  EXPECT_EQ(start_s(run_with(0), 4), 60);
  EXPECT_EQ(start_s(run_with(1), 4), 30);  // 100 s > (30 + 30 + 100) / 2, once two have ended
  const RunResult first = run_with(2);
  EXPECT_EQ(start_s(first, 4), 0);
  EXPECT_EQ(start_s(first, 3), 90);
}

TEST(SrsfPacked, MemoryMustSuffice) {
  const ClusterSpec one = cluster(1, 1, 1, 1000);
  const auto starts = [&](double mib, double margin) {
    return start_s(
        run_jobs(one, {job(seconds(100)).memory(600), job(seconds(10)).memory(mib).at(seconds(1))},
                 ShareWorld(0), {{"memory_margin", margin}}),
        1);
  };
  EXPECT_EQ(starts(400, 0), 1);
  EXPECT_EQ(starts(401, 0), 100);
  EXPECT_EQ(starts(400, 0.1), 100);
}

TEST(SrsfPacked, ShortJobsPreemptAndNoJobTakesItsPlaceBack) {
  const ShareWorld world(9);
  const std::vector<JobSpec> jobs{job(seconds(1000)), job(seconds(10)).at(seconds(100)),
                                  job(seconds(950)).at(seconds(50))};
  const RunResult r = run_jobs(cluster(1, 1), jobs, world, {{"mode", std::string("preemptive")}});
  EXPECT_EQ(start_s(r, 1), 100);
  EXPECT_EQ(r.record.jobs[0].preemptions, 1);
  EXPECT_EQ(r.record.jobs[1].preemptions, 0);
  EXPECT_EQ(start_s(r, 2), 1010);  // 950 s are not enough less than the 950 s that job 0 has left
}

TEST(SrsfPacked, AJobLeavesASharedGpuForAnIdleOne) {
  // Job 0 leaves no memory, so jobs 1 and 2 share a GPU at 0.9 each. At 2000 job 0 ends: 3201 s are left to each.
  const std::vector<JobSpec> jobs{job(seconds(2000)).memory(16000), job(seconds(5000)).memory(1000),
                                  job(seconds(5000)).memory(1000).at(seconds(1))};
  const ShareWorld world(1.0 / 9);
  const RunResult stays = run_jobs(cluster(1, 2), jobs, world);
  const RunResult moves =
      run_jobs(cluster(1, 2), jobs, world, {{"mode", std::string("preemptive")}});
  EXPECT_EQ(start_s(moves, 2), 1);
  EXPECT_EQ(moves.record.jobs[1].preemptions + moves.record.jobs[2].preemptions, 1);
  const auto jct_s = [](const RunResult& r) { return to_seconds(r.record.jobs[2].finish); };
  EXPECT_GT(jct_s(stays), 5500);
  EXPECT_NEAR(jct_s(moves), 5201, 2);
}

TEST(SrsfPacked, ALongJobStartsThoughShorterOnesKeepArriving) {
  std::vector<JobSpec> jobs{job(seconds(10))};
  jobs.push_back(job(seconds(100)).at(seconds(1)));
  for (int i = 0; i < 2000; ++i) jobs.push_back(job(seconds(10)).at(seconds(5 + 9 * i)));
  for (const char* mode : {"non-preemptive", "preemptive"}) {
    const RunResult r = run_jobs(cluster(1, 1), jobs, ShareWorld(9),
                                 {{"mode", std::string(mode)}, {"patience", 20.0}});
    // 20 x 100 s, and at most one more job of 10 s.
    EXPECT_LE(start_s(r, 1), 1 + 2000 + 10) << mode;
    EXPECT_GE(start_s(r, 1), 1900) << mode;
    const RunResult never = run_jobs(cluster(1, 1), jobs, ShareWorld(9),
                                     {{"mode", std::string(mode)}, {"patience", 0.0}});
    EXPECT_GT(start_s(never, 1), 17000) << mode;
  }
}

TEST(RemainingService, IsTheRestOfAReliableEstimate) {
  RemainingService s;
  EXPECT_DOUBLE_EQ(s.expected(1000, 0), 1000);
  EXPECT_DOUBLE_EQ(s.expected(1000, 400), 600);
  EXPECT_DOUBLE_EQ(s.expected(1000, 1300), 300);  // has outrun it by 300 s
  EXPECT_DOUBLE_EQ(s.expected(1000, 1000), 1);
}

TEST(RemainingService, WithoutAnEstimateGrowsInDoublingSteps) {
  const RemainingService s;
  EXPECT_DOUBLE_EQ(s.expected({}, 0), 60);
  EXPECT_DOUBLE_EQ(s.expected({}, 59), 60);
  EXPECT_DOUBLE_EQ(s.expected({}, 60), 120);
  EXPECT_DOUBLE_EQ(s.expected({}, 500), 960 / 1.0);
  EXPECT_DOUBLE_EQ(RemainingService::next_step(120), 240);
}

TEST(RemainingService, LearnsWhetherEstimatesAreReliable) {
  RemainingService exact;
  RemainingService shuffled;
  Rng rng(1, Stream::kTest, 0);
  std::vector<double> times;
  for (int i = 0; i < 1000; ++i) times.push_back(std::exp(3 + 6 * rng.uniform()));
  for (std::size_t i = 0; i < times.size(); ++i) {
    exact.finished(times[i], times[i]);
    shuffled.finished(times[(i + 500) % times.size()], times[i]);
  }
  EXPECT_EQ(exact.reliability(), 1);
  EXPECT_LT(shuffled.reliability(), 0.1);
  // Then all jobs are expected to be about as long as the typical one.
  EXPECT_NEAR(shuffled.expected(10, 0) / shuffled.expected(10000, 0), 1, 0.5);
}

}  // namespace
}  // namespace corun::test::srsf_packed_test
