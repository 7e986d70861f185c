#include "policies/kube_default.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <numeric>
#include <optional>
#include <span>
#include <string>
#include <tuple>
#include <utility>
#include <variant>
#include <vector>

#include <gtest/gtest.h>

#include "sim/engine/control_loop.hpp"
#include "sim/engine/simulated_backend.hpp"
#include "sim/error.hpp"
#include "sim/rng.hpp"
#include "tests/helpers/owned_workload.hpp"

namespace corun::kube_default_test {
namespace {

using test::OwnedWorkload;

using std::chrono::milliseconds;
using std::chrono::nanoseconds;
using std::chrono::seconds;

/// Each job on a GPU gets an equal part of it.
class EqualShares final : public World {
 public:
  Provenance speeds(const CoRunners& co_runners, std::optional<std::uint64_t>,
                    std::span<double> out) const override {
    std::fill(out.begin(), out.end(), 1.0 / static_cast<double>(co_runners.residents.size()));
    return Provenance::kModelled;
  }
};

NodeSpec node(int gpus, std::int64_t cpu_milli = 32000, std::int64_t memory_mib = 131072) {
  NodeSpec spec;
  spec.gpus = gpus;
  spec.cpu_milli = cpu_milli;
  spec.memory_mib = memory_mib;
  return spec;
}

ClusterSpec cluster(std::vector<NodeSpec> nodes) {
  ClusterSpec spec;
  spec.nodes = std::move(nodes);
  return spec;
}

KubeOptions with_replicas(int replicas) {
  KubeOptions options;
  options.replicas = replicas;
  return options;
}

KubeOptions with_scoring(int least_allocated, int balanced_allocation) {
  KubeOptions options;
  options.scoring = {least_allocated, balanced_allocation};
  return options;
}

/// One scheduling pass on a cluster that the test sets up.
class Scene {
 public:
  explicit Scene(ClusterSpec spec) : spec_(std::move(spec)), state_(spec_) {}

  JobId job(JobView job_view) {
    job_view.id = JobId{static_cast<std::uint32_t>(job_views_.size())};
    job_views_.push_back(job_view);
    return job_view.id;
  }
  JobId resident(JobView job_view, const std::vector<int>& gpus, bool profiling = false) {
    const JobId id = job(job_view);
    for (const int g : gpus) state_.add(GpuId{static_cast<std::uint32_t>(g)}, id, profiling);
    return id;
  }
  JobId waits(JobView job_view) {
    const JobId id = job(job_view);
    waiting_.push_back(id);
    return id;
  }

  /// Applies the policy's starts to the scene.
  std::vector<StartGroup> pass(KubeDefault& policy) {
    std::vector<Decision> decisions;
    for (; told_ < waiting_.size(); ++told_) {
      policy.arrived(job_views_[index(waiting_[told_])], Time{0});
    }
    policy.decide(ClusterView(Time{0}, StartMode::kJoin, waiting_, job_views_, state_, 0, 3),
                  decisions);
    std::vector<StartGroup> started;
    for (const Decision& decision : decisions) {
      const auto* start = std::get_if<StartGroup>(&decision);
      if (start == nullptr) continue;
      started.push_back(*start);
      std::erase(waiting_, start->jobs.front());
      --told_;
      for (const GpuId g : start->gpus) state_.add(g, start->jobs.front(), false);
    }
    return started;
  }
  std::vector<StartGroup> pass(const KubeOptions& options, std::uint64_t seed = 1) {
    KubeDefault policy(options, seed);
    told_ = 0;
    return pass(policy);
  }

