#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include "models/interference/catalog.hpp"
#include "sim/rng.hpp"

/// Every interference model of the catalogue: fitting, learning one co-run, predicting. A co-run of two
/// is two observations, one for each direction.
namespace {

using corun::InterferenceModelEntry;
using corun::PairJob;
using corun::PairQuery;
using corun::Rng;
using corun::SpeedTable;
using corun::Stream;

constexpr std::size_t kJobs = 50;
constexpr std::size_t kFeatures = 3;

std::vector<double> draw_features(Rng& rng) {
  return {100 * rng.uniform(), 100 * rng.uniform(), 60 * rng.uniform()};
}

/// Pairs of 50 jobs; speeds that depend on who meets whom.
SpeedTable table_of(std::int64_t co_runs) {
  Rng rng(1, Stream::kTest);
  SpeedTable table;
  table.features = {{"gpu_util_pct", corun::FeatureScale::kLinear},
                    {"mem_alloc_pct", corun::FeatureScale::kLinear},
                    {"mem_time_pct", corun::FeatureScale::kLinear}};
  for (std::size_t j = 0; j < kJobs; ++j) {
    table.jobs.push_back(static_cast<corun::WorkloadKey>(j));
    for (const double x : draw_features(rng)) table.values.push_back(x);
  }
  const auto slowness = [&](std::size_t i, std::size_t j) {
    return 4e-5 * table.of(i)[0] * table.of(j)[0] + 0.03 * rng.normal();
  };
  for (std::int64_t r = 0; r < co_runs; ++r) {
    const std::uint32_t a = rng.below(kJobs);
    const std::uint32_t b = (a + 1 + rng.below(kJobs - 1)) % kJobs;
    const double speed_a = std::exp(-slowness(a, b));
    table.rows.push_back({a, b, speed_a, std::exp(-slowness(b, a))});
  }
  return table;
}

PairJob job_of(const SpeedTable& table, std::size_t j) {
  return {table.jobs[j], {table.of(j), kFeatures}};
}

std::vector<PairQuery> all_pairs(std::size_t jobs) {
  std::vector<PairQuery> pairs;
  for (std::size_t i = 0; i < jobs; ++i) {
    for (std::size_t j = 0; j < jobs; ++j) pairs.push_back({i, j});
  }
  return pairs;
}

void fit(benchmark::State& state, const InterferenceModelEntry& entry) {
  const SpeedTable table = table_of(state.range(0));
  for (auto _ : state) benchmark::DoNotOptimize(entry.fit(table, {}));
}

/// One co-run. Some learning on one model, so that it holds up to 50 more than the argument.
void learn(benchmark::State& state, const InterferenceModelEntry& entry) {
  const SpeedTable table = table_of(state.range(0));
  const std::unique_ptr<corun::InterferenceModel> fitted = entry.fit(table, {});
  std::unique_ptr<corun::InterferenceModel> model = fitted->clone();
  constexpr std::size_t kCoRuns = 50;
  std::size_t learnt = 0;
  for (auto _ : state) {
    if (learnt == kCoRuns) {
      state.PauseTiming();
      model = fitted->clone();
      learnt = 0;
      state.ResumeTiming();
    }
    const std::size_t i = learnt++ % kJobs;
    model->learn(job_of(table, i), job_of(table, (i * 7 + 3) % kJobs), 0.8, 0.7);
  }
}

/// Every ordered pair of the 50 jobs that were measured.
void predict_seen(benchmark::State& state, const InterferenceModelEntry& entry) {
  const SpeedTable table = table_of(500);
  const auto model = entry.fit(table, {});
  std::vector<PairJob> jobs;
  for (std::size_t j = 0; j < kJobs; ++j) jobs.push_back(job_of(table, j));
  const std::vector<PairQuery> pairs = all_pairs(kJobs);
  for (auto _ : state) benchmark::DoNotOptimize(model->predict(jobs, pairs).data());
  state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(pairs.size()));
}

/// So many ordered pairs: all those of jobs that nobody measured.
void predict_new(benchmark::State& state, const InterferenceModelEntry& entry) {
  const auto model = entry.fit(table_of(500), {});
  const auto asked = static_cast<std::size_t>(std::sqrt(static_cast<double>(state.range(0))));
  Rng rng(2, Stream::kTest);
  std::vector<double> features;
  for (std::size_t j = 0; j < asked; ++j) {
    for (const double x : draw_features(rng)) features.push_back(x);
  }
  std::vector<PairJob> jobs;
  for (std::size_t j = 0; j < asked; ++j) {
    jobs.push_back({corun::kUnknownWorkload, {features.data() + kFeatures * j, kFeatures}});
  }
  const std::vector<PairQuery> pairs = all_pairs(asked);
  for (auto _ : state) benchmark::DoNotOptimize(model->predict(jobs, pairs).data());
  state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(pairs.size()));
}

}  // namespace

int main(int argc, char** argv) {
  for (const InterferenceModelEntry& entry : corun::interference_model_catalog()) {
    const auto add = [&](std::string_view what,
                         void (*run)(benchmark::State&, const InterferenceModelEntry&)) {
      return benchmark::RegisterBenchmark(
          fmt::format("model/{}/{}", entry.name, what).c_str(),
          [run, &entry](benchmark::State& state) { run(state, entry); });
    };
    add("fit", fit)->ArgName("co-runs")->Arg(500)->Arg(1000)->Unit(benchmark::kMillisecond);
    if (entry.fit(table_of(50), {})->learns()) {
      add("learn", learn)->ArgName("co-runs")->Arg(500)->Unit(benchmark::kMicrosecond);
    }
    add("predict-seen", predict_seen)->Unit(benchmark::kMillisecond);
    add("predict-new", predict_new)
        ->ArgName("pairs")
        ->Arg(1'000'000)
        ->Iterations(1)
        ->Unit(benchmark::kMillisecond);
  }
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 1;
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}
