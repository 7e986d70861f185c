#include <chrono>
#include <cstdint>

#include <benchmark/benchmark.h>

#include "services/queue_approximation.hpp"
#include "services/queue_simulation.hpp"

/// Requests of a service: the event simulation of 10^7 of them, and a day of load by the approximation.
namespace {

using namespace std::chrono_literals;

corun::ServiceQueue service(int largest, int replicas) {
  return {corun::ServiceTimes({{1, 0.010}, {16, 0.040}}),
          corun::ServiceVariation::kExponential,
          {largest, 5ms},
          replicas};
}

void simulate(benchmark::State& state) {
  const corun::ServiceQueue queue =
      service(static_cast<int>(state.range(0)), static_cast<int>(state.range(1)));
  const auto requests = static_cast<double>(state.range(2));
  const double per_s = 0.8 * corun::capacity_per_s(queue);
  const corun::RequestLoad load =
      corun::constant_load(per_s, corun::from_seconds(requests / per_s));
  for (auto _ : state) {
    corun::LoadRequests source(load, corun::Spacing::kPoisson, 1);
    benchmark::DoNotOptimize(corun::simulate_queue(queue, source, {.seed = 1}).latency.mean_s());
  }
  state.SetItemsProcessed(state.iterations() * state.range(2));
}

void approximate_a_day(benchmark::State& state) {
  const corun::ServiceQueue queue =
      service(static_cast<int>(state.range(0)), static_cast<int>(state.range(1)));
  const double per_s = 0.5 * corun::capacity_per_s(queue);
  const corun::RequestLoad load = corun::diurnal_load({.mean_per_s = per_s, .swing = 0.6}, 24h);
  for (auto _ : state) {
    benchmark::DoNotOptimize(corun::approximate_queue(queue, load, corun::Spacing::kPoisson, {})
                                 .result.latency.mean_s());
  }
}

BENCHMARK(simulate)
    ->Name("requests/simulate")
    ->ArgNames({"batch", "replicas", "requests"})
    ->Args({1, 1, 10'000'000})
    ->Args({16, 1, 10'000'000})
    ->Args({16, 8, 10'000'000})
    ->Unit(benchmark::kMillisecond);
BENCHMARK(approximate_a_day)
    ->Name("requests/approximate-a-day")
    ->ArgNames({"batch", "replicas"})
    ->Args({1, 1})
    ->Args({1, 8})
    ->Args({16, 1})
    ->Unit(benchmark::kMillisecond);

}  // namespace

BENCHMARK_MAIN();