 private:
  ClusterSpec spec_;
  ClusterState state_;
  std::vector<JobView> job_views_;
  std::vector<JobId> waiting_;
  std::size_t told_ = 0;  ///< how many of them the policy was told of
};

JobView pod(int gpus = 1, std::int64_t cpu_milli = 0, std::int64_t memory_mib = 0,
            int priority = 0) {
  JobView job_view;
  job_view.gpus = gpus;
  job_view.priority = priority;
  job_view.request = {cpu_milli, memory_mib};
  return job_view;
}

/// (job, GPUs) in the order of starts.
using Starts = std::vector<std::pair<std::uint32_t, std::vector<std::uint32_t>>>;
Starts starts(const std::vector<StartGroup>& groups) {
  Starts list;
  for (const StartGroup& group : groups) {
    EXPECT_EQ(group.jobs.size(), 1U);
    list.push_back({static_cast<std::uint32_t>(group.jobs.front()), {}});
    for (const GpuId g : group.gpus) list.back().second.push_back(static_cast<std::uint32_t>(g));
  }
  return list;
}

JobSpec spec_of(Time submit, Duration work, int gpus = 1, int priority = 0,
                ResourceRequest request = {}) {
  JobSpec job;
  job.submit = submit;
  job.work = work;
  job.gpus = gpus;
  job.priority = priority;
  job.request = request;
  return job;
}

struct Outcome {
  EventLog log;
  RunRecord record;
  std::size_t passes = 0;
};

Outcome simulate(const ClusterSpec& spec, OwnedWorkload workload, Policy& policy,
                 ControlOptions control = {}) {
  if (workload.arrivals.empty()) {
    for (std::size_t j = 0; j < workload.jobs.size(); ++j) {
      workload.arrivals.push_back(JobId{static_cast<std::uint32_t>(j)});
    }
    std::stable_sort(workload.arrivals.begin(), workload.arrivals.end(), [&](JobId a, JobId b) {
      return workload.jobs[index(a)].submit < workload.jobs[index(b)].submit;
    });
  }
  const EqualShares world;
  SimulatedBackend backend(spec, workload, world, {});
  std::vector<JobView> job_views;
  for (std::size_t j = 0; j < workload.jobs.size(); ++j) {
    job_views.push_back(job_view_of(JobId{static_cast<std::uint32_t>(j)}, workload.jobs[j]));
  }
  ControlLoop loop(backend, {policy, "kube-default", find_policy("kube-default")->traits},
                   std::move(job_views), control);
  Outcome run;
  run.passes = loop.run(&run.log);
  run.record = backend.take_record();
  return run;
}

Outcome simulate(const ClusterSpec& spec, OwnedWorkload workload, const KubeOptions& options,
                 std::uint64_t seed = 1) {
  KubeDefault policy(options, seed);
  return simulate(spec, std::move(workload), policy);
}

std::string rule_broken(const std::function<void()>& f) {
  try {
    f();
  } catch (const PolicyError& e) {
    return e.what();
  }
  return "no rule";
}

// ---- Score -------------------------------------------------------------------------------------

TEST(KubeDefaultScore, LeastAllocatedByHand) {
  // cpu (16000 - 2000) * 100 / 16000 = 87.5 -> 87; memory (32768 - 8192) * 100 / 32768 = 75;
  // (87 + 75) / 2 = 81
  EXPECT_EQ(kube_least_allocated({2000, 8192}, node(1, 16000, 32768)), 81);
  EXPECT_EQ(kube_least_allocated({2000, 8192}, node(1, 8000, 32768)), 75);
  EXPECT_EQ(kube_least_allocated({0, 0}, node(1)), 100);
  EXPECT_EQ(kube_least_allocated({1000, 1000}, node(1, 1000, 1000)), 0);
  // Above its capacity a resource scores 0, not less.
  EXPECT_EQ(kube_least_allocated({2000, 500}, node(1, 1000, 1000)), 25);
  // A resource that the node lacks is left out.
  EXPECT_EQ(kube_least_allocated({100, 500}, node(1, 0, 1000)), 50);
  EXPECT_EQ(kube_least_allocated({100, 500}, node(1, 0, 0)), 0);
}

TEST(KubeDefaultScore, BalancedAllocationByHand) {
  // fractions 0.125 and 0.25: 1 - 0.0625 = 0.9375 -> 93
  EXPECT_EQ(kube_balanced_allocation({2000, 8192}, node(1, 16000, 32768)), 93);
  EXPECT_EQ(kube_balanced_allocation({2000, 8192}, node(1, 8000, 32768)), 100);
  EXPECT_EQ(kube_balanced_allocation({1000, 0}, node(1, 1000, 1000)), 50);
  // A fraction is at most 1.
  EXPECT_EQ(kube_balanced_allocation({5000, 1000}, node(1, 1000, 1000)), 100);
  EXPECT_EQ(kube_balanced_allocation({500, 500}, node(1, 0, 1000)), 100);
}

/// The node of a pod of 2 CPUs and 8 GiB, if it is the same for every seed.
std::optional<std::uint32_t> sure_choice(const std::vector<NodeSpec>& nodes,
                                         const KubeOptions& options) {
  std::optional<std::uint32_t> sure;
  for (std::uint64_t seed = 0; seed < 64; ++seed) {
    Scene scene(cluster(nodes));
    scene.waits(pod(1, 2000, 8192));
    const auto started = starts(scene.pass(options, seed));
    if (started.size() != 1) return std::nullopt;
    const std::uint32_t gpu = started.front().second.front();
    if (sure && *sure != gpu) return std::nullopt;
    sure = gpu;
  }
  return sure;
}

TEST(KubeDefaultScore, LeastAllocatedAloneChangesThePlacement) {
  // node 0: fractions 0.25, 0.25:    LeastAllocated 75, BalancedAllocation 100, sum 175
  // node 1: fractions 0.0625, 0.125: LeastAllocated (93 + 87) / 2 = 90, Balanced 96, sum 186
  const std::vector nodes{node(1, 8000, 32768), node(1, 32000, 65536)};
  EXPECT_EQ(sure_choice(nodes, with_scoring(0, 1)), 0U);
  EXPECT_EQ(sure_choice(nodes, with_scoring(1, 1)), 1U);
}

TEST(KubeDefaultScore, BalancedAllocationAloneChangesThePlacement) {
  // node 0: fractions 0.125, 0.25: LeastAllocated 81, BalancedAllocation 93,  sum 174
  // node 1: fractions 0.25, 0.25:  LeastAllocated 75, BalancedAllocation 100, sum 175
  const std::vector nodes{node(1, 16000, 32768), node(1, 8000, 32768)};
  EXPECT_EQ(sure_choice(nodes, with_scoring(1, 0)), 0U);
  EXPECT_EQ(sure_choice(nodes, with_scoring(1, 1)), 1U);
}

TEST(KubeDefaultScore, WithoutPluginsEveryNodeIsAsGood) {
  EXPECT_EQ(sure_choice({node(1, 16000, 32768), node(1, 8000, 32768)}, with_scoring(0, 0)),
            std::nullopt);
}

TEST(KubeDefaultScore, ResidentsCountAndAMissingRequestCountsAsTheDefault) {
  // Equal nodes; the resident of node 0 asks for nothing and counts as 100 milliCPU and 200 MiB:
  // LeastAllocated (80 + 80) / 2 against (90 + 90) / 2; BalancedAllocation is 100 for both.
  for (std::uint64_t seed = 0; seed < 16; ++seed) {
    Scene scene(cluster({node(1, 1000, 2000), node(1, 1000, 2000)}));
    scene.resident(pod(), {0});
    const JobId newcomer = scene.waits(pod());
    EXPECT_EQ(starts(scene.pass(KubeOptions{}, seed)),
              (Starts{{static_cast<std::uint32_t>(newcomer), {1}}}));
  }
}

TEST(KubeDefaultScore, BalancedAllocationCountsRequestsAsWritten) {
  // The resident of node 0 asks for cpu alone (0.5, 0), that of node 1 for less of both (0.4, 0.4); the new
  // pod asks for nothing. As written: 75 against 100. With defaults for missing requests it would be (0.6,
  // 1) against (0.5, 0.9), 80 both.
  for (std::uint64_t seed = 0; seed < 16; ++seed) {
    Scene scene(cluster({node(1, 1000, 400), node(1, 1000, 400)}));
    scene.resident(pod(1, 500, 0), {0});
    scene.resident(pod(1, 400, 160), {1});
    scene.waits(pod());
    EXPECT_EQ(starts(scene.pass(with_scoring(0, 1), seed)), (Starts{{2, {1}}}));
  }
}

// ---- Queue -------------------------------------------------------------------------------------

TEST(KubeDefaultQueue, PriorityThenPosition) {
  Scene scene(cluster({node(1)}));
  scene.waits(pod(1, 0, 0, 0));
  scene.waits(pod(1, 0, 0, 5));
  scene.waits(pod(1, 0, 0, -1));
  scene.waits(pod(1, 0, 0, 5));
  scene.waits(pod(1, 0, 0, 0));
  EXPECT_EQ(starts(scene.pass(with_replicas(4))), (Starts{{1, {0}}, {3, {0}}, {0, {0}}, {4, {0}}}));
}

TEST(KubeDefaultQueue, HighPriorityStopsNobody) {
  OwnedWorkload workload;
  workload.jobs = {spec_of(seconds{0}, seconds{10}), spec_of(seconds{1}, seconds{10}),
                   spec_of(seconds{2}, seconds{10}, 1, 7)};
  const Outcome run = simulate(cluster({node(1)}), workload, with_replicas(1));
  EXPECT_EQ(run.record.jobs[0].finish, seconds{10});
  EXPECT_EQ(run.record.jobs[2].first_start, seconds{10});
  EXPECT_EQ(run.record.jobs[1].first_start, seconds{20});
}

TEST(KubeDefaultQueue, ASmallPodOvertakesOneThatDoesNotFit) {
  Scene scene(cluster({node(2)}));
  scene.resident(pod(), {0});
  scene.waits(pod(2));
  scene.waits(pod(1));
  EXPECT_EQ(starts(scene.pass(with_replicas(1))), (Starts{{2, {1}}}));
}

TEST(KubeDefaultQueue, BackOffDoublesUpToTenSecondsToTheNanosecond) {
  // The victim (job 1) arrives while job 0 holds the only GPU. At the end of each back-off another job
  // holds it, which arrived while the GPU was free.
  const Time come = seconds{1} + nanoseconds{7};
  OwnedWorkload workload;
  workload.jobs = {spec_of(seconds{0}, milliseconds{1400}), spec_of(come, seconds{1})};
  for (const auto& [at, work] : {std::pair{1500, 1000}, std::pair{3000, 1500}, std::pair{7900, 500},
                                 std::pair{15500, 1000}, std::pair{25500, 1000}}) {
    workload.jobs.push_back(spec_of(milliseconds{at}, milliseconds{work}));
  }
  const auto victim_starts = [&](std::size_t others) {
    KubeOptions options = with_replicas(1);
    options.backoff_poll = Duration::zero();
    OwnedWorkload some = workload;
    some.jobs.resize(2 + others);
    const Outcome run = simulate(cluster({node(1)}), some, options);
    for (std::size_t j = 2; j < some.jobs.size(); ++j) {
      EXPECT_EQ(run.record.jobs[j].first_start, some.jobs[j].submit);
    }
    return *run.record.jobs[1].first_start;
  };
  EXPECT_EQ(victim_starts(0), come + seconds{1});
  EXPECT_EQ(victim_starts(1), come + seconds{1 + 2});
  EXPECT_EQ(victim_starts(2), come + seconds{1 + 2 + 4});
  EXPECT_EQ(victim_starts(3), come + seconds{1 + 2 + 4 + 8});
  EXPECT_EQ(victim_starts(4), come + seconds{1 + 2 + 4 + 8 + 10});
  EXPECT_EQ(victim_starts(5), come + seconds{1 + 2 + 4 + 8 + 10 + 10});
}

TEST(KubeDefaultQueue, TheBackOffQueueIsLookedAtEverySecond) {
  // The back-off of 1 s ends 7 ns after the poll at 2 s: job 1 starts at 3 s. With a back-off that ends at
  // the poll at 2 s it starts then.
  OwnedWorkload workload;
  workload.jobs = {spec_of(seconds{0}, milliseconds{1400}),
                   spec_of(seconds{1} + nanoseconds{7}, seconds{1})};
  EXPECT_EQ(simulate(cluster({node(1)}), workload, with_replicas(1)).record.jobs[1].first_start,
            seconds{3});
  workload.jobs[1].submit = seconds{1};
  EXPECT_EQ(simulate(cluster({node(1)}), workload, with_replicas(1)).record.jobs[1].first_start,
            seconds{2});
  // Only that queue is polled: a pod whose back-off is over starts at the departure itself.
  workload.jobs[0].work = milliseconds{2600};
  workload.jobs[1].submit = seconds{1} + nanoseconds{7};
  EXPECT_EQ(simulate(cluster({node(1)}), workload, with_replicas(1)).record.jobs[1].first_start,
            milliseconds{2600});
}

TEST(KubeDefaultQueue, AfterItsBackOffAPodStartsAtTheDeparture) {
  OwnedWorkload workload;
  workload.jobs = {spec_of(seconds{0}, seconds{5}), spec_of(seconds{1}, seconds{1})};
  const Outcome run = simulate(cluster({node(1)}), workload, with_replicas(1));
  EXPECT_EQ(run.record.jobs[1].first_start, seconds{5});
  EXPECT_EQ(run.passes, 3U);  // arrival, arrival, departure: no wake-up was requested
}

TEST(KubeDefaultQueue, ADepartureAtTheEndOfTheBackOffStartsThePod) {
  OwnedWorkload workload;
  workload.jobs = {spec_of(seconds{0}, seconds{2}), spec_of(seconds{1}, seconds{1})};
  const Outcome run = simulate(cluster({node(1)}), workload, with_replicas(1));
  EXPECT_EQ(run.record.jobs[1].first_start, seconds{2});
}

TEST(KubeDefaultQueue, OneWakeUpForOneTime) {
  // Two pods of different kinds back off until 2 s; before that there are three departures.
  OwnedWorkload workload;
  workload.jobs = {spec_of(seconds{0}, milliseconds{1200}), spec_of(seconds{0}, milliseconds{1300}),
                   spec_of(seconds{0}, milliseconds{1400}),
                   spec_of(seconds{1}, seconds{1}, 1, 0, {100, 0}),
                   spec_of(seconds{1}, seconds{1}, 1, 0, {200, 0})};
  const Outcome run = simulate(cluster({node(3)}), workload, with_replicas(1));
  EXPECT_EQ(run.record.jobs[3].first_start, seconds{2});
  EXPECT_EQ(run.record.jobs[4].first_start, seconds{2});
  EXPECT_EQ(run.passes, 6U);  // two arrivals, three departures, one wake-up
}

TEST(KubeDefaultQueue, AJobThatRanOutOfMemoryIsANewPod) {
  OwnedWorkload workload;
  workload.jobs = {spec_of(seconds{0}, seconds{20}), spec_of(seconds{0}, seconds{1})};
  workload.jobs[0].profile.mem_used_mib = 10000;
  workload.jobs[1].profile.mem_used_mib = 10000;
  ClusterSpec spec = cluster({node(1)});
  spec.oom.ramp = seconds{2};
  KubeDefault policy(with_replicas(2), 1);
  const Outcome run = simulate(spec, workload, policy, {});
  EXPECT_EQ(run.record.jobs[1].ooms, 4);  // at once each time: no back-off
  EXPECT_EQ(run.record.jobs[1].finish, seconds{8});
}

// ---- Filter ------------------------------------------------------------------------------------

TEST(KubeDefaultFilter, Cpu) {
  // LeastAllocated prefers node 0, 49 (nearly all its memory is free) to 0; it lacks 1 milliCPU.
  Scene scene(cluster({node(1, 1000, 1000000), node(1, 600, 1000)}));
  scene.resident(pod(1, 401, 1), {0});
  scene.waits(pod(1, 600, 1000));
  EXPECT_EQ(starts(scene.pass(with_scoring(1, 0))), (Starts{{1, {1}}}));
}

TEST(KubeDefaultFilter, CpuMayBeUsedToTheLast) {
  Scene scene(cluster({node(1, 1000, 1000)}));
  scene.resident(pod(1, 400, 0), {0});
  scene.waits(pod(1, 600, 0));
  EXPECT_EQ(starts(scene.pass(KubeOptions{})), (Starts{{1, {0}}}));
}

TEST(KubeDefaultFilter, Memory) {
  // The same with memory.
  Scene scene(cluster({node(1, 1000000, 1000), node(1, 600, 600)}));
  scene.resident(pod(1, 1, 401), {0});
  scene.waits(pod(1, 600, 600));
  EXPECT_EQ(starts(scene.pass(with_scoring(1, 0))), (Starts{{1, {1}}}));
}

TEST(KubeDefaultFilter, WhatIsNotAskedForIsNotChecked) {
  // The default count of a missing request is larger than these nodes, but it is no request.
  Scene scene(cluster({node(1, 10, 10)}));
  scene.waits(pod());
  EXPECT_EQ(starts(scene.pass(KubeOptions{})), (Starts{{0, {0}}}));
}

TEST(KubeDefaultFilter, GpuReplicas) {
  for (int replicas = 1; replicas <= 4; ++replicas) {
    Scene scene(cluster({node(1), node(1)}));
    for (int j = 0; j < 10; ++j) scene.waits(pod());
    EXPECT_EQ(scene.pass(with_replicas(replicas)).size(), 2U * static_cast<unsigned>(replicas));
  }
}

TEST(KubeDefaultFilter, AProfilingGpuTakesNoCoRunners) {
  Scene scene(cluster({node(2)}));
  scene.resident(pod(), {0}, true);
  for (int j = 0; j < 3; ++j) scene.waits(pod());
  EXPECT_EQ(starts(scene.pass(KubeOptions{})), (Starts{{1, {1}}, {2, {1}}}));
}

TEST(KubeDefaultFilter, AGangIsOnePodOnOneNode) {
  // Four GPUs are free, only node 1 has three of them; the gang's cpu counts once.
  Scene scene(cluster({node(1), node(3, 1000)}));
  scene.waits(pod(3, 600, 0));
  EXPECT_EQ(starts(scene.pass(with_replicas(1))), (Starts{{0, {1, 2, 3}}}));

  Scene next(cluster({node(3, 1000)}));
  next.resident(pod(3, 600, 0), {0, 1, 2});
  next.waits(pod(1, 401, 0));
  next.waits(pod(1, 400, 0));
  EXPECT_EQ(starts(next.pass(KubeOptions{})), (Starts{{2, {0}}}));
}

TEST(KubeDefaultFilter, AGangNeedsDistinctGpus) {
  Scene scene(cluster({node(2)}));
  scene.resident(pod(), {0});
  scene.resident(pod(), {0});
  scene.waits(pod(2));
  EXPECT_TRUE(scene.pass(with_replicas(2)).empty());
}

TEST(KubeDefaultFilter, AGangLargerThanEveryNodeIsReported) {
  OwnedWorkload workload;
  workload.jobs = {spec_of(seconds{0}, seconds{30}), spec_of(seconds{1}, seconds{1}, 2)};
  const auto error = rule_broken([&] {
    simulate(cluster({node(1), node(1)}), workload, KubeOptions{});
  });
  EXPECT_NE(error.find("'progress'"), std::string::npos) << error;
}

TEST(KubeDefaultFilter, TheClusterBoundsTheReplicas) {
  ClusterSpec spec = cluster({node(1)});
  OwnedWorkload workload;
  workload.jobs.assign(3, spec_of(seconds{0}, seconds{30}));
  for (const int most : {1, 2, 3}) {
    spec.max_jobs_per_gpu = most;
    const Outcome bounded = simulate(spec, workload, with_replicas(3));
    spec.max_jobs_per_gpu.reset();
    const Outcome fewer = simulate(spec, workload, with_replicas(most));
    EXPECT_EQ(bounded.log, fewer.log) << most;
  }
}

// ---- Devices -----------------------------------------------------------------------------------

TEST(KubeDefaultDevices, LeastSharedFirstThenLowestIndex) {
  Scene scene(cluster({node(3)}));
  scene.resident(pod(), {0});
  for (int j = 0; j < 8; ++j) scene.waits(pod());
  EXPECT_EQ(
      starts(scene.pass(with_replicas(3))),
      (Starts{{1, {1}}, {2, {2}}, {3, {0}}, {4, {1}}, {5, {2}}, {6, {0}}, {7, {1}}, {8, {2}}}));
}

TEST(KubeDefaultDevices, AGangTakesTheLeastShared) {
  Scene scene(cluster({node(4)}));
  scene.resident(pod(), {0});
  scene.resident(pod(), {2});
  scene.waits(pod(2));
  scene.waits(pod(3));
  EXPECT_EQ(starts(scene.pass(with_replicas(3))), (Starts{{2, {1, 3}}, {3, {0, 1, 2}}}));
}

TEST(KubeDefaultDevices, JoinsARunningJobWhateverControlStartSays) {
  OwnedWorkload workload;
  workload.jobs = {spec_of(seconds{0}, seconds{4}), spec_of(seconds{2}, seconds{4})};
  const Outcome run = simulate(cluster({node(1)}), workload, KubeOptions{});
  EXPECT_EQ(run.record.jobs[1].first_start, seconds{2});
  EXPECT_EQ(run.record.jobs[0].finish, seconds{6});  // 2 s alone, then 2 s of work at half speed
  EXPECT_EQ(run.record.jobs[1].finish, seconds{8});
}

// ---- Choice among nodes ------------------------------------------------------------------------

TEST(KubeDefaultChoice, TiesAreUniform) {
  constexpr int kSeeds = 4000;
  std::array<int, 4> first{};
  std::array<int, 4> second{};
  for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
    // Large nodes: one pod in default size does not move the integer scores.
    Scene scene(cluster(std::vector<NodeSpec>(4, node(1, 100000000, 200000000))));
    scene.waits(pod());
    scene.waits(pod());
    const auto started = starts(scene.pass(KubeOptions{}, seed));
    ++first[started[0].second[0]];
    ++second[started[1].second[0]];
  }
  // 5 standard deviations of a binomial with n = 4000, p = 1/4: 137
  for (std::size_t n = 0; n < 4; ++n) {
    EXPECT_NEAR(first[n], kSeeds * 0.25, 137);
    EXPECT_NEAR(second[n], kSeeds * 0.25, 137);
  }
}

TEST(KubeDefaultChoice, NodesToFindAsUpstream) {
  EXPECT_EQ(kube_nodes_to_find(10, 0), 10U);
  EXPECT_EQ(kube_nodes_to_find(10, 40), 10U);
  EXPECT_EQ(kube_nodes_to_find(99, 5), 99U);
  EXPECT_EQ(kube_nodes_to_find(100, 0), 100U);
  EXPECT_EQ(kube_nodes_to_find(150, 0), 100U);
  EXPECT_EQ(kube_nodes_to_find(250, 0), 120U);
  EXPECT_EQ(kube_nodes_to_find(1000, 0), 420U);
  EXPECT_EQ(kube_nodes_to_find(1000, 40), 400U);
  EXPECT_EQ(kube_nodes_to_find(1000, 5), 100U);
  EXPECT_EQ(kube_nodes_to_find(1000, 100), 1000U);
  EXPECT_EQ(kube_nodes_to_find(6000, 0), 300U);
  EXPECT_EQ(kube_nodes_to_find(6000, 40), 2400U);
}

TEST(KubeDefaultChoice, OnAThousandNodesOnlyAShareIsScored) {
  // Node 500 is the best by far. 420 nodes are scored at a time: the first pod does not see it.
  std::vector<NodeSpec> nodes(1000, node(1, 1000, 1000));
  nodes[500] = node(1, 1000000, 1000000);
  const auto place = [&](int percentage, std::uint64_t seed) {
    KubeOptions options;
    options.percentage_of_nodes_to_score = percentage;
    Scene scene(cluster(nodes));
    for (int j = 0; j < 3; ++j) scene.waits(pod(1, 100, 100));
    return starts(scene.pass(options, seed));
  };
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    const auto sampled = place(0, seed);
    EXPECT_LT(sampled[0].second[0], 420U);  // nodes 0..419
    EXPECT_EQ(sampled[1].second[0], 500U);  // nodes 420..839
    const std::uint32_t third = sampled[2].second[0];
    EXPECT_TRUE(third >= 840 || third < 260) << third;  // nodes 840..999, 0..259
    const auto all = place(100, seed);
    EXPECT_EQ(all[0].second[0], 500U);
    EXPECT_EQ(all[1].second[0], 500U);
  }
}

