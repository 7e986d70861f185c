#include <algorithm>
#include <array>
#include <map>
#include <string_view>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "policies/catalog.hpp"
#include "policies/placement.hpp"
#include "sim/engine/round_backend.hpp"
#include "sim/error.hpp"
#include "sim/records/metrics.hpp"
#include "tests/helpers/scenarios.hpp"

/// Jobs whose speed and memory differ between GPU types: results computed by hand.
namespace corun::test::gpu_types_test {
namespace {

/// Speed and memory by job and type; job and type of no entry: speed 1, the memory of the profile.
class Speeds final : public JobsOnTypes {
 public:
  struct Entry {
    double speed = 1;
    std::optional<double> memory_mib = {};
    SoloSource source = SoloSource::kMeasured;
  };
  using Table = std::map<std::pair<std::uint32_t, std::uint32_t>, Entry>;
  explicit Speeds(Table table) : table_(std::move(table)) {}

  Alone alone(JobId job, const GpuType& type, std::optional<std::uint64_t>) const override {
    const Entry entry = find(job, type);
    return {entry.speed, entry.source};
  }
  std::optional<double> memory_mib(JobId job, const GpuType& type) const override {
    return find(job, type).memory_mib;
  }

 private:
  Entry find(JobId job, const GpuType& type) const {
    const auto at = table_.find({static_cast<std::uint32_t>(index(job)), type.id});
    return at == table_.end() ? Entry{1, {}, SoloSource::kReference} : at->second;
  }
  Table table_;
};

/// Co-runners do not disturb each other, or each runs at half speed on type 1.
class TypedWorld final : public World {
 public:
  explicit TypedWorld(Speeds::Table table, bool halves = false)
      : speeds_(std::move(table)), halves_(halves) {}
  Provenance speeds(const CoRunners& co_runners, std::optional<std::uint64_t>,
                    std::span<double> out) const override {
    std::ranges::fill(out, halves_ && co_runners.gpu_type == 1 ? 0.5 : 1.0);
    return halves_ && co_runners.gpu_type == 1 ? Provenance::kExtrapolated : Provenance::kMeasured;
  }
  const JobsOnTypes* on_types() const override { return &speeds_; }

