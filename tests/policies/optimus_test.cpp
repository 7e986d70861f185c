#include <chrono>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "models/allocation_speeds.hpp"
#include "policies/catalog.hpp"
#include "tests/helpers/builders.hpp"

/// Optimus, by hand.
namespace corun::test::optimus_test {
namespace {

using namespace std::chrono_literals;

/// Job i has `left_s[i]` on one GPU, and 1 / k of it on k GPUs, as long as it is there.
class Belief final : public AllocationBelief {
 public:
  explicit Belief(std::vector<double> left_s) : left_s_(std::move(left_s)) {}
  double goodput(const JobView&, const Allocation& on) const override { return on.gpus; }
  double remaining_s(const JobView& job, const Allocation& on, Time) const override {
    EXPECT_EQ(static_cast<std::size_t>(on.nodes), on.on_nodes.size());
    return left_s_[index(job.id)] / on.gpus;
  }

 private:
  std::vector<double> left_s_;
};

/// Jobs without loss by parallel work.
class ParallelWorld final : public World {
 public:
  explicit ParallelWorld(std::vector<ParallelJob> jobs) : speeds_(std::move(jobs), {}) {}
  Provenance speeds(const CoRunners&, std::optional<std::uint64_t>,
                    std::span<double> out) const override {
    for (double& speed : out) speed = 1;
    return Provenance::kModelled;
  }
  const AllocationSpeed* by_allocation() const override { return &speeds_; }

 private:
  AllocationSpeeds speeds_;
};

RunResult simulate(const ClusterSpec& spec, const OwnedWorkload& w,
                   const AllocationBelief* belief) {
  const PolicyEntry& entry = *find_policy("optimus");
  PolicyContext context{Parameters(entry.parameters)};
  context.allocations = belief;
  const auto policy = entry.make(std::move(context));
  std::vector<ParallelJob> jobs;
  for (const JobSpec& job : w.jobs) jobs.push_back({job.gpus, 1});
  RunOptions options;
  options.traits = entry.traits;
  return run(spec, w, ParallelWorld(std::move(jobs)), *policy, options);
}

std::vector<Time> ends(const RunResult& r) {
  std::vector<Time> all;
  for (const JobRecord& j : r.record.jobs) all.push_back(j.finish);
  return all;
}

// One GPU each; the third goes to A (400 - 200 > 100 - 50), the fourth, too (200 - 133 > 50). B ends at 100 s, A has then done
// 300 s and gets the fourth GPU: 25 s more.
TEST(Optimus, GpusGoToTheJobThatGainsMost) {
  const OwnedWorkload w = workload({job(400s).elastic(1, 4), job(100s).elastic(1, 4)});
  const Belief belief({400, 100});
  const RunResult r = simulate(cluster(1, 4), w, &belief);
  EXPECT_EQ(r.log[2].gpus.size() + r.log[3].gpus.size(), 4U);
  EXPECT_EQ(ends(r), (std::vector<Time>{125s, 100s}));
  EXPECT_EQ(r.record.jobs[0].preemptions, 1);
  EXPECT_EQ(r.record.jobs[1].preemptions, 0);
}

// A job that may have at most two GPUs leaves the others to the one that gains less.
TEST(Optimus, NoJobGetsMoreThanItPermits) {
  const OwnedWorkload w = workload({job(400s).elastic(1, 2), job(100s).elastic(1, 4)});
  const Belief belief({400, 100});
  const RunResult r = simulate(cluster(1, 4), w, &belief);
  EXPECT_EQ(ends(r), (std::vector<Time>{200s, 50s}));
}

// Of three GPUs the earlier of two equal jobs gets two and ends at 150 s. The other one has then done 150 s, and has 50 s to go
// on three.
TEST(Optimus, OfEqualGainsTheEarlierJobs) {
  const OwnedWorkload w = workload({job(300s).elastic(1, 4), job(300s).elastic(1, 4)});
  const Belief belief({300, 300});
  const RunResult r = simulate(cluster(1, 3), w, &belief);
  EXPECT_EQ(ends(r), (std::vector<Time>{150s, 200s}));
}

TEST(Optimus, WithoutABeliefNoJobIsResized) {
  const OwnedWorkload w = workload({job(40s).gpus(2).elastic(1, 4), job(10s)});
  const RunResult r = simulate(cluster(1, 4), w, nullptr);
  EXPECT_EQ(ends(r), (std::vector<Time>{40s, 10s}));
}

// The job may run on type 1 alone, which has two GPUs: it gets no more, though the cluster has four.
TEST(Optimus, TypesLimitAJob) {
  const OwnedWorkload w = workload({job(100s).elastic(1, 4).models(2)});
  const Belief belief({100});
  const RunResult r = simulate(cluster({of_type(0, node(2)), of_type(1, node(2))}), w, &belief);
  EXPECT_EQ(ends(r), (std::vector<Time>{50s}));
}

}  // namespace
}  // namespace corun::test::optimus_test