TEST(KubeDefaultChoice, InfeasibleNodesDoNotCountTowardsTheShare) {
  // The first 300 nodes are full: 420 feasible ones are 300..719, and the best is 719, not 720.
  std::vector<NodeSpec> nodes(1000, node(1, 1000, 1000));
  for (std::size_t n = 0; n < 300; ++n) nodes[n].cpu_milli = 10;
  nodes[719] = node(1, 5000, 5000);
  nodes[720] = node(1, 1000000, 1000000);
  Scene scene(cluster(nodes));
  scene.waits(pod(1, 100, 100));
  EXPECT_EQ(starts(scene.pass(KubeOptions{})), (Starts{{0, {719}}}));
}

// ---- The whole policy --------------------------------------------------------------------------

/// The same rules pod by pod, without the data structures that make the policy fast.
class PlainKube final : public Policy {
 public:
  PlainKube(const KubeOptions& options, std::uint64_t seed) : options_(options), seed_(seed) {}

  void decide(const ClusterView& view, std::vector<Decision>& out) override {
    const Time now = view.now();
    for (const JobId id : view.waiting().subspan(pods_.size())) {
      pods_.push_back({id, now, 0, Where::kActive});
    }
    for (Pod& p : pods_) {
      const bool backs_off = p.attempts > 0 && p.failed + backoff(p.attempts) > now;
      if (p.where == Where::kUnschedulable && view.departures() != departures_) {
        p.where = backs_off ? Where::kBackoff : Where::kActive;
      }
      if (p.where == Where::kBackoff && release(p) <= now) p.where = Where::kActive;
    }
    departures_ = view.departures();
    // One start per call; a pod that does not fit now does not fit later in this instant either.
    for (;;) {
      Pod* next = nullptr;
      for (Pod& p : pods_) {
        if (p.where == Where::kActive && (next == nullptr || before(view, p, *next))) next = &p;
      }
      if (next == nullptr) break;
      if (place(view, view.job(next->id), out)) {
        pods_.erase(pods_.begin() + (next - pods_.data()));
        return;
      }
      next->where = Where::kUnschedulable;
      next->failed = now;
      ++next->attempts;
    }
    for (const Pod& p : pods_) {
      if (p.where == Where::kBackoff) out.emplace_back(WakeAt{release(p)});
    }
  }

