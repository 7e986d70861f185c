#include "models/batch/batch_engine.hpp"

#include <algorithm>
#include <map>
#include <set>

#include <gtest/gtest.h>

#include "models/listed_pairs_world.hpp"
#include "tests/support/batch_cases.hpp"

namespace corun::test {
namespace {

void expect_same_record(const RunRecord& events, const RunRecord& batch) {
  ASSERT_EQ(events.jobs.size(), batch.jobs.size());
  for (std::size_t j = 0; j < events.jobs.size(); ++j) {
    const JobRecord& e = events.jobs[j];
    const JobRecord& b = batch.jobs[j];
    EXPECT_EQ(e.submit, b.submit);
    EXPECT_EQ(e.first_start, b.first_start) << j;
    EXPECT_EQ(e.last_start, b.last_start);
    EXPECT_EQ(e.finish, b.finish) << j;
    EXPECT_EQ(e.work, b.work);
    EXPECT_EQ(e.solo, b.solo);
    EXPECT_EQ(e.run_solo, b.run_solo);
    EXPECT_EQ(e.whole_solo, b.whole_solo);
    EXPECT_EQ(e.gpus, b.gpus);
    EXPECT_EQ(e.gpu, b.gpu);
    EXPECT_EQ(e.group, b.group);
  }
  ASSERT_EQ(events.episodes.size(), batch.episodes.size());
  for (std::size_t i = 0; i < events.episodes.size(); ++i) {
    const EpisodeRecord& e = events.episodes[i];
    const EpisodeRecord& b = batch.episodes[i];
    EXPECT_EQ(e.gpu, b.gpu);
    EXPECT_EQ(e.start, b.start);
    EXPECT_EQ(e.end, b.end);
    EXPECT_EQ(e.jobs, b.jobs);
    EXPECT_EQ(e.solo_sum, b.solo_sum);
    EXPECT_EQ(e.together, b.together);
    EXPECT_EQ(e.primary, b.primary);
  }
}

void expect_same_usage(const UsageRecord& events, const UsageRecord& batch) {
  EXPECT_EQ(events.busy, batch.busy);
  EXPECT_EQ(events.util_s, batch.util_s);
  EXPECT_EQ(events.util_known_s, batch.util_known_s);
  EXPECT_EQ(events.mem_s, batch.mem_s);
  EXPECT_EQ(events.mem_known_s, batch.mem_known_s);
  EXPECT_EQ(events.corun_s, batch.corun_s);
}

/// Instants at which two jobs end on different GPUs, and on the same one.
struct Ties {
  int apart = 0;
  int together = 0;
};

void count_ties(const RunRecord& run, Ties& ties) {
  std::map<Time, std::set<GpuId>> gpus;
  for (const JobRecord& job : run.jobs) {
    const auto [at, first] = gpus.try_emplace(job.finish);
    const bool new_gpu = at->second.insert(job.gpu).second;
    ties.apart += !first && new_gpu;
    ties.together += !new_gpu;
  }
}

TEST(BatchEngine, IsTheEventEngineBitForBit) {
  Ties ties;
  std::array<int, 5> of_size{};
  int with_noise = 0, shared = 0;
  for (std::uint64_t seed = 0; seed < 4000; ++seed) {
    SCOPED_TRACE(seed);
    const BatchCase c = random_batch_case(seed);
    ASSERT_EQ(BatchExperiment::obstacle(c.cluster, c.workload), "");
    const RunRecord events = by_events(c);
    const BatchExperiment experiment(c.cluster, c.workload);
    BatchEngine engine(experiment, *c.world);
    ASSERT_TRUE(engine.run(c.groups, c.noise_seed));
    expect_same_record(events, engine.record(c.groups));
    expect_same_usage(events.usage, usage_of(engine.sums()));
    EXPECT_EQ(events.passes, engine.sums().passes);
    EXPECT_EQ(events.unknown_memory_jobs, experiment.unknown_memory_jobs());
    EXPECT_EQ(first_difference(compute_metrics(events), engine.metrics()), "");
    if (HasFailure()) break;
    count_ties(events, ties);
    for (const auto& group : c.groups) ++of_size.at(group.size());
    with_noise += c.noise_seed.has_value();
    shared += events.usage.corun_s[1] + events.usage.corun_s[2] + events.usage.corun_s[3] > 0;
  }
  // What the cases were to contain.
  for (std::size_t size = 1; size < of_size.size(); ++size) EXPECT_GT(of_size[size], 1000) << size;
  EXPECT_GT(ties.apart, 1000);
  EXPECT_GT(ties.together, 1000);
  EXPECT_GT(with_noise, 1000);
  EXPECT_GT(shared, 3000);
}

TEST(BatchEngine, OneEngineForManySeedsRemembersOnlyWhatNoSeedChanges) {
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    BatchCase c = random_batch_case(seed);
    const BatchExperiment experiment(c.cluster, c.workload);
    BatchEngine engine(experiment, *c.world);
    for (std::uint64_t replication = 0; replication < 20; ++replication) {
      SCOPED_TRACE(seed * 100 + replication);
      c.noise_seed = 1000 + replication;
      std::rotate(c.groups.begin(), c.groups.begin() + 1, c.groups.end());
      std::ranges::reverse(c.groups.back());  // who is the newcomer changes
      ASSERT_TRUE(engine.run(c.groups, c.noise_seed));
      EXPECT_EQ(first_difference(compute_metrics(by_events(c)), engine.metrics()), "");
    }
  }
}

TEST(BatchEngine, WorldsInWhichTheNewcomerMatters) {
  // A list has (1 beside 2) and (2 beside 1) as rows of their own.
  auto pairs = std::make_shared<ListedPairs>();
  pairs->add(1, 2, 0.9, 0.8);
  pairs->add(2, 1, 0.5, 0.6);
  BatchCase c;
  c.cluster = cluster(1, 1);
  c.workload = workload({job(seconds(100)), job(seconds(100)), job(seconds(100))});
  c.world = std::make_unique<ListedPairsWorld>(std::move(pairs), std::vector<WorkloadKey>{1, 2, 2});
  for (const auto& groups : std::vector<std::vector<std::vector<JobId>>>{
           {{J(0), J(1)}, {J(2)}}, {{J(1), J(0)}, {J(2)}}, {{J(2), J(1), J(0)}}}) {
    c.groups = groups;
    const BatchExperiment experiment(c.cluster, c.workload);
    BatchEngine engine(experiment, *c.world);
    ASSERT_TRUE(engine.run(c.groups, std::nullopt));
    EXPECT_EQ(first_difference(compute_metrics(by_events(c)), engine.metrics()), "");
  }
}

TEST(BatchEngine, LeavesWhatRunsOutOfMemoryToTheEventEngine) {
  const ClusterSpec two = cluster(2, 1, 1, 1000);
  const Workload w = workload({job(seconds(10)).memory(600), job(seconds(10)).memory(500),
                               job(seconds(10)).memory(400), job(seconds(10))});
  const ShareWorld world(0.5);
  const BatchExperiment experiment(two, w);
  BatchEngine engine(experiment, world);
  using Groups = std::vector<std::vector<JobId>>;
  EXPECT_TRUE(engine.run(Groups{{J(0), J(2), J(3)}, {J(1)}}, 1));
  EXPECT_FALSE(engine.run(Groups{{J(0), J(1)}, {J(2)}, {J(3)}}, 1));
  ClusterSpec pairs = two;
  pairs.max_jobs_per_gpu = 2;
  EXPECT_FALSE(BatchExperiment(pairs, w).fits(std::vector{J(1), J(2), J(3)}, world));
  EXPECT_TRUE(BatchExperiment(pairs, w).fits(std::vector{J(1), J(2)}, world));
}

TEST(BatchEngine, LeavesRunsWithoutEndToTheEventEngine) {
  const ClusterSpec one = cluster(1, 1);
  const Workload w = workload({job(seconds(1'000'000'000)), job(seconds(1'000'000'000))});
  const BatchExperiment experiment(one, w);
  const ShareWorld slow(1e9);
  BatchEngine engine(experiment, slow);
  EXPECT_FALSE(engine.run(std::vector<std::vector<JobId>>{{J(0), J(1)}}, 1));
  EXPECT_TRUE(engine.run(std::vector<std::vector<JobId>>{{J(0)}, {J(1)}}, 1));
}

TEST(BatchEngine, SaysWhatItCannotDo) {
  const ClusterSpec two = cluster(2, 1);
  const auto says = [&](std::vector<JobSpec> jobs) {
    return BatchExperiment::obstacle(two, workload(std::move(jobs)));
  };
  EXPECT_EQ(says({job(seconds(1))}), "");
  EXPECT_EQ(says({job(seconds(1)).at(seconds(1))}), "not all jobs are submitted at time 0");
  EXPECT_EQ(says({job(seconds(1)).gpus(2)}), "not all jobs want one GPU");
  EXPECT_EQ(says({job(seconds(0))}), "not all jobs have something to do");
  EXPECT_EQ(says(std::vector<JobSpec>(3, job(seconds(3'000'000'000)))),
            "the jobs would take centuries");
  EXPECT_EQ(says(std::vector<JobSpec>(5000, job(seconds(1)))), "there are too many jobs");
  const Workload one = workload({job(seconds(1))});
  EXPECT_EQ(BatchExperiment::obstacle(cluster({node(1, 1), node(1, 2)}), one),
            "the GPUs of the cluster are not all alike");
  EXPECT_EQ(BatchExperiment::obstacle(cluster({node(1, 1, 1000), node(1, 1, 2000)}), one),
            "the GPUs of the cluster are not all alike");
}

}  // namespace
}  // namespace corun::test
