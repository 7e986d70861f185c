#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include <benchmark/benchmark.h>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "models/interference/boosted_trees.hpp"
#include "models/interference/catalog.hpp"
#include "models/interference/gp_model.hpp"
#include "models/vector_units/kernels.hpp"
#include "sim/rng.hpp"

/// Every interference model of the catalogue: fitting, learning one co-run, predicting. A co-run of two
/// jobs is two observations, one for each direction.
namespace {

using corun::InterferenceModelEntry;
using corun::Kernels;
using corun::PairJob;
using corun::PairQuery;
using corun::Rng;
using corun::SpeedTable;
using corun::Stream;

constexpr std::uint32_t kJobs = 50;
constexpr std::size_t kFeatures = 3;

std::vector<double> draw_features(Rng& rng) {
  return {100 * rng.uniform(), 100 * rng.uniform(), 60 * rng.uniform()};
}

/// Pairs of so many jobs; speeds depend on the pair.
SpeedTable table_of(std::int64_t co_runs, std::uint32_t jobs = kJobs) {
  Rng rng(1, Stream::kTest);
  SpeedTable table;
  table.features = {{"gpu_util_pct", corun::FeatureScale::kLinear},
                    {"mem_alloc_pct", corun::FeatureScale::kLinear},
                    {"mem_time_pct", corun::FeatureScale::kLinear}};
  for (std::uint32_t j = 0; j < jobs; ++j) {
    table.jobs.push_back(static_cast<corun::WorkloadKey>(j));
    for (const double x : draw_features(rng)) table.values.push_back(x);
  }
  const auto log_slowdown = [&](std::size_t i, std::size_t j) {
    return 4e-5 * table.of(i)[0] * table.of(j)[0] + 0.03 * rng.normal();
  };
  for (std::int64_t r = 0; r < co_runs; ++r) {
    const std::uint32_t a = rng.below(jobs);
    const std::uint32_t b = (a + 1 + rng.below(jobs - 1)) % jobs;
    const double speed_a = std::exp(-log_slowdown(a, b));
    table.rows.push_back({a, b, speed_a, std::exp(-log_slowdown(b, a))});
  }
  return table;
}

PairJob job_of(const SpeedTable& table, std::size_t j) {
  return {table.jobs[j], {table.of(j), kFeatures}};
}

/// A number of jobs without measurements.
struct Strangers {
  std::vector<double> features;
  std::vector<PairJob> jobs;

