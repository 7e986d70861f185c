#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <exception>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include <benchmark/benchmark.h>

#include "experiments/batch_replay.hpp"

/// Replications of the batch experiment: the batch engine beside the event engine, one thread. One
/// iteration is one replication of one policy, each with its own seed: order of the queue, plan, draws,
/// run, metrics. `items_per_second` is replications per second.
///
/// `parts/*` is where the batch engine's time goes. `gpu/*`, where there is a GPU, is 65,536 replications
/// through it with so many threads that plan and draw for it (the last number), by wall-clock.
namespace {

using corun::BatchReplay;
using corun::BatchReplayer;
using corun::Config;
using corun::Experiment;
using corun::PolicyConfig;

/// 24 jobs are the measured queue; more are drawn once, with seed 1, from the measured jobs.
Experiment experiment_for(const std::string& policy, std::int64_t jobs, std::int64_t gpus) {
  Config config = corun::default_config();
  config.cluster.nodes = gpus;
  config.workload.order = "shuffled";
  config.policies = {PolicyConfig{.name = policy, .label = {}, .settings = {}}};
  if (policy == "min-slowdown") config.control.plan = "once";
  if (jobs == 24) return Experiment(config, "");
  config.workload.source = "jrs-resampled";
  config.workload.jobs = jobs;
  const Experiment drawn(config, "");
  config.workload = {};
  config.workload.order = "shuffled";
  return Experiment(config, "", *drawn.make_trace(0));
}

void by_events(benchmark::State& state, const std::string& policy) {
  const Experiment experiment = experiment_for(policy, state.range(0), state.range(1));
  std::size_t number = 0;
  for (auto _ : state) {
    const auto replication = experiment.run(number++, {.keep_records = false});
    benchmark::DoNotOptimize(replication.runs.front().metrics[0]);
  }
  state.SetItemsProcessed(state.iterations());
}

void by_batch(benchmark::State& state, const std::string& policy) {
  const Experiment experiment = experiment_for(policy, state.range(0), state.range(1));
  const BatchReplay batch(experiment);
  if (!batch.applies()) {
    state.SkipWithError(batch.reasons().front().c_str());
    return;
  }
  BatchReplayer replayer(batch);
  std::size_t number = 0;
  for (auto _ : state) {
    const auto run = replayer.run(number++, 0, false);
    if (!run) {
      state.SkipWithError("left to the event engine");
      return;
    }
    benchmark::DoNotOptimize(run->metrics[0]);
  }
  // The figures of the last one must be the event engine's.
  const auto batch_run = replayer.run(number - 1, 0, false);
  const auto replication = experiment.run(number - 1, {.keep_records = false});
  const corun::MetricValues& events = replication.runs.front().metrics;
  for (std::size_t m = 0; m < corun::kMetricCount; ++m) {
    if (std::isnan(events[m]) && std::isnan(batch_run->metrics[m])) continue;
    if (std::memcmp(&events[m], &batch_run->metrics[m], sizeof(double)) == 0) continue;
    state.SkipWithError("differs from the event engine");
    return;
  }
  state.SetItemsProcessed(state.iterations());
}

void plan(benchmark::State& state) {
  const Experiment experiment = experiment_for("random", state.range(0), state.range(1));
  const BatchReplay batch(experiment);
  BatchReplayer replayer(batch);
  std::size_t number = 0;
  for (auto _ : state) benchmark::DoNotOptimize(replayer.plan(number++, 0));
}

/// What a GPU is given: the plan and the draws.
void make_ready(benchmark::State& state) {
  const Experiment experiment = experiment_for("random", state.range(0), state.range(1));
  const BatchReplay batch(experiment);
  BatchReplayer replayer(batch);
  const auto world = experiment.make_world(*replayer.jobs());
  const corun::BatchExperiment flat(experiment.cluster(), replayer.jobs()->workload);
  corun::BatchEngine engine(flat, *world);
  const auto jobs = static_cast<std::uint32_t>(state.range(0));
  const corun::BatchShape shape{jobs, static_cast<std::uint32_t>(state.range(1)), (jobs + 1) / 2,
                                2};
  std::vector<std::uint32_t> count(1), first(shape.first_size()), members(jobs),
      provenance(shape.provenance_size());
  std::vector<double> speed(shape.speed_size());
  const corun::BatchInput input{
      {count.data()}, {first.data()}, {members.data()}, {provenance.data()}, {speed.data()}};
  std::size_t number = 0;
  for (auto _ : state) {
    engine.fill(*replayer.plan(number, 0), experiment.seed_of(number), shape, input);
    ++number;
    benchmark::DoNotOptimize(speed.data());
  }
}

/// As `corun replay` does it: one iteration is so many replications.
constexpr std::size_t kOnGpu = 65'536;
void by_gpu(benchmark::State& state, const std::string& policy) {
  const Experiment experiment = experiment_for(policy, state.range(0), state.range(1));
  const BatchReplay batch(experiment);
  corun::BatchGpuUse use;
  use.gpu = corun::cuda_batch();
  use.options.threads = static_cast<unsigned>(state.range(2));
  std::vector<std::optional<corun::PolicyRun>> done(kOnGpu);
  for (auto _ : state) batch.run_on_gpu(use, 0, nullptr, done);
  BatchReplayer replayer(batch);
  for (const std::size_t number : {std::size_t{0}, std::size_t{1}, kOnGpu - 1}) {
    const auto here = replayer.run(number, 0, false);
    if (here && done[number] && here->metrics[0] == done[number]->metrics[0]) continue;
    state.SkipWithError("differs from the processor");
    return;
  }
  state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(kOnGpu));
}

