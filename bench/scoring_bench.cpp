#include <algorithm>
#include <cstdint>
#include <cstdio>
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
#include "models/vector_units/kernels.hpp"

/// Batch scoring on the processor: the innermost loop by instruction set against a scalar loop of the
/// same bits, and whole queues by instruction set and threads. Each step is one pair; see the counter
/// pairs/s.
namespace corun::scalar {
extern const Kernels kernels;
}

namespace {

using namespace corun;

const InterferenceModel& model_of(const std::string& name) {
  static std::map<std::string, std::unique_ptr<InterferenceModel>> all;
  auto& model = all[name];
  if (!model) model = find_interference_model(name)->fit(table_of(50, 500), {});
  return *model;
}

/// Costs of 128 x 128 pairs by the contention model, with data in the caches.
void costs(benchmark::State& state, const Kernels& kernels, CostRule rule) {
  static const ScoredQueue queue(1024);
  const auto formula = model_of("contention").formula(queue.jobs, queue.each);
  const ContentionView view = view_of(std::get<ContentionJobs>(formula->jobs));
  const SoloTimes solo(queue.solo_s);
  const SoloView times{solo.seconds.data(), solo.inverse.data()};
  constexpr std::size_t kSide = 128;
  std::vector<double> out(kSide * kSide), expected(kSide * kSide);
  const PairTile tile{0, kSide, 4 * kSide, 5 * kSide};
  scalar::kernels.of<ContentionJobs>().costs(view, times, rule, tile, expected.data());
  for (auto _ : state) {
    kernels.of<ContentionJobs>().costs(view, times, rule, tile, out.data());
    benchmark::ClobberMemory();
  }
  if (std::memcmp(out.data(), expected.data(), out.size() * sizeof(double)) != 0) {
    state.SkipWithError("not the bits of the scalar loop");
  }
  state.counters["pairs"] = benchmark::Counter(
      static_cast<double>(state.iterations()) * kSide * kSide, benchmark::Counter::kIsRate);
  state.counters["lanes"] = kernels.width;
}

/// The 16 cheapest co-runners of every job of a queue.
void top_co_runners(benchmark::State& state, const std::string& model, const Kernels& kernels,
                    int threads, std::size_t jobs) {
  const ScoredQueue queue(jobs);
  ScoringOptions options;
  options.kernels = &kernels;
  options.threads = threads;
  const PairScorer scorer(model_of(model), queue.jobs, queue.each, queue.solo_s, options);
  for (auto _ : state) benchmark::DoNotOptimize(scorer.top_co_runners({}, {.k = 16}));
  state.counters["pairs"] =
      benchmark::Counter(static_cast<double>(state.iterations()) * static_cast<double>(jobs) *
                             static_cast<double>(jobs - 1) / 2,
                         benchmark::Counter::kIsRate);
}

}  // namespace

int main(int argc, char** argv) {
  std::vector<const corun::Kernels*> sets{&corun::scalar::kernels};
  for (const corun::Kernels* kernels : corun::usable_kernels()) sets.push_back(kernels);
#if defined(__x86_64__)
  if (!__builtin_cpu_supports("fma")) {
    std::fputs("scoring_bench: the scalar loop wants a processor with fma\n", stderr);
    return 1;
  }
#endif
  for (const double risk : {0.0, 1.0}) {
    for (const corun::Kernels* kernels : sets) {
      const corun::CostRule rule{corun::Objective::kMinSlowdown, risk};
      benchmark::RegisterBenchmark(
          ("costs/contention/risk=" + std::to_string(static_cast<int>(risk)) + "/" + kernels->name)
              .c_str(),
          [kernels, rule](benchmark::State& state) { costs(state, *kernels, rule); });
    }
  }
  const int cores = static_cast<int>(std::max(1U, std::thread::hardware_concurrency()));
  for (const char* model : {"contention", "cluster-mean", "gp", "boosted-trees"}) {
    for (const corun::Kernels* kernels : sets) {
      for (const int threads : {1, cores}) {
        const bool quick =
            std::string(model) == "contention" || std::string(model) == "cluster-mean";
        const std::size_t jobs = quick ? 10000 : 384;
        benchmark::RegisterBenchmark(
            ("top-partners/" + std::string(model) + "/" + kernels->name +
             "/threads=" + std::to_string(threads) + "/n=" + std::to_string(jobs))
                .c_str(),
            [=](benchmark::State& state) { top_co_runners(state, model, *kernels, threads, jobs); })
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
