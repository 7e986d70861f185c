#include "experiments/batch_replay.hpp"

#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "experiments/config_yaml.hpp"
#include "experiments/replay.hpp"
#include "sim/error.hpp"
#include "tests/support/batch_cases.hpp"
#include "tests/support/fiber_cuda.hpp"
#include "tests/support/program.hpp"
// After the fibers: its CUDA is theirs.
#include "models/batch/batch_gpu.cuh"

namespace corun {
namespace {

using test::first_difference;
using test::run_corun;

Config configured(const std::vector<std::string>& overrides) {
  return default_config_with(overrides, policy_catalog());
}

ReplayResult replayed(const Experiment& experiment, EngineChoice engine, bool records = true) {
  ReplayOptions options;
  options.threads = 2;
  options.engine = engine;
  options.keep_records = records;
  return replay(experiment, options);
}

/// Everything that a results file is made of.
void expect_same(const ReplayResult& events, const ReplayResult& batch) {
  ASSERT_EQ(events.replications.size(), batch.replications.size());
  for (std::size_t r = 0; r < events.replications.size(); ++r) {
    const Replication& a = events.replications[r];
    const Replication& b = batch.replications[r];
    ASSERT_EQ(a.trace->names, b.trace->names);
    for (std::size_t p = 0; p < a.runs.size(); ++p) {
      const RunRecord& e = a.runs[p].record;
      const RunRecord& f = b.runs[p].record;
      EXPECT_EQ(first_difference(a.runs[p].metrics, b.runs[p].metrics), "") << p << " in " << r;
      EXPECT_EQ(e.passes, f.passes) << p << " in " << r;
      EXPECT_EQ(e.usage.util_s, f.usage.util_s);
      EXPECT_EQ(e.usage.corun_s, f.usage.corun_s);
      EXPECT_EQ(e.gpu_count, f.gpu_count);
      EXPECT_EQ(e.unknown_memory_jobs, f.unknown_memory_jobs);
      ASSERT_EQ(e.jobs.size(), f.jobs.size());
      for (std::size_t j = 0; j < e.jobs.size(); ++j) {
        EXPECT_EQ(e.jobs[j].finish, f.jobs[j].finish);
        EXPECT_EQ(e.jobs[j].gpu, f.jobs[j].gpu);
        EXPECT_EQ(e.jobs[j].group, f.jobs[j].group);
      }
    }
  }
}

constexpr const char* kPlanners =
    "policies=[{name: fcfs}, {name: random}, {name: opposites}, {name: exclusive}]";
constexpr const char* kRecommenders =
    "policies=[{name: fcfs}, {name: random}, {name: opposites}, {name: exclusive}, "
    "{name: balance, epsilon: 0.3}, {name: min-slowdown}, {name: min-slowdown, label: greedy, "
    "pairing: greedy-rank}, {name: max-packing, by: memory}, {name: max-packing, bin_max: 4, "
    "label: "
    "bin}, {name: min-slowdown, explore: thompson, label: thompson}, {name: oracle}]";

TEST(BatchReplay, GivesWhatTheEventEngineGives) {
  const std::vector<std::vector<std::string>> cases{
      {kPlanners},
      {kPlanners, "world.noise=false"},
      {kPlanners, "workload.order=trace"},
      {kPlanners, "cluster.nodes=1"},
      {kPlanners, "cluster.nodes=3", "cluster.gpus_per_node=2", "cluster.gpu_speed=1.7"},
      {kPlanners, "cluster.nodes=40"},
      {"policies=[{name: fcfs}, {name: random}, {name: exclusive}]", "cluster.max_jobs_per_gpu=1"},
      {kRecommenders, "control.plan=once"},
      {kRecommenders, "control.plan=once", "world.noise=false", "cluster.nodes=2"},
      {kRecommenders, "control.plan=once", "cluster.max_jobs_per_gpu=1", "replications=3"},
      {kRecommenders, "control.plan=once", "cluster.max_jobs_per_gpu=3"},
      {kPlanners, "world.model=contention"},
      {kPlanners, "world.model=cluster-mean", "profiling.mode=predictor"},
      {"policies=[{name: min-slowdown}, {name: balance}]", "control.plan=once", "belief.model=gp",
       "belief.known=0.5", "estimates.duration=lognormal", "replications=3"},
      {"policies=[{name: min-slowdown}]", "control.plan=once", "belief.model=truth"},
  };
  for (std::vector<std::string> overrides : cases) {
    SCOPED_TRACE(testing::PrintToString(overrides));
    overrides.insert(overrides.begin(), {"replications=25", "seed=11"});
    const Experiment experiment(configured(overrides), "");
    const ReplayResult batch = replayed(experiment, EngineChoice::kBatch);
    expect_same(replayed(experiment, EngineChoice::kEvents), batch);
    for (const EngineUse& use : batch.engines) EXPECT_TRUE(use.batch);
  }
}

TEST(BatchReplay, WithoutRecordsTheFiguresAreTheSame) {
  const Experiment experiment(configured({kPlanners, "replications=30"}), "");
  const ReplayResult batch = replayed(experiment, EngineChoice::kBatch, false);
  expect_same(replayed(experiment, EngineChoice::kEvents, false), batch);
  EXPECT_TRUE(batch.replications.front().runs.front().record.jobs.empty());
}

TEST(BatchReplay, PoliciesThatDecideAsTheyGoStayWithTheEventEngine) {
  // 24 jobs, at least kBatchFrom replications: two cheap policies.
  const std::string replications = "replications=" + std::to_string(kBatchFrom);
  const std::vector<std::string> overrides{"policies=[{name: kube-default}, {name: fcfs}]",
                                           replications};
  const Experiment experiment(configured(overrides), "");
  const ReplayResult mixed = replayed(experiment, EngineChoice::kAuto, false);
  ASSERT_EQ(mixed.engines.size(), 2U);
  EXPECT_FALSE(mixed.engines[0].batch);
  EXPECT_EQ(mixed.engines[0].reason, "it decides as it goes");
  EXPECT_TRUE(mixed.engines[1].batch);
  EXPECT_EQ(mixed.engines[1].by_events, 0U);
  expect_same(replayed(experiment, EngineChoice::kEvents, false), mixed);
  try {
    replayed(experiment, EngineChoice::kBatch);
    FAIL();
  } catch (const InputError& e) {
    EXPECT_STREQ(
        e.what(),
        "--engine: batch cannot run policy 'kube-default': it decides as it goes; use auto");
  }
}

TEST(BatchReplay, AutoLeavesFewReplicationsAlone) {
  const Experiment few(configured({kPlanners, "replications=999"}), "");
  EXPECT_FALSE(replayed(few, EngineChoice::kAuto, false).engines.front().batch);
}

TEST(BatchReplay, SaysWhyItDoesNotApply) {
  const auto reason = [](const std::vector<std::string>& overrides) {
    std::vector<std::string> all{"policies=[{name: fcfs}]"};
    all.insert(all.end(), overrides.begin(), overrides.end());
    const Experiment experiment(configured(all), "");
    const BatchReplay batch(experiment);
    EXPECT_EQ(batch.applies(), batch.reasons().front().empty());
    return batch.reasons().front();
  };
  EXPECT_EQ(reason({}), "");
  EXPECT_EQ(reason({"control.start=join"}), "control.start is join");
  EXPECT_EQ(reason({"control.mode=rounds", "control.round_s=360"}), "control.mode is rounds");
  EXPECT_EQ(reason({"control.round_s=5"}), "control.round_s is set");
  EXPECT_EQ(reason({"control.reallocate_s=5"}), "control.reallocate_s is set");
  EXPECT_EQ(reason({"control.tick_s=1"}), "control.tick_s is set");
  EXPECT_EQ(reason({"profiling.mode=minute"}), "profiling.mode is minute");
  EXPECT_EQ(reason({"probing.probes=1"}), "probing.probes is set");
  EXPECT_EQ(reason({"measure.skip_first=0.1"}), "measure leaves jobs out");
  EXPECT_EQ(reason({"workload.source=jrs-resampled", "workload.jobs=20"}),
            "the jobs differ from seed to seed");
  EXPECT_EQ(reason({"workload.profiles=jrs"}), "the jobs differ from seed to seed");
  EXPECT_EQ(reason({"workload.source=csv", "workload.path=" CORUN_SOURCE_DIR "/examples/jobs.csv"}),
            "not all jobs are submitted at time 0");
}

/// Jobs of which some pairs do not fit into 1 GiB.
constexpr const char* kLargeJobs =
    "job,submit_s,solo_s,mem_used_mib\n"
    "a,0,100,600\n"
    "b,0,110,500\n"
    "c,0,120,300\n"
    "d,0,130,200\n";

TEST(BatchReplay, ReplicationsThatRunOutOfMemoryGoThroughTheEventEngine) {
  const test::TemporaryDirectory directory;
  Config config = configured({"policies=[{name: random}]", "replications=60",
                              "cluster.gpu_memory_mib=1024", "workload.source=csv",
                              "workload.path=" + directory.write("jobs.csv", kLargeJobs)});
  const Experiment experiment(std::move(config), "");
  const ReplayResult batch = replayed(experiment, EngineChoice::kBatch);
  EXPECT_GT(batch.engines.front().by_events, 5U);
  EXPECT_LT(batch.engines.front().by_events, 55U);
  expect_same(replayed(experiment, EngineChoice::kEvents), batch);
}

/// Replayed on fibers that stand in for a GPU.
ReplayResult on_fibers(const Experiment& experiment, std::vector<std::string>& failures,
                       unsigned threads = 1) {
  static const emulated::BatchDriver fibers;
  ReplayOptions options;
  options.threads = threads;
  options.engine = EngineChoice::kBatch;
  options.keep_records = false;
  options.gpu = {.gpu = &fibers,
                 .failed = [&](const DeviceError& e) { failures.emplace_back(e.what()); },
                 .options = {.tile = 64}};
  return replay(experiment, options);
}

TEST(BatchReplay, OnAGpuTheFiguresAreTheSame) {
  for (const std::string more :
       {"world.noise=true", "world.noise=false", "cluster.nodes=7", "cluster.max_jobs_per_gpu=3"}) {
    SCOPED_TRACE(more);
    fiber_cuda::device = {};
    // Three in a bin, so the last policy has companies that shrink.
    const Experiment experiment(
        configured(
            {"policies=[{name: fcfs}, {name: random}, {name: exclusive}, {name: max-packing, "
             "bin_max: 3}]",
             "control.plan=once", "replications=150", more}),
        "");
    const ReplayResult events = replayed(experiment, EngineChoice::kEvents, false);
    std::vector<std::string> failures;
    for (const unsigned threads : {1U, 3U}) {
      const ReplayResult gpu = on_fibers(experiment, failures, threads);
      expect_same(events, gpu);
      for (const EngineUse& use : gpu.engines) EXPECT_EQ(use.on_gpu, 150U);
    }
    EXPECT_TRUE(failures.empty());
    EXPECT_EQ(fiber_cuda::device.objects, 0);
  }
}

TEST(BatchReplay, WhenTheGpuFailsTheProcessorGoesOn) {
  const Experiment experiment(configured({kPlanners, "replications=300"}), "");
  const ReplayResult events = replayed(experiment, EngineChoice::kEvents, false);
  fiber_cuda::device = {};
  std::vector<std::string> failures;
  on_fibers(experiment, failures);
  const int calls = fiber_cuda::device.calls;
  for (const int part : {0, 1, 2, 3}) {
    fiber_cuda::device = {};
    fiber_cuda::device.lost_after = calls * part / 4;
    failures.clear();
    const ReplayResult result = on_fibers(experiment, failures);
    expect_same(events, result);
    ASSERT_EQ(failures.size(), 1U);
    EXPECT_NE(failures.front().find("the GPU failed while "), std::string::npos);
    EXPECT_EQ(result.engines[0].on_gpu > 0, part > 0);
    EXPECT_LT(result.engines[3].on_gpu, 300U);
  }
  fiber_cuda::device = {};
}

TEST(BatchReplay, TheProgramWritesTheSameBytesAndSaysWhatItDid) {
  const test::TemporaryDirectory directory;
  std::vector<std::string> results;
  for (const std::string engine : {"events", "batch"}) {
    const std::string out = directory.path(engine + ".h5");
    const test::Outcome run = run_corun({"replay", "--engine", engine, "--set", "replications=40",
                                         "--set", kPlanners, "--format", "json", "--output", out});
    ASSERT_EQ(run.code, 0) << run.err;
    results.push_back(run.out + test::read_file(out));
    const bool batch = engine == "batch";
    EXPECT_EQ(run.err.find("batch engine: fcfs, random, opposites, exclusive\n") != run.err.npos,
              batch)
        << run.err;
    const auto record = nlohmann::json::parse(test::read_file(out + ".run.json"));
    for (const auto& policy : record["policies"]) EXPECT_EQ(policy["engine"], engine);
  }
  EXPECT_EQ(results[0], results[1]);

  const test::Outcome wrong = run_corun({"replay", "--engine", "fast"});
  EXPECT_EQ(wrong.code, 2);
  EXPECT_NE(wrong.err.find("--engine: found 'fast', expected auto, events or batch"),
            std::string::npos)
      << wrong.err;
}

}  // namespace
}  // namespace corun