  explicit Strangers(std::size_t count) {
    Rng rng(2, Stream::kTest);
    features.reserve(kFeatures * count);
    for (std::size_t j = 0; j < count; ++j) {
      for (const double x : draw_features(rng)) features.push_back(x);
      jobs.push_back({corun::kUnknownWorkload, {features.data() + kFeatures * j, kFeatures}});
    }
  }
};

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

/// 10^4 co-runs, a hundred times as many as a user measures: the limit is a minute.
void fit_large(benchmark::State& state, const InterferenceModelEntry& entry) {
  const SpeedTable table = table_of(10'000, static_cast<std::uint32_t>(state.range(0)));
  for (auto _ : state) benchmark::DoNotOptimize(entry.fit(table, {}));
}

/// A table of the size of a published one.
struct PhaseTable {
  std::string_view name;
  std::int64_t co_runs;
  std::uint32_t jobs;
  std::uint32_t families;  ///< 0: none stated
};
constexpr std::array kPhaseTables{PhaseTable{"papers", 114, 31, 0},
                                  PhaseTable{"lucid", 745, 60, 14},
                                  PhaseTable{"large", 10'000, 150, 0}};

SpeedTable table_of(const PhaseTable& size) {
  SpeedTable table = table_of(size.co_runs, size.jobs);
  for (std::uint32_t j = 0; j < size.jobs && size.families > 0; ++j) {
    table.families.push_back(1 + j % size.families);
  }
  return table;
}

/// Parts of a fit of the default model, each on one thread: its members; then the intervals of new families, which are fitted
/// when a prediction or a file first asks for them.
void fit_member(benchmark::State& state, const PhaseTable& size, std::string_view member) {
  const SpeedTable table = table_of(size);
  const InterferenceModelEntry* const entry = corun::find_interference_model(member);
  for (auto _ : state) benchmark::DoNotOptimize(entry->fit(table, {}));
}
void fit_families(benchmark::State& state, const PhaseTable& size) {
  const SpeedTable table = table_of(size);
  for (auto _ : state) {
    state.PauseTiming();
    const auto model = corun::find_interference_model("default")->fit(table, {});
    state.ResumeTiming();
    benchmark::DoNotOptimize(model->save());
  }
}

/// One co-run. Some iterations learn into one model, so it has up to 50 co-runs more than the argument.
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

/// Every ordered pair of the 50 measured jobs.
void predict_seen(benchmark::State& state, const InterferenceModelEntry& entry) {
  const SpeedTable table = table_of(500);
  const auto model = entry.fit(table, {});
  std::vector<PairJob> jobs;
  for (std::size_t j = 0; j < kJobs; ++j) jobs.push_back(job_of(table, j));
  const std::vector<PairQuery> pairs = all_pairs(kJobs);
  for (auto _ : state) benchmark::DoNotOptimize(model->predict(jobs, pairs).data());
  state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(pairs.size()));
}

/// The given number of ordered pairs of jobs without measurements.
void predict_new(benchmark::State& state, const InterferenceModelEntry& entry) {
  const auto model = entry.fit(table_of(500), {});
  const auto asked = static_cast<std::size_t>(std::sqrt(static_cast<double>(state.range(0))));
  const Strangers strangers(asked);
  const std::vector<PairQuery> pairs = all_pairs(asked);
  for (auto _ : state) benchmark::DoNotOptimize(model->predict(strangers.jobs, pairs).data());
  state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(pairs.size()));
}

/// PairScorer's work for each slowed job of a gp of 1,000 rows, and for each directed pair.
void gp_prepare(benchmark::State& state, const Kernels& kernels) {
  constexpr std::size_t kSlowed = 64;
  const auto gp = corun::GpModel::fit(table_of(500));
  const Strangers strangers(kSlowed);
  corun::GpBatch batch = gp.batch(strangers.jobs);
  const corun::gp::Problem problem = batch.problem();
  const corun::gp::Kernels& gp_kernels = kernels.of<corun::GpBatch>();
  gp_kernels.describe(problem, 0, kSlowed);
  std::vector<double> states(kSlowed * problem.layout.size());
  std::vector<double> scratch(corun::gp::Kernels::scratch(problem));
  for (auto _ : state) {
    gp_kernels.prepare(problem, {0, kSlowed, nullptr}, states.data(), scratch.data());
    benchmark::DoNotOptimize(states.data());
  }
  state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(kSlowed));
}
void gp_pairs(benchmark::State& state, const Kernels& kernels) {
  constexpr std::size_t kSlowed = 32;
  constexpr std::size_t kAsked = 1024;
  const auto gp = corun::GpModel::fit(table_of(500));
  const Strangers strangers(kAsked);
  corun::GpBatch batch = gp.batch(strangers.jobs);
  const corun::gp::Problem problem = batch.problem();
  const corun::gp::Kernels& gp_kernels = kernels.of<corun::GpBatch>();
  gp_kernels.describe(problem, 0, kAsked);
  std::vector<double> states(kSlowed * problem.layout.size());
  std::vector<double> scratch(corun::gp::Kernels::scratch(problem));
  gp_kernels.prepare(problem, {0, kSlowed, nullptr}, states.data(), scratch.data());
  std::vector<double> speed(kSlowed * kAsked), sd(kSlowed * kAsked);
  for (auto _ : state) {
    const corun::PairTile tile{0, kSlowed, 0, kAsked};
    gp_kernels.speeds(problem, tile, states.data(), scratch.data(),
                      corun::TileSpeeds::row_major(tile, speed.data(), sd.data()));
    benchmark::DoNotOptimize(speed.data());
  }
  const auto pairs = state.iterations() * static_cast<std::int64_t>(kSlowed * kAsked);
  state.SetItemsProcessed(pairs);
  const double width = static_cast<double>(problem.layout.width);
  state.counters["fma"] =
      benchmark::Counter(static_cast<double>(pairs) * (width * (width + 1) / 2 + 2 * width),
                         benchmark::Counter::kIsRate);
}
/// Directed pairs through all trees.
void trees_pairs(benchmark::State& state, const Kernels& kernels) {
  constexpr std::size_t kAsked = 64;
  const auto trees = corun::BoostedTrees::fit(table_of(500), {});
  const Strangers strangers(kAsked);
  const corun::TreesBatch batch = trees.batch(strangers.jobs);
  std::vector<std::uint32_t> of, beside;
  for (std::uint32_t i = 0; i < kAsked; ++i) {
    for (std::uint32_t j = 0; j < kAsked; ++j) {
      of.push_back(i);
      beside.push_back(j);
    }
  }
  std::vector<float> scratch(corun::trees::Kernels::scratch(batch.trees));
  std::vector<double> sums(of.size());
  for (auto _ : state) {
    kernels.of<corun::TreesBatch>().sums(batch.trees, batch.ranked, batch.jobs(),
                                         {of.data(), beside.data(), of.size()}, scratch.data(),
                                         sums.data());
    benchmark::DoNotOptimize(sums.data());
  }
  state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(of.size()));
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
    if (&entry == corun::find_interference_model("default")) {
      add("fit-large", fit_large)
          ->ArgName("jobs")
          ->Arg(150)
          ->Arg(400)
          ->Arg(2000)
          ->Iterations(1)
          ->Unit(benchmark::kSecond);
    }
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
  for (const PhaseTable& size : kPhaseTables) {
    const auto add = [&](std::string_view phase, const auto& run) {
      benchmark::RegisterBenchmark(fmt::format("fit-phases/{}/{}", size.name, phase).c_str(), run)
          ->Unit(benchmark::kMillisecond);
    };
    for (const std::string_view member : {"factors", "gp", "boosted-trees"}) {
      add(member, [&size, member](benchmark::State& state) { fit_member(state, size, member); });
    }
    if (size.families > 0) {
      add("new-families", [&size](benchmark::State& state) { fit_families(state, size); });
    }
  }
  for (const Kernels* const kernels : corun::usable_kernels()) {
    const auto add = [&](std::string_view what, void (*run)(benchmark::State&, const Kernels&)) {
      benchmark::RegisterBenchmark(
          fmt::format("kernels/{}/{}", what, kernels->name).c_str(),
          [run, kernels](benchmark::State& state) { run(state, *kernels); })
          ->Unit(benchmark::kMillisecond);
    };
    add("gp-prepare", gp_prepare);
    add("gp-pairs", gp_pairs);
    add("trees-pairs", trees_pairs);
  }
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 1;
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}
