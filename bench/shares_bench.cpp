#include <algorithm>
#include <cstdint>
#include <ctime>
#include <vector>

#include <benchmark/benchmark.h>

#include "policies/shares/max_min.hpp"
#include "tests/policies/shares/random_problems.hpp"

/// Times of the programs of shares: cold, and warm-started while one job in a hundred leaves and another comes.
namespace {

using namespace corun;  // NOLINT: a program of one file

double cpu_s() {
  timespec t{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

ShareProblem problem_of(std::int64_t jobs, bool packed) {
  ShareProblem problem = test::random_problem(
      7,
      {.jobs = static_cast<std::uint32_t>(jobs), .types = 3, .exact_jobs = true, .packed = packed});
  for (int& gpus : problem.gpus) gpus = static_cast<int>(std::max<std::int64_t>(gpus, jobs / 10));
  return problem;
}

template <typename Solve>
void cold(benchmark::State& state, Solve&& solve, bool packed = false) {
  const ShareProblem problem = problem_of(state.range(0), packed);
  for (auto _ : state) benchmark::DoNotOptimize(solve(problem, nullptr));
}

void MaxMinCold(benchmark::State& state) {
  cold(state, [](const ShareProblem& p, ProgramBasis* b) { return max_min(p, b).objective; });
}
BENCHMARK(MaxMinCold)->Arg(60)->Arg(500)->Arg(2000)->Unit(benchmark::kMillisecond);

void MaxMinPackedCold(benchmark::State& state) {
  cold(
      state, [](const ShareProblem& p, ProgramBasis* b) { return max_min(p, b).objective; }, true);
}
BENCHMARK(MaxMinPackedCold)->Arg(60)->Arg(500)->Unit(benchmark::kMillisecond);

void FinishTimeFairnessCold(benchmark::State& state) {
  cold(state,
       [](const ShareProblem& p, ProgramBasis* b) { return finish_time_fairness(p, b).objective; });
}
BENCHMARK(FinishTimeFairnessCold)->Arg(60)->Arg(500)->Unit(benchmark::kMillisecond);

void WaterFillingCold(benchmark::State& state) {
  cold(state,
       [](const ShareProblem& p, ProgramBasis*) { return water_filling(p).shares.objective; });
}
BENCHMARK(WaterFillingCold)->Arg(60)->Unit(benchmark::kMillisecond);

/// Each iteration replaces the rates of one job in a hundred; its number is new.
template <typename Solve>
void warm(benchmark::State& state, Solve&& solve) {
  ShareProblem problem = problem_of(state.range(0), false);
  const ShareProblem others = test::random_problem(
      8, {.jobs = static_cast<std::uint32_t>(state.range(0)), .types = 3, .exact_jobs = true});
  ProgramBasis basis;
  benchmark::DoNotOptimize(solve(problem, &basis));
  std::size_t next = 0;
  std::vector<double> times_ms;
  for (auto _ : state) {
    for (std::size_t n = 0; n < std::max<std::size_t>(1, problem.jobs.size() / 100); ++n) {
      const std::size_t j = next++ % problem.jobs.size();
      problem.jobs[j].id = problem.jobs.size() + next;
      for (std::size_t t = 0; t < problem.types(); ++t) {
        problem.rates[j * problem.types() + t] =
            others.rates[(next * 7 % problem.jobs.size()) * problem.types() + t];
      }
      if (problem.rate(j, 0).a == 0) problem.rates[j * problem.types()].a = 1;
    }
    const double begin_s = cpu_s();
    benchmark::DoNotOptimize(solve(problem, &basis));
    times_ms.push_back((cpu_s() - begin_s) * 1e3);
  }
  std::ranges::sort(times_ms);
  state.counters["p99_ms"] = times_ms[times_ms.size() * 99 / 100];
}

void MaxMinWarm(benchmark::State& state) {
  warm(state, [](const ShareProblem& p, ProgramBasis* b) { return max_min(p, b).objective; });
}
BENCHMARK(MaxMinWarm)->Arg(60)->Arg(2000)->Iterations(100)->Unit(benchmark::kMillisecond);

void FinishTimeFairnessWarm(benchmark::State& state) {
  warm(state,
       [](const ShareProblem& p, ProgramBasis* b) { return finish_time_fairness(p, b).objective; });
}
BENCHMARK(FinishTimeFairnessWarm)->Arg(60)->Iterations(100)->Unit(benchmark::kMillisecond);

void WaterFillingWarm(benchmark::State& state) {
  warm(state,
       [](const ShareProblem& p, ProgramBasis* b) { return water_filling(p, b).shares.objective; });
}
BENCHMARK(WaterFillingWarm)->Arg(60)->Iterations(100)->Unit(benchmark::kMillisecond);

}  // namespace

BENCHMARK_MAIN();