 private:
  enum class Where { kActive, kBackoff, kUnschedulable };
  struct Pod {
    JobId id;
    Time failed;
    int attempts;
    Where where;
  };

  Duration backoff(int attempts) const {
    Duration d = options_.backoff_initial;
    for (int i = 1; i < attempts; ++i) d = std::min(2 * d, options_.backoff_max);
    return d;
  }
  Time release(const Pod& p) const {
    return round_up(p.failed + backoff(p.attempts), options_.backoff_poll);
  }
  static bool before(const ClusterView& view, const Pod& a, const Pod& b) {
    const int pa = view.job(a.id).priority;
    const int pb = view.job(b.id).priority;
    return pa != pb ? pa > pb : a.failed < b.failed;
  }
  bool place(const ClusterView& view, const JobView& job, std::vector<Decision>& out) {
    const auto& nodes = view.cluster().nodes;
    std::vector<std::vector<std::pair<std::size_t, GpuId>>> open(nodes.size());
    std::vector<std::vector<JobId>> pods(nodes.size());
    for (std::size_t g = 0; g < view.gpus().size(); ++g) {
      const GpuState& gpu = view.gpus()[g];
      auto& here = pods[index(gpu.node)];
      here.insert(here.end(), gpu.residents.begin(), gpu.residents.end());
      if (gpu.residents.size() < static_cast<std::size_t>(options_.replicas)) {
        open[index(gpu.node)].push_back(
            {gpu.residents.size(), GpuId{static_cast<std::uint32_t>(g)}});
      }
    }
    std::vector<std::size_t> best;
    std::int64_t top = -1;
    for (std::size_t n = 0; n < nodes.size(); ++n) {
      std::sort(pods[n].begin(), pods[n].end());
      pods[n].erase(std::unique(pods[n].begin(), pods[n].end()), pods[n].end());
      pods[n].push_back(job.id);
      ResourceRequest asked;
      ResourceRequest scored;
      for (const JobId j : pods[n]) {
        const ResourceRequest& r = view.job(j).request;
        asked = {asked.cpu_milli + r.cpu_milli, asked.memory_mib + r.memory_mib};
        scored.cpu_milli += r.cpu_milli == 0 ? 100 : r.cpu_milli;
        scored.memory_mib += r.memory_mib == 0 ? 200 : r.memory_mib;
      }
      if (!may_run_on(job, nodes[n].gpu) || open[n].size() < static_cast<std::size_t>(job.gpus) ||
          asked.cpu_milli > nodes[n].cpu_milli || asked.memory_mib > nodes[n].memory_mib) {
        continue;
      }
      const std::int64_t score =
          kube_least_allocated(scored, nodes[n]) + kube_balanced_allocation(asked, nodes[n]);
      if (score > top) best.clear();
      if (score >= top) best.push_back(n);
      top = std::max(top, score);
    }
    if (best.empty()) return false;
    Rng rng(seed_, Stream::kKubeTie, cycle_++);
    auto& gpus = open[best[rng.below(static_cast<std::uint32_t>(best.size()))]];
    std::sort(gpus.begin(), gpus.end());
    std::vector<GpuId> taken;
    taken.reserve(gpus.size());
    for (int i = 0; i < job.gpus; ++i) taken.push_back(gpus[static_cast<std::size_t>(i)].second);
    std::sort(taken.begin(), taken.end());
    out.emplace_back(StartGroup{{job.id}, taken});
    return true;
  }

