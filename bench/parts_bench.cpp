#include <array>
#include <cstddef>
#include <cstdint>
#include <sstream>
#include <string>
#include <vector>

#include <benchmark/benchmark.h>

#include "models/knowledge/knowledge_base.hpp"
#include "policies/groups/matching.hpp"
#include "sim/rng.hpp"
#include "traces/job_csv.hpp"
#include "traces/paper_workloads.hpp"

/// Parts that can dominate the run time: minimum-cost matching of the waiting jobs, random draws, reading a
/// trace, learning and predicting pairs. 24 is the paper's queue, 256 the most jobs that the recommender
/// matches over all pairs.
namespace {

using corun::Rng;
using corun::Stream;

/// Costs as from a belief about individual jobs: all different.
void matching_random(benchmark::State& state) {
  const auto n = static_cast<std::size_t>(state.range(0));
  std::vector<double> cost(n * n, 0);
  Rng rng(1, Stream::kTest);
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = i + 1; j < n; ++j) cost[i * n + j] = cost[j * n + i] = rng.uniform();
  }
  for (auto _ : state) benchmark::DoNotOptimize(corun::min_cost_matching(cost, n));
}

/// Costs as from a belief by clusters, here of min-slowdown on the JRS paper's measurements: six values for
/// the pairs of three clusters, so nearly all costs are ties.
void matching_clusters(benchmark::State& state) {
  constexpr std::size_t kClusters = 3;
  constexpr std::array<double, kClusters* kClusters> kOfPair = {0.2565, 0.2152, 0.3566,  //
                                                                0.2152, 0.1404, 0.4061,  //
                                                                0.3566, 0.4061, 0.8332};
  const auto n = static_cast<std::size_t>(state.range(0));
  const auto cluster = [&](std::size_t job) { return job * kClusters / n; };
  std::vector<double> cost(n * n);
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = 0; j < n; ++j) {
      cost[i * n + j] = kOfPair[cluster(i) * kClusters + cluster(j)];
    }
  }
  for (auto _ : state) benchmark::DoNotOptimize(corun::min_cost_matching(cost, n));
}

/// A block of four 32-bit numbers.
void philox_block(benchmark::State& state) {
  std::array<std::uint32_t, 4> counter{};
  for (auto _ : state) {
    ++counter[0];
    benchmark::DoNotOptimize(corun::philox4x32(counter, {1, 2}));
  }
}

void philox_uniform(benchmark::State& state) {
  Rng rng(1, Stream::kTest);
  for (auto _ : state) benchmark::DoNotOptimize(rng.uniform());
}

/// Like the noise of a co-run: a new sequence for each entity, one number of it.
void philox_keyed_normal(benchmark::State& state) {
  std::uint64_t entity = 0;
  for (auto _ : state) benchmark::DoNotOptimize(Rng(1, Stream::kTest, ++entity).normal());
}

void read_job_csv(benchmark::State& state) {
  const auto jobs = static_cast<int>(state.range(0));
  std::string text;
  {
    corun::WorkloadKeys keys;
    std::ostringstream out;
    corun::write_job_csv(out, corun::jrs_resampled_trace(keys, jobs, 10.0, 1), keys);
    text = std::move(out).str();
  }
  for (auto _ : state) {
    corun::WorkloadKeys keys;
    std::istringstream in(text);
    benchmark::DoNotOptimize(corun::read_job_csv(in, "trace.csv", keys));
  }
  state.SetItemsProcessed(state.iterations() * jobs);
  state.SetBytesProcessed(state.iterations() * static_cast<std::int64_t>(text.size()));
}

/// Learns one co-run of random clusters: ISD of both, PS of the pair. `known` co-runs came before, so that
/// quantiles are exact lists (100) or bins (10^6); the cost must not grow with them.
void observe_co_runs(benchmark::State& state, double decay) {
  Rng rng(1, Stream::kTest);
  struct CoRun {
    int a, b;
    double isd_a, isd_b, ps;
  };
  std::vector<CoRun> co_runs(4096);
  for (CoRun& c : co_runs) {
    c = {static_cast<int>(rng.below(3)), static_cast<int>(rng.below(3)), 0.4 * rng.uniform(),
         0.4 * rng.uniform(), 0.5 * rng.uniform()};
  }
  std::size_t next = 0;
  corun::KnowledgeBase kb(corun::paper_clusters(), decay);
  const auto observe = [&] {
    const CoRun& c = co_runs[next++ % co_runs.size()];
    kb.observe(c.a, c.b, c.isd_a, c.isd_b, c.ps);
  };
  for (std::int64_t i = 0; i < state.range(0); ++i) observe();
  for (auto _ : state) observe();
  benchmark::DoNotOptimize(kb.overall_isd());
  state.SetItemsProcessed(state.iterations());
}

void knowledge_observe(benchmark::State& state) { observe_co_runs(state, 0); }
void knowledge_observe_and_forget(benchmark::State& state) { observe_co_runs(state, 0.01); }

BENCHMARK(matching_random)
    ->Name("matching/random")
    ->ArgName("n")
    ->Arg(24)
    ->Arg(100)
    ->Arg(256)
    ->Unit(benchmark::kMillisecond);
BENCHMARK(matching_clusters)
    ->Name("matching/clusters")
    ->ArgName("n")
    ->Arg(24)
    ->Arg(100)
    ->Arg(256)
    ->Unit(benchmark::kMillisecond);
BENCHMARK(philox_block)->Name("philox/block");
BENCHMARK(philox_uniform)->Name("philox/uniform");
BENCHMARK(philox_keyed_normal)->Name("philox/keyed_normal");
BENCHMARK(knowledge_observe)->Name("knowledge/observe")->ArgName("known")->Arg(100)->Arg(1000000);
BENCHMARK(knowledge_observe_and_forget)
    ->Name("knowledge/observe-with-decay")
    ->ArgName("known")
    ->Arg(1000000);
BENCHMARK(knowledge_observe)
    ->Name("knowledge/observe")
    ->ArgNames({"known", "decay"})
    ->Args({100, 0})
    ->Args({1000000, 0})
    ->Args({1000000, 1});
BENCHMARK(read_job_csv)
    ->Name("read_job_csv")
    ->ArgName("rows")
    ->Arg(10000)
    ->Arg(100000)
    ->Unit(benchmark::kMillisecond);

}  // namespace

BENCHMARK_MAIN();
