#include <algorithm>
#include <cstdint>
#include <cstring>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include <benchmark/benchmark.h>

#include "bench/scored_queue.hpp"
#include "models/interference/catalog.hpp"
#include "models/scoring/pair_scorer.hpp"
#include "models/vector_units/cpu_kernels.hpp"
#include "models/vector_units/lanes.hpp"

/// Batch scoring on the processor: the innermost loop by instruction set against a scalar loop of the
/// same bits, and whole queues by instruction set and threads. Each step is one pair; see the counter
/// pairs/s.
namespace corun::scalar_lanes {
extern const Lanes lanes;
}

namespace {

using namespace corun;

const InterferenceModel& model_of(const std::string& name) {
  static std::map<std::string, std::unique_ptr<InterferenceModel>> all;
  auto& model = all[name];
  if (!model) model = find_interference_model(name)->fit(table_of(50, 500), {});
  return *model;
}

/// Costs of 128 x 128 pairs by the contention model, as they lie in the caches.
void costs(benchmark::State& state, const Lanes& lanes, CostRule rule) {
  static const ScoredQueue queue(1024);
  const auto formula = model_of("contention").formula(queue.jobs, queue.each);
  const auto view = std::get<ContentionJobs>(formula->jobs).view();
  const SoloTimes solo(queue.solo_s);
  const SoloView times{solo.seconds.data(), solo.inverse.data()};
  constexpr std::size_t kSide = 128;
  std::vector<double> out(kSide * kSide), expected(kSide * kSide);
  const PairTile tile{0, kSide, 4 * kSide, 5 * kSide};
  scalar_lanes::lanes.contention.costs(view, times, rule, tile, expected.data());
  for (auto _ : state) {
    lanes.contention.costs(view, times, rule, tile, out.data());
    benchmark::ClobberMemory();
  }
  if (std::memcmp(out.data(), expected.data(), out.size() * sizeof(double)) != 0) {
    state.SkipWithError("not the bits of the scalar loop");
  }
  state.counters["pairs"] = benchmark::Counter(
      static_cast<double>(state.iterations()) * kSide * kSide, benchmark::Counter::kIsRate);
  state.counters["lanes"] = lanes.width;
}

/// The 16 cheapest partners of every job of a queue.
void top_partners(benchmark::State& state, const std::string& model, const Lanes& lanes,
                  int threads, std::size_t jobs) {
  const ScoredQueue queue(jobs);
  ScoringOptions options;
  options.lanes = &lanes;
  options.threads = threads;
  const PairScorer scorer(model_of(model), queue.jobs, queue.each, queue.solo_s, options);
  for (auto _ : state) benchmark::DoNotOptimize(scorer.top_partners({}, {.k = 16}));
  state.counters["pairs"] =
      benchmark::Counter(static_cast<double>(state.iterations()) * static_cast<double>(jobs) *
                             static_cast<double>(jobs - 1) / 2,
                         benchmark::Counter::kIsRate);
}

}  // namespace

int main(int argc, char** argv) {
  // The learned models' formulas one number at a time, too, with the instruction for fma where there is one:
  // without it each is a call of the library, and comparisons would be of that.
  corun::Lanes scalar = corun::scalar_lanes::lanes;
  for (const corun::CpuKernels& kernels : corun::cpu_kernels()) {
    if (std::string(kernels.name) == "fma") scalar.name = kernels.name;
  }
  struct Set {
    const corun::Lanes* lanes;
    std::string name;
  };
  std::vector<Set> sets{{&scalar, "scalar"}};
  for (const corun::Lanes* lanes : corun::usable_lanes()) sets.push_back({lanes, lanes->name});
  for (const double risk : {0.0, 1.0}) {
    for (const auto& [lanes, name] : sets) {
      const corun::CostRule rule{corun::Objective::kMinSlowdown, risk};
      benchmark::RegisterBenchmark(
          ("costs/contention/risk=" + std::to_string(static_cast<int>(risk)) + "/" + name).c_str(),
          [lanes = lanes, rule](benchmark::State& state) { costs(state, *lanes, rule); });
    }
  }
  const int cores = static_cast<int>(std::max(1U, std::thread::hardware_concurrency()));
  for (const char* model : {"contention", "cluster-mean", "gp", "boosted-trees"}) {
    for (const auto& [lanes, name] : sets) {
      for (const int threads : {1, cores}) {
        const bool quick =
            std::string(model) == "contention" || std::string(model) == "cluster-mean";
        const std::size_t jobs = quick ? 10000 : 384;
        benchmark::RegisterBenchmark(
            ("top-partners/" + std::string(model) + "/" + name +
             "/threads=" + std::to_string(threads) + "/n=" + std::to_string(jobs))
                .c_str(),
            [=, lanes = lanes](benchmark::State& state) {
              top_partners(state, model, *lanes, threads, jobs);
            })
            ->UseRealTime()
            ->Unit(benchmark::kMillisecond);
        if (cores == 1) break;
      }
    }
  }
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 1;
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}