  KubeOptions options_;
  std::uint64_t seed_;
  std::vector<Pod> pods_;  ///< in the order of the queue
  std::size_t departures_ = 0;
  std::uint64_t cycle_ = 0;
};

OwnedWorkload random_workload(std::uint64_t seed, std::size_t jobs, bool burst) {
  Rng rng(seed, Stream::kTest);
  OwnedWorkload workload;
  Time at{0};
  for (std::size_t j = 0; j < jobs; ++j) {
    if (!burst || j % 10 == 0) at += Duration{rng.below(3000000000U)};
    JobSpec job =
        spec_of(at, Duration{1 + rng.below(4000000000U)} * 3, 1 << rng.below(3),
                static_cast<int>(rng.below(3)), {rng.below(4) * 2000, rng.below(4) * 4096});
    if (rng.below(2) == 0) job.profile.mem_used_mib = 1000 + rng.below(12000);
    workload.jobs.push_back(job);
  }
  return workload;
}

const ClusterSpec& mixed_cluster() {
  static const ClusterSpec spec =
      cluster({node(4, 16000, 32768), node(4, 24000, 24576), node(2, 8000, 65536), node(1)});
  return spec;
}

TEST(KubeDefault, DecidesAsThePlainPolicyDoes) {
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    KubeOptions options = with_replicas(1 + static_cast<int>(seed % 3));
    if (seed % 5 == 0) options.backoff_initial = seconds{3};
    if (seed % 4 < 2) options.backoff_poll = Duration::zero();
    OwnedWorkload workload = random_workload(seed, 200, seed % 2 == 0);
    ClusterSpec cluster = mixed_cluster();
    if (seed % 3 == 0) {  // each type has a node of 4
      for (std::size_t n = 0; n < cluster.nodes.size(); ++n) {
        cluster.nodes[n].gpu.id = static_cast<std::uint32_t>(n % 2);
      }
      Rng rng(seed, Stream::kTest, 2);
      for (JobSpec& job : workload.jobs) job.gpu_models = rng.below(4);
    }
    PlainKube plain(options, seed);
    const Outcome expected = simulate(cluster, workload, plain);
    const Outcome got = simulate(cluster, workload, options, seed);
    ASSERT_EQ(got.log, expected.log) << "seed " << seed;
  }
}

