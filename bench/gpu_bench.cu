#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <limits>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "bench/scored_queue.hpp"
#include "models/interference/catalog.hpp"
#include "models/scoring/gpu_scorer.cuh"
#include "models/scoring/pair_scorer.hpp"

/// Measures batch scoring on the GPU of this machine and prints one JSON object (bench/gpu.sh writes it to
/// a file): ceilings, the fused top-k search relative to them, transfers separately, the ratio to all
/// processor cores, and the size from which the GPU is quicker. Every result is compared with the
/// processor's, bit for bit. `--check`: small sizes without time measurement, for compute-sanitizer.
namespace {

using namespace corun;
using cuda::check;
using cuda::DeviceBuffer;
using cuda::Event;
using GpuStream = cuda::Stream;

// ---- ceilings -----------------------------------------------------------------------------------

constexpr int kChains = 8;
/// Independent chains of double fma, enough to hide each other's latency.
__global__ void fma_chains(double* out, int steps) {
  double x[kChains];
  for (int c = 0; c < kChains; ++c) x[c] = threadIdx.x + c;
  for (int s = 0; s < steps; ++s) {
#pragma unroll
    for (int c = 0; c < kChains; ++c) x[c] = math::fma(x[c], 0.999999, 1e-6);
  }
  double sum = 0;
  for (int c = 0; c < kChains; ++c) sum += x[c];
  out[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}

__global__ void copy(const double* from, double* to, std::size_t count) {
  const std::size_t step = std::size_t{gridDim.x} * blockDim.x;
  for (std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x; i < count; i += step) {
    to[i] = from[i];
  }
}

/// Shortest time of some runs after one unmeasured run; work(stream) queues one run. [s]
double seconds(const GpuStream& stream, const std::function<void()>& work, int runs = 5) {
  double best = std::numeric_limits<double>::infinity();
  for (int run = 0; run <= runs; ++run) {
    Event begin, end;
    begin.record(stream);
    work();
    end.record(stream);
    const double took = end.seconds_since(begin);
    if (run > 0) best = std::min(best, took);
  }
  return best;
}

struct Ceilings {
  double flops = 0;   ///< double precision [1/s], an fma counts as two
  double bytes = 0;   ///< read and written, device memory [1/s]
  double to_gpu = 0;  ///< pinned memory [bytes/s]
  double from_gpu = 0;
};

Ceilings measure_ceilings(int processors) {
  Ceilings out;
  const GpuStream stream;
  constexpr int kThreads = 256;
  constexpr int kSteps = 4096;
  const int blocks = processors * 32;
  const DeviceBuffer<double> sums(static_cast<std::size_t>(blocks) * kThreads);
  const double fma_s = seconds(stream, [&] {
    fma_chains<<<blocks, kThreads, 0, stream>>>(sums.data(), kSteps);
    cuda::check_launch("measuring arithmetic");
  });
  out.flops = 2.0 * kChains * kSteps * kThreads * blocks / fma_s;

  constexpr std::size_t kCount = std::size_t{1} << 26;  // half a gibibyte
  const DeviceBuffer<double> from(kCount), to(kCount);
  check(cudaMemsetAsync(from.data(), 0, kCount * sizeof(double), stream), "clearing memory");
  const double copy_s = seconds(stream, [&] {
    copy<<<processors * 16, kThreads, 0, stream>>>(from.data(), to.data(), kCount);
    cuda::check_launch("measuring memory");
  });
  out.bytes = 2.0 * kCount * sizeof(double) / copy_s;

  constexpr std::size_t kMoved = std::size_t{1} << 24;
  const cuda::PinnedBuffer<double> pinned(kMoved);
  std::fill_n(pinned.data(), kMoved, 0.0);
  DeviceBuffer<double> moved(kMoved);
  out.to_gpu =
      kMoved * sizeof(double) / seconds(stream, [&] { moved.copy_from(pinned.span(), stream); });
  out.from_gpu =
      kMoved * sizeof(double) / seconds(stream, [&] { moved.copy_to(pinned.span(), stream); });
  return out;
}

// ---- the scored queue ---------------------------------------------------------------------------

using Queue = ScoredQueue;

PairScorer scorer(const Queue& queue, const InterferenceModel& model,
                  std::shared_ptr<Device> device) {
  ScoringOptions options;
  options.threads = static_cast<int>(std::max(1U, std::thread::hardware_concurrency()));
  options.device = std::move(device);
  return {model, queue.jobs, queue.each, queue.solo_s, options};
}

/// Double-precision operations as in the source, an fma as two, a quotient as one (the hardware takes about
/// eighteen). The cost of a pair, objective min-slowdown, risk 0: two times together 2, the first job to
/// end 1, the loss of the other 2, two slowdowns 2, their sum 1.
constexpr double kCostFlops = 8;
/// One direction by contention: pressures 7, sum of the excess 8, speed 2, its inverse 4.
constexpr double kContentionFlops = 21;
/// Bytes that a block of the fused search reads of one co-runner, for kRows jobs: five numbers, two solo
/// times.
constexpr double kContentionBytes = 7 * sizeof(double) / 4.0;

/// One direction by gp: the lower triangle of the quadratic form and two chains of its width, all fma.
double gp_flops(const GpBatch& batch) {
  const auto width = static_cast<double>(batch.formula.width());
  return 2 * (width * (width + 1) / 2 + 2 * width);
}

double wall(const std::function<void()>& work, int runs) {
  double best = std::numeric_limits<double>::infinity();
  for (int run = 0; run < runs; ++run) {
    const auto started = std::chrono::steady_clock::now();
    work();
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - started;
    best = std::min(best, took.count());
  }
  return best;
}

constexpr std::size_t kCoRunners = 16;

/// The fused search without transfers: only the kernel. [s]
double contention_kernel_s(const Queue& queue, const InterferenceModel& model) {
  const auto formula = model.formula(queue.jobs, queue.each);
  const GpuStream stream;
  const cuda::OnGpu<ContentionJobs> held(std::get<ContentionJobs>(formula->jobs), stream);
  const SoloTimes solo(queue.solo_s);
  const DeviceBuffer<double> times(std::span(solo.seconds), stream);
  const DeviceBuffer<double> inverse(std::span(solo.inverse), stream);
  const auto n = static_cast<std::uint32_t>(queue.jobs.size());
  const DeviceBuffer<double> cost(n * kCoRunners);
  const DeviceBuffer<std::uint32_t> position(n * kCoRunners);
  using Cost = CostFormula<false, Objective::kMinSlowdown>;
  using Shape = cuda::TopCoRunnersKernel<Cost>;
  return seconds(stream, [&] {
    cuda::top_co_runners<ContentionView, Cost><<<cuda::blocks(n, Shape::kRows), Shape::kThreads,
                                                 Shape::shared_bytes(kCoRunners), stream>>>(
        held.view(), SoloView{times.data(), inverse.data()}, Cost{}, cuda::Ranking{n},
        GpuTile{0, n, 0, n}, cuda::CoRunnerLists{kCoRunners, false, cost.data(), position.data()});
    cuda::check_launch("scoring");
  });
}

/// Speeds of 4096 x 4096 directed pairs by gp, with states prepared before. [s]
double gp_kernel_s(const Queue& queue, const InterferenceModel& model, std::size_t rows,
                   double& prepare_s) {
  const auto formula = model.formula(queue.jobs, queue.each);
  const GpuStream stream;
  cuda::SpeedsOnGpu<GpBatch> speeds(std::get<GpBatch>(formula->jobs), stream);
  const DeviceBuffer<double> speed(rows * rows), sd(rows * rows);
  const cuda::SpeedsOnGpu<GpBatch>::Prepared prepared(speeds, rows);
  const PairTile tile{0, rows, 0, rows};
  prepare_s = seconds(
      stream, [&] { speeds.prepare(prepared, 0, rows, stream); }, 2);
  return seconds(
      stream,
      [&] {
        speeds.fill(prepared, tile, TileSpeeds::row_major(tile, speed.data(), sd.data()), stream);
      },
      2);
}

/// One line of the report: the whole call on the GPU and on all cores, and whether the results are equal.
struct Whole {
  double gpu_s = 0, cpu_s = 0;
  bool same = false;
};
Whole whole(const InterferenceModel& model, const Queue& queue,
            const std::shared_ptr<Device>& device, int runs) {
  Whole out;
  const PairScorer on_gpu = scorer(queue, model, device);
  const PairScorer on_cpu = scorer(queue, model, nullptr);
  std::vector<CoRunner> by_gpu, by_cpu;
  by_gpu = on_gpu.top_co_runners({}, {.k = kCoRunners});  // does the one-time set-up
  out.gpu_s = wall([&] { by_gpu = on_gpu.top_co_runners({}, {.k = kCoRunners}); }, runs);
  out.cpu_s = wall([&] { by_cpu = on_cpu.top_co_runners({}, {.k = kCoRunners}); }, 1);
  out.same = by_gpu == by_cpu;
  return out;
}

const char* word(bool value) { return value ? "true" : "false"; }

/// The measured models, and whether all GPU results had the processor's bits.
struct Report {
  std::shared_ptr<Device> device = choose_device("cuda");
  std::unique_ptr<InterferenceModel> contention = fitted("contention");
  std::unique_ptr<InterferenceModel> gp = fitted("gp");
  std::unique_ptr<InterferenceModel> trees = fitted("boosted-trees");
  std::unique_ptr<InterferenceModel> means = fitted("cluster-mean");
  Ceilings ceilings;
  bool same = true;

  /// 500 co-runs: 1,000 directed observations.
  static std::unique_ptr<InterferenceModel> fitted(const char* name) {
    return find_interference_model(name)->fit(table_of(50, 500), {});
  }
  std::vector<std::pair<const char*, const InterferenceModel*>> models() const {
    return {{"contention", contention.get()},
            {"gp", gp.get()},
            {"boosted-trees", trees.get()},
            {"cluster-mean", means.get()}};
  }
  Whole measure(const InterferenceModel& model, const Queue& queue, int runs) {
    const Whole all = whole(model, queue, device, runs);
    same = same && all.same;
    return all;
  }

  void print_machine();
  void print_contention();
  void print_gp();
  void print_others();
  void print_crossover();
};

void Report::print_machine() {
  cudaDeviceProp properties;
  check(cudaGetDeviceProperties(&properties, 0), "being asked what it is");
  int driver = 0;
  int runtime = 0;
  check(cudaDriverGetVersion(&driver), "being asked for its driver");
  check(cudaRuntimeGetVersion(&runtime), "being asked for its runtime");
  ceilings = measure_ceilings(properties.multiProcessorCount);
  std::printf(
      "  \"kind\": \"corun gpu bench\",\n  \"gpu\": \"%s\", \"compute\": \"%d.%d\",\n"
      "  \"driver\": %d, \"runtime\": %d, \"cpu_threads\": %u, \"cpu_set\": \"%s\",\n",
      properties.name, properties.major, properties.minor, driver, runtime,
      std::thread::hardware_concurrency(), best_kernels().name);
  std::printf(
      "  \"ceilings\": {\"flops\": %.4g, \"bytes_per_s\": %.4g, \"to_gpu_bytes_per_s\": %.4g, "
      "\"from_gpu_bytes_per_s\": %.4g},\n",
      ceilings.flops, ceilings.bytes, ceilings.to_gpu, ceilings.from_gpu);
}

void Report::print_contention() {
  std::printf("  \"contention\": [");
  for (const std::size_t n : {4096, 16384, 65536}) {
    const Queue queue(n);
    const double pairs = static_cast<double>(n) * static_cast<double>(n);
    const double kernel_s = contention_kernel_s(queue, *contention);
    const Whole all = measure(*contention, queue, 3);
    const double flops = pairs * (2 * kContentionFlops + kCostFlops);
    const double bytes = pairs * kContentionBytes;  // mostly from the caches
    const double moved_s =
        n * 7 * sizeof(double) / ceilings.to_gpu + n * kCoRunners * 12.0 / ceilings.from_gpu;
    std::printf(
        "%s\n    {\"n\": %zu, \"k\": %zu, \"kernel_s\": %.4g, \"flops\": %.4g, "
        "\"bytes\": %.4g, \"share_of_flops\": %.3f, \"share_of_bytes\": %.3f, "
        "\"transfers_s\": %.3g, \"whole_s\": %.4g, \"all_cores_s\": %.4g, "
        "\"ratio\": %.1f, \"same_bits\": %s}",
        n == 4096 ? "" : ",", n, kCoRunners, kernel_s, flops, bytes,
        flops / kernel_s / ceilings.flops, bytes / kernel_s / ceilings.bytes, moved_s, all.gpu_s,
        all.cpu_s, all.cpu_s / all.gpu_s, word(all.same));
    std::fflush(stdout);
  }
  std::printf("\n  ],\n");
}

void Report::print_gp() {
  const std::size_t n = 16384;
  const std::size_t rows = 4096;
  const Queue queue(n);
  double prepare_s = 0;
  const double kernel_s = gp_kernel_s(queue, *gp, rows, prepare_s);
  const auto formula = gp->formula(queue.jobs, queue.each);
  const double flops = gp_flops(std::get<GpBatch>(formula->jobs)) * rows * rows;
  const Whole all = measure(*gp, queue, 1);
  std::printf(
      "  \"gp\": {\"n\": %zu, \"observations\": 1000, \"tile\": %zu, \"prepare_s\": %.4g, "
      "\"kernel_s\": %.4g, \"flops\": %.4g, \"share_of_flops\": %.3f, \"whole_s\": %.4g, "
      "\"all_cores_s\": %.4g, \"ratio\": %.1f, \"same_bits\": %s},\n",
      n, rows, prepare_s, kernel_s, flops, flops / kernel_s / ceilings.flops, all.gpu_s, all.cpu_s,
      all.cpu_s / all.gpu_s, word(all.same));
  std::fflush(stdout);
}

void Report::print_others() {
  for (const auto& [name, model, n] :
       {std::tuple{"boosted-trees", trees.get(), std::size_t{4096}},
        std::tuple{"cluster-mean", means.get(), std::size_t{16384}}}) {
    const Whole all = measure(*model, Queue(n), 2);
    std::printf(
        "  \"%s\": {\"n\": %zu, \"whole_s\": %.4g, \"all_cores_s\": %.4g, \"ratio\": %.1f, "
        "\"same_bits\": %s},\n",
        name, n, all.gpu_s, all.cpu_s, all.cpu_s / all.gpu_s, word(all.same));
    std::fflush(stdout);
  }
}

void Report::print_crossover() {
  std::printf("  \"crossover_jobs\": {");
  bool first = true;
  for (const auto& [name, model] : models()) {
    std::size_t from = 0;  // 0: never
    for (std::size_t n = 32; n <= 8192 && from == 0; n *= 2) {
      const Whole all = measure(*model, Queue(n), 3);
      if (all.gpu_s < all.cpu_s) from = n;
    }
    std::printf("%s\"%s\": %zu", first ? "" : ", ", name, from);
    first = false;
  }
  std::printf("},\n");
}

int run(bool only_check) {
  Report report;
  if (only_check) {
    for (const auto& [name, model] : report.models()) report.measure(*model, Queue(300), 1);
    std::printf("%s\n", report.same ? "same bits" : "OTHER BITS");
    return report.same ? 0 : 1;
  }
  std::printf("{\n");
  report.print_machine();
  report.print_contention();
  report.print_gp();
  report.print_others();
  report.print_crossover();
  std::printf("  \"batch_overhead_s\": %.3g,\n  \"same_bits\": %s\n}\n",
              report.device->batch_overhead_s(), word(report.same));
  return report.same ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return run(argc > 1 && std::strcmp(argv[1], "--check") == 0);
  } catch (const corun::DeviceError& error) {
    std::fprintf(stderr, "gpu_bench: %s\n", error.what());
    return 3;
  }
}