bool gpu_is_there() {
  if (corun::cuda_batch() == nullptr) return false;
  try {
    const Experiment experiment = experiment_for("fcfs", 24, 4);
    corun::BatchGpuUse use;
    use.gpu = corun::cuda_batch();
    std::vector<std::optional<corun::PolicyRun>> one(1);
    BatchReplay(experiment).run_on_gpu(use, 0, nullptr, one);
    return true;
  } catch (const corun::DeviceError& e) {
    std::fprintf(stderr, "no usable GPU: %s\n", e.what());
    return false;
  }
}

}  // namespace

int main(int argc, char** argv) {
  try {
    for (const char* policy : {"fcfs", "random", "exclusive", "min-slowdown"}) {
      for (const bool batch : {false, true}) {
        const std::string name = std::string(batch ? "batch/" : "events/") + policy;
        benchmark::RegisterBenchmark(
            name.c_str(),
            [=](benchmark::State& state) { (batch ? by_batch : by_events)(state, policy); })
            ->Args({24, 4})
            ->Args({200, 16});
      }
    }
    benchmark::RegisterBenchmark("parts/plan", plan)->Args({24, 4})->Args({200, 16});
    benchmark::RegisterBenchmark("parts/plan-and-draws", make_ready)
        ->Args({24, 4})
        ->Args({200, 16});
    if (gpu_is_there()) {
      const auto cores = static_cast<std::int64_t>(std::thread::hardware_concurrency());
      for (const char* policy : {"fcfs", "random", "exclusive"}) {
        benchmark::RegisterBenchmark((std::string("gpu/") + policy).c_str(),
                                     [=](benchmark::State& state) { by_gpu(state, policy); })
            ->Args({24, 4, 1})
            ->Args({24, 4, cores})
            ->Args({200, 16, cores})
            ->UseRealTime();
      }
    }
    benchmark::Initialize(&argc, argv);
    if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 2;
    benchmark::RunSpecifiedBenchmarks();
  } catch (const std::exception& e) {
    std::fprintf(stderr, "%s\n", e.what());
    return 1;
  }
  return 0;
}
