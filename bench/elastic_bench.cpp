#include <cmath>
#include <cstdint>
#include <vector>

#include <benchmark/benchmark.h>

#include "models/goodput/goodput.hpp"
#include "policies/elastic/pollux_search.hpp"
#include "policies/elastic/sia_program.hpp"
#include "sim/rng.hpp"

/// Times of a pass of `pollux` and `sia`: the search and the program, with goodput of random jobs by the parametric model.
namespace {

using namespace corun;  // NOLINT: a program of one file

struct DrawnJob {
  StepTimeParameters parameters;
  GradientStatistics gradient;
  BatchLimits limits;
};

DrawnJob drawn_job(Rng& rng) {
  return {.parameters = {.alpha_c = 0.05 + 0.3 * rng.uniform(),
                         .beta_c = 0.001 + 0.01 * rng.uniform(),
                         .alpha_n = 0.05 + 0.2 * rng.uniform(),
                         .beta_n = 0.002 * rng.uniform(),
                         .alpha_r = 0.01 + 0.05 * rng.uniform(),
                         .beta_r = 0.001 * rng.uniform(),
                         .gamma = 1 + 5 * rng.uniform()},
          .gradient = {.sqr = 0.01 + rng.uniform(), .var = 10 * rng.uniform()},
          .limits = {.initial = 32, .most = 4096, .least_gpu = 8, .most_gpu = 128}};
}

/// Passes one after the other, each from the allocations of the last.
void PolluxPass(benchmark::State& state) {
  const std::vector<std::uint16_t> gpus(16, 4);
  Rng rng(7, Stream::kTest, 530);
  std::vector<PolluxJob> jobs(static_cast<std::size_t>(state.range(0)));
  for (std::size_t j = 0; j < jobs.size(); ++j) {
    jobs[j].key = j;
    jobs[j].most_gpus = 64;
    jobs[j].restart_factor = 0.5 + 0.5 * rng.uniform();
    const DrawnJob drawn = drawn_job(rng);
    const auto goodput = [drawn](GpuSpread on) {
      return best_batch(drawn.parameters, drawn.gradient, drawn.limits, on).goodput;
    };
    jobs[j].speedup = [goodput, alone = goodput({1, 1})](GpuSpread on) {
      return goodput(on) / alone;
    };
  }
  PolluxSearch search({}, 1);
  for (auto _ : state) {
    const auto rows = search.allocate(jobs, gpus);
    for (std::size_t j = 0; j < jobs.size(); ++j) jobs[j].held = rows[j];
  }
}
BENCHMARK(PolluxPass)->Arg(20)->Arg(60)->Arg(160)->Unit(benchmark::kMillisecond);

void SiaPass(benchmark::State& state) {
  const std::vector<SiaNodes> types{{6, 4}, {3, 8}, {2, 8}};
  SiaProgram program;
  program.configurations = sia_configurations(types);
  for (const SiaNodes& type : types) program.gpus.push_back(type.nodes * type.gpus_per_node);
  Rng rng(7, Stream::kTest, 531);
  std::vector<std::vector<double>> goodputs;
  for (std::int64_t j = 0; j < state.range(0); ++j) {
    const DrawnJob drawn = drawn_job(rng);
    const double speeds[] = {1, 1 + 2 * rng.uniform(), 1 + 5 * rng.uniform()};
    std::vector<double> row;
    for (const SiaConfiguration& c : program.configurations) {
      row.push_back(
          speeds[c.type] *
          best_batch(drawn.parameters, drawn.gradient, drawn.limits, {c.nodes, c.gpus}).goodput);
    }
    goodputs.push_back(std::move(row));
  }
  std::vector<std::optional<std::uint32_t>> held(goodputs.size());
  for (auto _ : state) {
    program.jobs.clear();
    for (std::size_t j = 0; j < goodputs.size(); ++j)
      program.jobs.push_back(
          {.costs = sia_costs(goodputs[j], held[j], 0.8, program.p), .keeps = {}});
    held = assign_configurations(program).configurations;
  }
}
BENCHMARK(SiaPass)->Arg(20)->Arg(60)->Arg(160)->Unit(benchmark::kMillisecond);

}  // namespace

BENCHMARK_MAIN();