 private:
  Speeds speeds_;
  bool halves_;
};

/// Nodes of these numbers of GPUs, the n-th of type n.
ClusterSpec typed(std::vector<int> gpus, std::vector<double> memory_mib = {}) {
  std::vector<NodeSpec> nodes;
  for (std::uint32_t t = 0; t < gpus.size(); ++t) {
    NodeSpec n = node(gpus[t], 1, memory_mib.empty() ? 16384 : memory_mib[t]);
    n.gpu.name = "type" + std::to_string(t);
    n.gpu.id = t;
    nodes.push_back(n);
  }
  return cluster(std::move(nodes));
}

RunResult simulate(std::string_view policy, const ClusterSpec& spec, std::vector<JobSpec> jobs,
                   const World& world, std::map<std::string, ParameterValue> values = {},
                   RunOptions options = {}) {
  const PolicyEntry& entry = *find_policy(policy);
  Parameters parameters(entry.parameters);
  for (auto& [name, value] : values) parameters.set(name, value);
  options.traits = entry.traits_for(parameters);
  options.name = policy;
  const OwnedWorkload w = workload(std::move(jobs));
  const auto p = make_policy(entry, w, world, 1, parameters);
  return run(spec, w, world, *p, options);
}

TEST(GpuTypes, OneJobOnEachType) {
  // 100 s of work at speeds 1, 0.25 and 2.
  const TypedWorld world({{{1, 1}, {0.25}}, {{2, 2}, {2}}});
  const RunResult r = simulate("fifo", typed({1, 1, 1}),
                               {job(seconds(100)), job(seconds(100)), job(seconds(100))}, world);
  const std::vector<std::int64_t> solo{100, 400, 50};
  for (std::uint32_t j = 0; j < 3; ++j) {
    const JobRecord& record = r.record.jobs[j];
    EXPECT_EQ(record.gpu, GpuId{j});
    EXPECT_EQ(record.finish, seconds(solo[j]));
    EXPECT_EQ(record.solo, seconds(solo[j])) << "J_a is that of the type it ran on";
    EXPECT_EQ(record.reference_solo, seconds(100));
    EXPECT_EQ(record.isd(), 0);
    EXPECT_DOUBLE_EQ(record.isd_reference(), static_cast<double>(solo[j]) / 100 - 1);
  }
  EXPECT_DOUBLE_EQ(r.record.usage.solo_s[static_cast<std::size_t>(SoloSource::kReference)], 100);
  EXPECT_DOUBLE_EQ(r.record.usage.solo_s[static_cast<std::size_t>(SoloSource::kMeasured)], 450);
}

TEST(GpuTypes, AQueueOnTwoTypes) {
  // The fast GPU 0 takes a job each 10 s, the slow GPU 1 each 40 s.
  Speeds::Table slow;
  std::vector<JobSpec> jobs;
  for (std::uint32_t j = 0; j < 6; ++j) {
    slow[{j, 1}] = {0.25};
    jobs.push_back(job(seconds(10)));
  }
  const RunResult r = simulate("fifo", typed({1, 1}), jobs, TypedWorld(slow));
  const std::vector<std::int64_t> finish{10, 40, 20, 30, 40, 50};
  for (std::size_t j = 0; j < jobs.size(); ++j) {
    EXPECT_EQ(r.record.jobs[j].finish, seconds(finish[j])) << j;
  }
}

TEST(GpuTypes, AGangAcrossTypesRunsAtTheSlowest) {
  const TypedWorld world({{{0, 0}, {2}}, {{0, 1}, {0.5}}});
  const RunResult r = simulate("fifo", typed({1, 1}), {job(seconds(10)).gpus(2)}, world);
  EXPECT_EQ(r.record.jobs[0].finish, seconds(20));
  EXPECT_EQ(r.record.jobs[0].solo, seconds(20));
  EXPECT_EQ(to_seconds(r.record.usage.busy), 40);
}

TEST(GpuTypes, ASharedGangWaitsForItsSlowestGpu) {
  // Together the two gangs run at speed min(2, 0.5 * 0.5) for 40 s.
  const TypedWorld world({{{0, 0}, {2}}, {{1, 0}, {2}}, {{0, 1}, {0.5}}, {{1, 1}, {0.5}}}, true);
  const RunResult r =
      simulate("fcfs", typed({1, 1}), {job(seconds(10)).gpus(2), job(seconds(10)).gpus(2)}, world);
  for (const JobRecord& record : r.record.jobs) {
    EXPECT_EQ(record.finish, seconds(40));
    EXPECT_DOUBLE_EQ(record.isd(), 1);  // 20 s alone
  }
  EXPECT_DOUBLE_EQ(r.record.usage.corun_s[static_cast<std::size_t>(Provenance::kExtrapolated)], 40);
  EXPECT_DOUBLE_EQ(r.record.usage.corun_s[static_cast<std::size_t>(Provenance::kMeasured)], 40);
}

/// The example of docs/design.md 4.16: the jobs start together on the second type, a T4.
TEST(GpuTypes, TheExampleOfTheDesign) {
  class Example final : public World {
   public:
    Provenance speeds(const CoRunners&, std::optional<std::uint64_t>,
                      std::span<double> out) const override {
      std::ranges::fill(out, 0.8);
      return Provenance::kMeasured;
    }
    const JobsOnTypes* on_types() const override { return &speeds_; }

   private:
    Speeds speeds_{{{{0, 1}, {100.0 / 250}}, {{1, 1}, {100.0 / 250}}}};
  };
  const RunResult r = simulate(
      "fcfs", typed({1, 1}), {job(seconds(100)).models(2), job(seconds(100)).models(2)}, Example());
  for (const JobRecord& record : r.record.jobs) {
    EXPECT_EQ(record.corun(), milliseconds(312'500));
    EXPECT_EQ(record.solo, seconds(250));
    EXPECT_DOUBLE_EQ(record.isd(), 0.25);
    EXPECT_DOUBLE_EQ(record.isd_reference(), 2.125);
  }
  ASSERT_EQ(r.record.episodes.size(), 1U);
  EXPECT_DOUBLE_EQ(*r.record.episodes[0].ps(), 0.375);
  EXPECT_DOUBLE_EQ(at(compute_metrics(r.record), Metric::kStretch), 3.125);
}

TEST(GpuTypes, RoundsTakeTheSpeedOfTheType) {
  const TypedWorld world({{{1, 1}, {0.5}}});
  const OwnedWorkload w = workload({job(seconds(10)), job(seconds(10))});
  const ClusterSpec spec = typed({1, 1});
  RoundBackend backend(spec, w, world, {seconds(5)});
  const PolicyEntry& entry = *find_policy("fifo");
  const auto policy = make_policy(entry, w, world, 1);
  ControlLoop(backend, {*policy, "fifo", entry.traits_for(Parameters(entry.parameters))},
              job_views(w), {})
      .run();
  const RunRecord r = backend.take_record();
  EXPECT_EQ(r.jobs[0].finish, seconds(10));
  EXPECT_EQ(r.jobs[1].finish, seconds(20));
  EXPECT_EQ(r.jobs[1].solo, seconds(20));
  EXPECT_EQ(r.jobs[1].reference_solo, seconds(10));
  EXPECT_DOUBLE_EQ(r.usage.solo_s[static_cast<std::size_t>(SoloSource::kMeasured)], 20);
}

TEST(GpuTypes, MemoryIsThatOfTheType) {
  // Job 1 needs 600 MiB on type 0 and 1,200 on type 1, of 1,000 each.
  const TypedWorld world({{{0, 0}, {1, 600.0}}, {{1, 0}, {1, 600.0}}, {{1, 1}, {1, 1200.0}}});
  ClusterSpec spec = typed({1, 1}, {1000, 1000});
  spec.oom = {seconds(5), 4};
  const RunResult r = simulate("fifo", spec, {job(seconds(20)), job(seconds(10))}, world);
  EXPECT_EQ(r.record.jobs[1].ooms, 4) << "on GPU 1 at 0, 5, 10 and 15 s";
  EXPECT_EQ(r.record.jobs[1].finish, seconds(30)) << "on GPU 0 at last";
}

TEST(GpuTypes, PreemptedWorkIsCountedOnEachType) {
  // Job 0 does 15 of its 60 s on the slow GPU 1 (30 s at 0.5), the rest on GPU 0.
  const TypedWorld world({{{0, 1}, {0.5}}, {{1, 1}, {0.5}}});
  const RunResult r =
      simulate("srtf", typed({1, 1}),
               {job(seconds(60)).models(2), job(seconds(5)).at(seconds(30)).models(2)}, world);
  EXPECT_EQ(r.record.jobs[1].finish, seconds(40));
  EXPECT_EQ(r.record.jobs[0].preemptions, 1);
  EXPECT_EQ(r.record.jobs[0].finish, seconds(130)) << "45 s of work at half speed from 40 s on";
  EXPECT_EQ(r.record.jobs[0].solo, seconds(120));
  EXPECT_EQ(r.record.jobs[0].reference_solo, seconds(60));
}

/// Speeds that do not depend on the GPU type.
class Typeless final : public World {
 public:
  explicit Typeless(std::uint64_t seed) : erratic_(seed) {}
  Provenance speeds(const CoRunners& co_runners, std::optional<std::uint64_t> noise,
                    std::span<double> out) const override {
    CoRunners anywhere = co_runners;
    anywhere.gpu_type = 0;
    return erratic_.speeds(anywhere, noise, out);
  }

 private:
  ErraticWorld erratic_;
};

/// They give shares of each GPU type. With the same GPUs as several types a job has other shares, and the rounds that
/// follow are others; what holds of the shares is tested in policies/shares. Sia gives a job GPUs of one type only.
constexpr std::array<std::string_view, 10> kByType{"sia",
                                                   "max-min",
                                                   "max-min-water-filling",
                                                   "finish-time-fairness",
                                                   "makespan",
                                                   "max-throughput",
                                                   "isolated",
                                                   "allox",
                                                   "gandiva",
                                                   "fifo-by-type"};

TEST(GpuTypes, EqualTypesAreOneType) {
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    Scenario s = random_scenario(seed);
    for (NodeSpec& n : s.cluster.nodes) n.gpu = NodeSpec{}.gpu;
    for (JobSpec& j : s.workload.jobs) j.gpu_models = 0;
    Scenario split = s;
    for (std::uint32_t n = 0; n < split.cluster.nodes.size(); ++n) {
      split.cluster.nodes[n].gpu.id = n;
      split.cluster.nodes[n].gpu.name = "type" + std::to_string(n);
    }
    const Typeless world(seed);
    for (const PolicyEntry& entry : built_in_policies()) {
      if (!can_run(entry, s) || std::ranges::find(kByType, entry.name) != kByType.end()) {
        continue;
      }
      const auto of = [&](const Scenario& scenario) {
        const auto policy = make_policy(entry, scenario.workload, world, scenario.seed,
                                        parameters_for(entry, scenario));
        return run(scenario, world, *policy, entry.traits_for(parameters_for(entry, scenario)));
      };
      const RunResult one = of(s);
      const RunResult several = of(split);
      ASSERT_EQ(one.log.size(), several.log.size()) << entry.name << " " << seed;
      for (std::size_t j = 0; j < one.record.jobs.size(); ++j) {
        EXPECT_EQ(one.record.jobs[j].finish, several.record.jobs[j].finish) << entry.name;
        EXPECT_EQ(one.record.jobs[j].solo, several.record.jobs[j].solo) << entry.name;
        EXPECT_EQ(one.record.jobs[j].gpu, several.record.jobs[j].gpu) << entry.name;
      }
    }
  }
}

TEST(GpuTypes, QueuePoliciesStartJobsOnTheTypesThatTheyName) {
  // Type 1 is free, but job 0 holds type 0, which job 1 names; job 2 behind it names type 1.
  const TypedWorld world({});
  const std::vector<JobSpec> jobs{job(seconds(10)), job(seconds(10)).at(seconds(1)).models(1),
                                  job(seconds(10)).at(seconds(2)).models(2)};
  const RunResult strict = simulate("fifo", typed({1, 1}), jobs, world);
  EXPECT_EQ(strict.record.jobs[1].last_start, seconds(10));
  EXPECT_EQ(strict.record.jobs[1].gpu, GpuId{0});
  EXPECT_EQ(strict.record.jobs[2].last_start, seconds(10)) << "the head of the line blocks";
  const RunResult backfill =
      simulate("fifo", typed({1, 1}), jobs, world, {{"blocking", std::string("backfill")}});
  EXPECT_EQ(backfill.record.jobs[2].last_start, seconds(2));
  EXPECT_EQ(backfill.record.jobs[2].gpu, GpuId{1});
}

TEST(GpuTypes, GroupsOfRestrictedJobsStartOnTheirTypes) {
  const TypedWorld world({});
  for (const char* policy : {"fcfs", "random", "min-slowdown", "exclusive", "kube-default"}) {
    std::vector<JobSpec> jobs;
    for (std::uint32_t j = 0; j < 12; ++j) jobs.push_back(job(seconds(10 + j)).models(j % 4));
    const RunResult r = simulate(policy, typed({1, 1}), jobs, world);
    for (std::uint32_t j = 0; j < jobs.size(); ++j) {
      EXPECT_EQ(r.record.jobs[j].end, JobEnd::kFinished) << policy;
      if (j % 4 == 1 || j % 4 == 2) {
        EXPECT_EQ(r.record.jobs[j].gpu, GpuId{j % 4 - 1}) << policy << " " << j;
      }
    }
  }
}

TEST(GpuTypes, PreemptionTakesOnlyGpusOnWhichTheJobMayRun) {
  // Job 1, the shorter one, starts first, on type 0. Job 2 may run there only: it preempts job 1, though
  // job 0 has more work left; then job 1 preempts job 0.
  const TypedWorld world({});
  const RunResult r = simulate(
      "srtf", typed({1, 1}),
      {job(seconds(1000)), job(seconds(100)), job(seconds(5)).at(seconds(10)).models(1)}, world);
  EXPECT_EQ(r.record.jobs[1].preemptions, 1);
  EXPECT_EQ(r.record.jobs[1].gpu, GpuId{1});
  EXPECT_EQ(r.record.jobs[2].gpu, GpuId{0});
  EXPECT_EQ(r.record.jobs[2].finish, seconds(15));
}

TEST(GpuTypes, FastestTakesTheFastestFreeType) {
  const ClusterSpec spec = typed({2, 1, 2});
  const ClusterState state(spec);
  const std::vector<ViewOnType> on_types{{1, {}}, {3, {}}, {2, {}}};
  JobView view;
  const auto gpus = [&](int gang) {
    view.gpus = gang;
    return fastest(state, state.empty(), view);
  };
  EXPECT_EQ(gpus(1), (std::vector{GpuId{0}})) << "without estimates by type";
  view.on_types = on_types;
  EXPECT_EQ(gpus(1), (std::vector{GpuId{2}}));
  EXPECT_EQ(gpus(2), (std::vector{GpuId{3}, GpuId{4}})) << "type 1 has too few";
  EXPECT_EQ(gpus(3), (std::vector{GpuId{0}, GpuId{1}, GpuId{2}})) << "no type has three";
  view.gpu_models = 3;
  view.gpus = 2;
  const FreeGpus free = of_types(state, state.empty(), view.gpu_models);
  EXPECT_EQ(fastest(state, free, view), (std::vector{GpuId{0}, GpuId{1}}));
  view.gpu_models = 2 | 4;
  view.gpus = 3;
  EXPECT_EQ(fastest(state, of_types(state, state.empty(), view.gpu_models), view).size(), 3U)
      << "type 0 is not counted";
}

TEST(GpuTypes, AStartOnATypeThatAJobDoesNotNameIsRefused) {
  class Wrong final : public Policy {
    void decide(const ClusterView& view, std::vector<Decision>& out) override {
      out.push_back(StartGroup{{view.waiting().front()}, {GpuId{0}}});
    }
  };
  Wrong policy;
  const TypedWorld world({});
  RunOptions options;
  const OwnedWorkload w = workload({job(seconds(10)).models(2)});
  EXPECT_THROW(run(typed({1, 1}), w, world, policy, options), PolicyError);
}

}  // namespace
}  // namespace corun::test::gpu_types_test
