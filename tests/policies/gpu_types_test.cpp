#include <algorithm>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "policies/placement.hpp"
#include "tests/helpers/scenarios.hpp"

/// Jobs that name GPU types, and the placement on the fastest type: cases computed by hand. GPU 0 is the first of
/// type 0.
namespace corun::test::gpu_types_test {
namespace {

constexpr std::uint32_t kFirst = 1;   ///< JobBuilder::models(): type 0
constexpr std::uint32_t kSecond = 2;  ///< type 1

struct Setting {
  std::string_view policy;
  std::map<std::string, ParameterValue> values = {};
  StartMode start = StartMode::kGroup;
  const JobsOnTypes* on_types = nullptr;  ///< also granted to the policy
};

RunResult simulate(const Setting& setting, const ClusterSpec& spec, std::vector<JobSpec> jobs) {
  const ShareWorld co_runs(0);
  const OnTypesWorld world(co_runs, setting.on_types);
  const OwnedWorkload w = workload(std::move(jobs));
  const PolicyEntry& entry = *find_policy(setting.policy);
  Parameters parameters(entry.parameters);
  for (const auto& [name, value] : setting.values) parameters.set(name, value);
  RunOptions options;
  options.control.start = setting.start;
  options.name = setting.policy;
  options.traits = entry.traits_for(parameters);
  if (setting.on_types != nullptr) {
    options.on_types = views_on_types(*setting.on_types, w.jobs.size(), spec);
  }
  const auto policy = make_policy(entry, w, world, 1, parameters);
  return run(spec, w, world, *policy, options);
}

using Seconds = std::vector<std::int64_t>;
Seconds starts(const RunResult& r) {
  Seconds s;
  for (const JobRecord& j : r.record.jobs) s.push_back((*j.first_start).count() / 1'000'000'000);
  return s;
}
Seconds ends(const RunResult& r) {
  Seconds s;
  for (const JobRecord& j : r.record.jobs) s.push_back(j.finish.count() / 1'000'000'000);
  return s;
}
using Gpus = std::vector<std::size_t>;
Gpus first_gpus(const RunResult& r) {
  Gpus gpus;
  for (const JobRecord& j : r.record.jobs) gpus.push_back(index(j.gpu));
  return gpus;
}

ClusterSpec two_types(int first, int second) {
  return cluster({of_type(0, node(first)), of_type(1, node(second))});
}

// ---- queues --------------------------------------------------------------------------------------

TEST(QueuesOfTypes, BackfillPassesAJobOfAnotherTypeAndStrictDoesNot) {
  const std::vector<JobSpec> jobs{job(seconds(10)).models(kFirst),
                                  job(seconds(10)).at(seconds(1)).models(kFirst),
                                  job(seconds(5)).at(seconds(2)).models(kSecond),
                                  job(seconds(5)).at(seconds(3)).models(kFirst)};
  for (const std::string placement : {"consolidated", "anywhere", "fastest"}) {
    const RunResult strict = simulate({"fifo", {{"placement", placement}}}, two_types(1, 1), jobs);
    EXPECT_EQ(starts(strict), (Seconds{0, 10, 10, 20})) << placement;
    EXPECT_EQ(first_gpus(strict), (Gpus{0, 0, 1, 0}));
    const RunResult backfill =
        simulate({"fifo", {{"placement", placement}, {"blocking", std::string("backfill")}}},
                 two_types(1, 1), jobs);
    EXPECT_EQ(starts(backfill), (Seconds{0, 10, 2, 20})) << placement;
  }
}

TEST(QueuesOfTypes, AGangMaySpanTheTypesThatItNames) {
  const std::vector<JobSpec> jobs{job(seconds(5)).gpus(3).models(kFirst | kSecond),
                                  job(seconds(5)).gpus(2).models(kSecond)};
  const RunResult r = simulate({"fifo"}, two_types(1, 2), jobs);
  EXPECT_EQ(starts(r), (Seconds{0, 5}));
  EXPECT_EQ(first_gpus(r)[1], 1U);
}

// The largest node of its types holds 2 of the 3 GPUs that it asks for: the gang takes both nodes, though a
// node of another type is larger.
TEST(QueuesOfTypes, TheLargestNodeIsThatOfTheTypes) {
  const ClusterSpec spec = cluster({of_type(0, node(4)), of_type(1, node(2)), of_type(1, node(2))});
  const RunResult r = simulate({"fifo"}, spec, {job(seconds(5)).gpus(3).models(kSecond)});
  EXPECT_EQ(r.log[1].gpus, (std::vector<GpuId>{G(4), G(5), G(6)}));
}

// Job 0 has the most time left, but it is on a GPU that job 2 may not use.
TEST(QueuesOfTypes, PreemptionTakesOnlyGpusThatTheJobMayUse) {
  const RunResult r = simulate({"srtf"}, two_types(1, 1),
                               {job(seconds(50)).models(kFirst), job(seconds(40)).models(kSecond),
                                job(seconds(10)).at(seconds(5)).models(kSecond)});
  EXPECT_EQ(ends(r), (Seconds{50, 50, 15}));
  EXPECT_EQ(r.record.jobs[0].preemptions, 0);
  EXPECT_EQ(r.record.jobs[1].preemptions, 1);
}

// The gang of two runs on both types; job 1 needs one of its GPUs only, and the other one stays idle.
TEST(QueuesOfTypes, AGangGivesWayToAJobOfOneOfItsTypes) {
  const RunResult r =
      simulate({"srtf"}, two_types(1, 1),
               {job(seconds(50)).gpus(2), job(seconds(10)).at(seconds(5)).models(kSecond)});
  EXPECT_EQ(starts(r), (Seconds{0, 5}));
  EXPECT_EQ(first_gpus(r)[1], 1U);
  EXPECT_EQ(ends(r), (Seconds{60, 15}));
}

TEST(QueuesOfTypes, LasMovesRestrictedJobs) {
  // Job 0 passes 10 s at 10 s and gives way to job 1 of its type, job 2 has the other one to itself.
  const RunResult r =
      simulate({"las", {{"thresholds_s", std::vector<double>{10}}}}, two_types(1, 1),
               {job(seconds(30)).models(kFirst), job(seconds(15)).at(seconds(5)).models(kFirst),
                job(seconds(30)).models(kSecond)});
  EXPECT_EQ(starts(r), (Seconds{0, 10, 0}));
  EXPECT_EQ(ends(r), (Seconds{40, 45, 30}));
  EXPECT_EQ(r.record.jobs[2].preemptions, 0);
}

// ---- groups --------------------------------------------------------------------------------------

TEST(GroupsOfTypes, PairsJobsThatNameTheSameTypes) {
  const RunResult r = simulate({"fcfs"}, two_types(1, 1),
                               {job(seconds(9)).models(kFirst), job(seconds(9)).models(kSecond),
                                job(seconds(9)).models(kFirst), job(seconds(9)).models(kSecond)});
  EXPECT_EQ(starts(r), (Seconds{0, 0, 0, 0}));
  EXPECT_EQ(first_gpus(r), (Gpus{0, 1, 0, 1}));
}

TEST(GroupsOfTypes, TheOldestWithoutRoomBlocksTheQueue) {
  const RunResult r =
      simulate({"exclusive"}, two_types(1, 1),
               {job(seconds(9)).models(kFirst), job(seconds(9)).at(seconds(1)).models(kFirst),
                job(seconds(9)).at(seconds(2)).models(kSecond)});
  EXPECT_EQ(starts(r), (Seconds{0, 9, 9}));
}

TEST(GroupsOfTypes, JoinsOnlyWhereItMayRun) {
  const RunResult r = simulate({"fcfs", {}, StartMode::kJoin}, two_types(1, 1),
                               {job(seconds(9)).models(kFirst), job(seconds(9)).models(kSecond),
                                job(seconds(3)).at(seconds(1)).models(kSecond)});
  EXPECT_EQ(starts(r), (Seconds{0, 0, 1}));
  EXPECT_EQ(first_gpus(r), (Gpus{0, 1, 1}));
}

// ---- the others ----------------------------------------------------------------------------------

TEST(FifoPackedOfTypes, HandsOutGpusInTheOrderOfTheQueue) {
  // Job 0 may run on both and has GPU 0; job 1 is second on its type; job 2 shares with it, not with job 0.
  const std::map<std::string, ParameterValue> all{{"threshold", 0.0}};
  const RunResult r = simulate({"fifo-packed", all}, two_types(1, 1),
                               {job(seconds(9)), job(seconds(9)).at(seconds(1)).models(kSecond),
                                job(seconds(9)).at(seconds(2)).models(kSecond)});
  EXPECT_EQ(first_gpus(r), (Gpus{0, 1, 1}));
  EXPECT_EQ(starts(r), (Seconds{0, 1, 2}));
  // The second job finds no GPU of its type, which ends step 1, and may join the first: so the third waits.
  const RunResult packed = simulate({"fifo-packed", all}, two_types(1, 1),
                                    {job(seconds(9)), job(seconds(9)).at(seconds(1)).models(kFirst),
                                     job(seconds(4)).at(seconds(2)).models(kSecond)});
  EXPECT_EQ(first_gpus(packed), (Gpus{0, 0, 1}));
  EXPECT_EQ(starts(packed), (Seconds{0, 1, 9}));
}

TEST(LucidOfTypes, JoinsOnlyWhereItMayRun) {
  const RunResult r =
      simulate({"lucid"}, two_types(1, 1),
               {job(seconds(20)).models(kFirst), job(seconds(20)).models(kSecond),
                job(seconds(9)).at(seconds(1)).models(kSecond), job(seconds(9)).at(seconds(2))});
  EXPECT_EQ(first_gpus(r), (Gpus{0, 1, 1, 0}));
  EXPECT_EQ(starts(r), (Seconds{0, 0, 1, 2}));
}

TEST(KubeDefaultOfTypes, ANodeOfAnotherTypeIsInfeasible) {
  const RunResult r = simulate({"kube-default"}, two_types(1, 2),
                               {job(seconds(9)).models(kFirst), job(seconds(9)).models(kFirst),
                                job(seconds(9)).models(kFirst), job(seconds(9)).models(kSecond)});
  EXPECT_EQ(starts(r), (Seconds{0, 0, 9, 0}));  // two replicas
  EXPECT_EQ((Gpus{first_gpus(r)[0], first_gpus(r)[1], first_gpus(r)[2]}), (Gpus{0, 0, 0}));
}

// ---- the fastest type ----------------------------------------------------------------------------

using Speeds = std::vector<ViewOnType>;

/// The placement of a job on a cluster of three types with two GPUs each, of which these are taken.
std::vector<GpuId> placed(const Speeds& speeds, int gang, std::vector<std::uint32_t> taken,
                          std::uint32_t types = 0) {
  const ClusterSpec spec = cluster({of_type(0, node(2)), of_type(1, node(2)), of_type(2, node(2))});
  ClusterState state(spec);
  for (const std::uint32_t g : taken) state.add(G(g), J(g), false);
  JobView job;
  job.gpus = gang;
  job.gpu_models = types;
  job.on_types = speeds;
  return fastest(state, types == 0 ? state.empty() : of_types(state, state.empty(), types), job);
}
using Placed = std::vector<GpuId>;

TEST(Fastest, TakesTheFastestTypeThatIsFree) {
  const Speeds speeds{{1, {}}, {3, {}}, {2, {}}};
  EXPECT_EQ(placed(speeds, 1, {}), (Placed{G(2)}));
  EXPECT_EQ(placed(speeds, 1, {2}), (Placed{G(3)}));
  EXPECT_EQ(placed(speeds, 1, {2, 3}), (Placed{G(4)}));  // it does not wait
  EXPECT_EQ(placed(speeds, 1, {2, 3, 4, 5, 0}), (Placed{G(1)}));
  EXPECT_EQ(placed(speeds, 1, {0, 1, 2, 3, 4, 5}), Placed{});
  EXPECT_EQ(placed({{1, {}}, {2, {}}, {2, {}}}, 1, {}), (Placed{G(2)}));  // the lower number
  EXPECT_EQ(placed(speeds, 1, {}, 0b101), (Placed{G(4)}));
}

TEST(Fastest, DoesNotMixTypesInAGangThatFitsOne) {
  const Speeds speeds{{1, {}}, {3, {}}, {2, {}}};
  EXPECT_EQ(placed(speeds, 2, {2}), (Placed{G(4), G(5)}));
  EXPECT_EQ(placed(speeds, 2, {0, 2, 4}), Placed{});              // 3 are free, one of each type
  EXPECT_EQ(placed(speeds, 3, {0}), (Placed{G(1), G(2), G(3)}));  // no type has three
  EXPECT_EQ(placed(speeds, 3, {2}, 0b110), (Placed{G(3), G(4), G(5)}));
}

TEST(Fastest, WithoutEstimatesItIsAnywhere) {
  EXPECT_EQ(placed({}, 1, {0, 2}), (Placed{G(1)}));
  EXPECT_EQ(placed({}, 2, {0, 2, 4}), (Placed{G(1), G(3)}));
}

TEST(Fastest, IsAPlacementOfTheQueues) {
  // Job 0 runs twice as fast on type 1, job 1 has to take the other one.
  const TableOnTypes on_types({{{1}, {2}}, {{1}, {2}}, {{4}, {2}}});
  const RunResult r =
      simulate({"fifo", {{"placement", std::string("fastest")}}, StartMode::kGroup, &on_types},
               two_types(1, 1), {job(seconds(8)), job(seconds(8)), job(seconds(8))});
  EXPECT_EQ(first_gpus(r), (Gpus{1, 0, 1}));
  EXPECT_EQ(ends(r), (Seconds{4, 8, 8}));  // job 2 finds type 1 free first
}

// The gang waits for two GPUs of one type: of the two jobs on it, the last one in the order goes first.
TEST(Fastest, MakesRoomOnOneType) {
  const TableOnTypes on_types({{{1}, {1}}, {{1}, {1}}, {{1}, {1}}, {{1}, {1}}, {{1}, {2}}});
  const RunResult r =
      simulate({"srtf", {{"placement", std::string("fastest")}}, StartMode::kGroup, &on_types},
               two_types(2, 2),
               {job(seconds(100)).models(kFirst), job(seconds(70)).models(kFirst),
                job(seconds(80)).models(kSecond), job(seconds(90)).models(kSecond),
                job(seconds(10)).at(seconds(1)).gpus(2)});
  // Without job 0 and job 3 one GPU of each type is free; job 2 is next.
  EXPECT_EQ(r.record.jobs[0].preemptions, 0);
  EXPECT_EQ(r.record.jobs[1].preemptions, 0);
  EXPECT_EQ(r.record.jobs[2].preemptions, 1);
  EXPECT_EQ(r.record.jobs[3].preemptions, 1);
  EXPECT_EQ(ends(r)[4], 6);  // at twice the speed
}

// ---- srsf-packed ---------------------------------------------------------------------------------

// Job 1 waits for both GPUs until 1000, its service is 200 GPU s. Job 2 needs 600 s of work: that would end before 1000
// at the speed of type 0, and takes 1200 s on the idle GPU of type 1.
TEST(SrsfPackedOnTypes, AReservationKnowsTheSpeedOfTheGpu) {
  const auto with = [](double slow) {
    const std::vector<OnType> speeds{{1, 10'000}, {slow, 10'000}};  // no two jobs fit one GPU
    const TableOnTypes on_types({speeds, speeds, speeds});
    return starts(simulate(
        {"srsf-packed", {{"mode", std::string("non-preemptive")}}, StartMode::kGroup, &on_types},
        two_types(1, 1),
        {job(seconds(1000)), job(seconds(100)).gpus(2).at(seconds(1)),
         job(seconds(600)).at(seconds(2))}));
  };
  EXPECT_EQ(with(0.8), (Seconds{0, 1000, 2}));  // ends at 752
  EXPECT_GT(with(0.5)[2], 1000);
}

}  // namespace
}  // namespace corun::test::gpu_types_test
