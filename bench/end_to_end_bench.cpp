#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <string>
#include <vector>

#include <benchmark/benchmark.h>

#include "runner/experiment/experiment.hpp"

/// Whole simulations: jobs drawn from the measured JRS jobs, Poisson arrivals at a given load, 16 nodes
/// with 4 GPUs each, groups start together. One iteration is one policy's run on a trace that was generated
/// before: world, belief, events, metrics. `items_per_second` is jobs per second.
///
///   load 0.9  90 % of the capacity of 64 GPUs without sharing
///   load 1.2  above it: the queue of `exclusive` grows without bound, policies that share keep up
///   load 3.0  above the capacity of every policy: the queue grows with the trace
///
/// Counters: offered = load of the trace as drawn, warned = 1 if the experiment reports that it exceeds the
/// capacity, queue_s = mean queueing delay [s], passes = scheduling passes.
namespace {

using corun::Config;
using corun::Experiment;
using corun::Metric;
using corun::PolicyConfig;
using corun::Trace;

constexpr int kNodes = 16;
constexpr int kGpusPerNode = 4;

Config config_for(const std::string& policy, double load, std::int64_t jobs) {
  Config config = corun::default_config();
  config.workload.source = "jrs-resampled";
  config.workload.jobs = jobs;
  config.workload.load = load;
  config.cluster.nodes = kNodes;
  config.cluster.gpus_per_node = kGpusPerNode;
  config.control.start = corun::StartMode::kGroup;
  config.policies = {PolicyConfig{.name = policy, .label = {}, .settings = {}}};
  return config;
}

double offered_load(const Trace& trace) {
  double work_s = 0;
  corun::Time last{0};
  for (const corun::TraceJob& job : trace.jobs) {
    work_s += corun::to_seconds(job.spec.work) * job.spec.gpus;
    last = std::max(last, job.spec.submit);
  }
  const corun::Time first = trace.jobs.front().spec.submit;
  return work_s / (corun::to_seconds(last - first) * kNodes * kGpusPerNode);
}

double warned(const Experiment& experiment) {
  return corun::find_note(experiment.notes(), corun::NoteCode::kOverload) != nullptr ? 1 : 0;
}

void simulate(benchmark::State& state, const std::string& policy, double load) {
  const std::int64_t jobs = state.range(0);
  const Experiment experiment(config_for(policy, load, jobs), "");
  const std::shared_ptr<const Trace> shared_trace = experiment.make_trace(0);
  const Trace& trace = *shared_trace;
  corun::PolicyRun run{};
  for (auto _ : state) run = experiment.run_policy(trace, 0, experiment.policies().front(), {});
  if (run.metrics[static_cast<std::size_t>(Metric::kJobs)] != static_cast<double>(jobs)) {
    state.SkipWithError("not all jobs finished");
  }
  state.SetItemsProcessed(state.iterations() * jobs);
  state.counters["offered"] = offered_load(trace);
  state.counters["warned"] = warned(experiment);
  state.counters["queue_s"] = run.metrics[static_cast<std::size_t>(Metric::kQueueS)];
  state.counters["passes"] = static_cast<double>(run.record.passes);
}

void make_trace(benchmark::State& state) {
  const Experiment experiment(config_for("fcfs", 0.9, state.range(0)), "");
  for (auto _ : state) benchmark::DoNotOptimize(experiment.make_trace(0));
  state.SetItemsProcessed(state.iterations() * state.range(0));
}

void add(const std::string& policy, const char* load, std::int64_t largest) {
  benchmark::RegisterBenchmark(
      (policy + "/load=" + load).c_str(),
      [policy, load](benchmark::State& state) { simulate(state, policy, std::stod(load)); })
      ->ArgName("jobs")
      ->RangeMultiplier(10)
      ->Range(1000, largest)
      ->Unit(benchmark::kMillisecond);
}

}  // namespace

int main(int argc, char** argv) {
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 2;
  for (const char* load : {"0.9", "1.2"}) {
    for (const char* policy : {"fcfs", "min-slowdown", "kube-default", "exclusive"}) {
      add(policy, load, 100000);
    }
  }
  for (const char* policy : {"fcfs", "min-slowdown", "kube-default", "exclusive"}) {
    add(policy, "3.0", 100000);
  }
  benchmark::RegisterBenchmark("make-trace/load=0.9", make_trace)
      ->ArgName("jobs")
      ->RangeMultiplier(10)
      ->Range(1000, 100000)
      ->Unit(benchmark::kMillisecond);
  try {
    benchmark::RunSpecifiedBenchmarks();
  } catch (const std::exception& e) {
    std::fprintf(stderr, "end_to_end_bench: %s\n", e.what());
    return 1;
  }
  benchmark::Shutdown();
}
