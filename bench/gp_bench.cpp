#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include <benchmark/benchmark.h>

#include "models/interference/gp_model.hpp"
#include "sim/rng.hpp"

/// The Gaussian-process interference model: fitting, learning one co-run, predicting batches. The
/// argument is the directed rows held; 50 jobs of three features.
namespace {

using corun::GpModel;
using corun::PairJob;
using corun::PairQuery;
using corun::Rng;
using corun::SpeedTable;
using corun::Stream;

constexpr std::size_t kJobs = 50;

SpeedTable table_of(std::size_t directed_rows) {
  Rng rng(1, Stream::kTest);
  SpeedTable table;
  table.features = {{"gpu_util_pct", corun::FeatureScale::kLinear},
                    {"mem_time_pct", corun::FeatureScale::kLinear},
                    {"mem_used_mib", corun::FeatureScale::kLog}};
  for (std::size_t j = 0; j < kJobs; ++j) {
    table.jobs.push_back(static_cast<corun::WorkloadKey>(j));
    table.values.push_back(100 * rng.uniform());
    table.values.push_back(60 * rng.uniform());
    table.values.push_back(std::exp(8 + rng.normal()));
  }
  const auto slowness = [&](std::size_t i, std::size_t j) {
    return 4e-5 * table.values[3 * i] * table.values[3 * j] + 0.03 * rng.normal();
  };
  while (2 * table.rows.size() < directed_rows) {
    const std::uint32_t a = rng.below(kJobs);
    const std::uint32_t b = (a + 1 + rng.below(kJobs - 1)) % kJobs;
    table.rows.push_back({a, b, std::exp(-slowness(a, b)), std::exp(-slowness(b, a))});
  }
  return table;
}

PairJob job_of(const SpeedTable& table, std::size_t j) { return {table.jobs[j], {table.of(j), 3}}; }

void gp_fit(benchmark::State& state) {
  const SpeedTable table = table_of(static_cast<std::size_t>(state.range(0)));
  for (auto _ : state) benchmark::DoNotOptimize(GpModel::fit(table).rows());
}

/// One co-run of two: two directed rows. Some learning on one model, so that it holds a tenth more
/// than the argument on average, at most.
void gp_learn(benchmark::State& state) {
  const SpeedTable table = table_of(static_cast<std::size_t>(state.range(0)));
  const GpModel fitted = GpModel::fit(table);
  std::unique_ptr<corun::InterferenceModel> model = fitted.clone();
  constexpr int kCoRuns = 100;
  int learnt = 0;
  for (auto _ : state) {
    if (learnt == kCoRuns) {
      state.PauseTiming();
      model = fitted.clone();
      learnt = 0;
      state.ResumeTiming();
    }
    const auto i = static_cast<std::size_t>(learnt++) % kJobs;
    model->learn(job_of(table, i), job_of(table, (i * 7 + 3) % kJobs), 0.8, 0.7);
  }
}

/// Every ordered pair of 1000 jobs never seen: 10^6 predictions.
void gp_predict_batch(benchmark::State& state) {
  const SpeedTable table = table_of(static_cast<std::size_t>(state.range(0)));
  const GpModel model = GpModel::fit(table);
  constexpr std::size_t kAsked = 1000;
  Rng rng(2, Stream::kTest);
  std::vector<double> features;
  for (std::size_t j = 0; j < kAsked; ++j) {
    features.push_back(100 * rng.uniform());
    features.push_back(60 * rng.uniform());
    features.push_back(std::exp(8 + rng.normal()));
  }
  std::vector<PairJob> jobs;
  std::vector<PairQuery> pairs;
  for (std::size_t i = 0; i < kAsked; ++i) {
    jobs.push_back({corun::kUnknownWorkload, {features.data() + 3 * i, 3}});
    for (std::size_t j = 0; j < kAsked; ++j) pairs.push_back({i, j});
  }
  for (auto _ : state) benchmark::DoNotOptimize(model.predict(jobs, pairs).data());
  state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(pairs.size()));
}

/// A queue of 24 jobs that are known, every ordered pair of them.
void gp_predict_queue(benchmark::State& state) {
  const SpeedTable table = table_of(static_cast<std::size_t>(state.range(0)));
  const GpModel model = GpModel::fit(table);
  constexpr std::size_t kQueue = 24;
  std::vector<PairJob> jobs;
  std::vector<PairQuery> pairs;
  for (std::size_t i = 0; i < kQueue; ++i) {
    jobs.push_back(job_of(table, i));
    for (std::size_t j = 0; j < kQueue; ++j) pairs.push_back({i, j});
  }
  for (auto _ : state) benchmark::DoNotOptimize(model.predict(jobs, pairs).data());
  state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(pairs.size()));
}

BENCHMARK(gp_fit)->Arg(200)->Arg(1000)->Arg(1500)->Unit(benchmark::kMillisecond);
BENCHMARK(gp_learn)->Arg(200)->Arg(1000)->Unit(benchmark::kMicrosecond);
BENCHMARK(gp_predict_batch)->Arg(1000)->Unit(benchmark::kMillisecond)->Iterations(1);
BENCHMARK(gp_predict_queue)->Arg(200)->Arg(1000)->Unit(benchmark::kMillisecond);

}  // namespace

BENCHMARK_MAIN();