TEST(KubeDefault, SameSeedSameDecisionsOtherSeedOthers) {
  const OwnedWorkload workload = random_workload(5, 300, true);
  const Outcome a = simulate(mixed_cluster(), workload, KubeOptions{}, 1);
  const Outcome b = simulate(mixed_cluster(), workload, KubeOptions{}, 1);
  const ClusterSpec twins = cluster(std::vector<NodeSpec>(4, node(4)));
  EXPECT_EQ(a.log, b.log);
  EXPECT_NE(simulate(twins, workload, KubeOptions{}, 1).log,
            simulate(twins, workload, KubeOptions{}, 2).log);
}

TEST(KubeDefault, NamesDoNotMatter) {
  const OwnedWorkload workload = random_workload(6, 300, true);
  std::vector<std::uint32_t> renamed(workload.jobs.size());
  std::iota(renamed.begin(), renamed.end(), 0U);
  Rng rng(6, Stream::kTest, 1);
  rng.shuffle(std::span(renamed));
  OwnedWorkload other;
  other.jobs.resize(workload.jobs.size());
  for (std::size_t j = 0; j < renamed.size(); ++j) {
    other.jobs[renamed[j]] = workload.jobs[j];
    other.arrivals.push_back(JobId{renamed[j]});  // workload arrives in the order of its jobs
  }
  const auto all_starts = [](const Outcome& run, const std::function<std::uint32_t(JobId)>& name) {
    std::vector<std::tuple<Time, std::uint32_t, std::vector<GpuId>>> list;
    for (const LogEntry& e : run.log) {
      if (e.kind == LogKind::kStart) list.emplace_back(e.at, name(e.job), e.gpus);
    }
    return list;
  };
  EXPECT_EQ(all_starts(simulate(mixed_cluster(), workload, KubeOptions{}),
                       [&](JobId j) { return renamed[index(j)]; }),
            all_starts(simulate(mixed_cluster(), other, KubeOptions{}),
                       [](JobId j) { return static_cast<std::uint32_t>(j); }));
}

TEST(KubeDefault, CatalogueEntryMakesThePolicyFromItsParameters) {
  const PolicyEntry& entry = *find_policy("kube-default");
  EXPECT_EQ(entry.name, "kube-default");
  EXPECT_EQ(entry.needs, PolicyNeeds::kNothing);
  EXPECT_TRUE(entry.traits.always_colocates);
  const auto placed = [&](std::optional<std::int64_t> replicas) {
    PolicyContext context{Parameters(entry.parameters), nullptr, 1, false};
    if (replicas) context.parameters.set("replicas", *replicas);
    const auto policy = entry.make(std::move(context));
    EXPECT_EQ(policy->belief(), nullptr);
    Scene scene(cluster({node(1)}));
    for (int j = 0; j < 9; ++j) scene.waits(pod());
    return scene.pass(dynamic_cast<KubeDefault&>(*policy)).size();
  };
  EXPECT_EQ(placed({}), 2U);
  EXPECT_EQ(placed(5), 5U);

  // A maximal back-off below the initial one counts as the initial one.
  PolicyContext context{Parameters(entry.parameters), nullptr, 1, false};
  context.parameters.set("backoff_max_s", 0.5);
  EXPECT_NO_THROW(entry.make(std::move(context)));
}

}  // namespace
}  // namespace corun::kube_default_test
