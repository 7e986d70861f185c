#include <algorithm>
#include <array>
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
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "bench/scored_queue.hpp"
#include "models/interference/catalog.hpp"
#include "models/scoring/gpu_scorer.cuh"
#include "models/scoring/pair_scorer.hpp"

/// Measures batch scoring on the GPU of this machine and prints one JSON object a line, flushed at once: the machine and its
/// roofs, then for each model and queue of 1,024 to 65,536 jobs the kernel and its share of the binding roof, transfers and
/// launches, the whole search and the same on all processor cores, last the size from which the GPU is quicker.
/// Every result is compared with the processor's, bit for bit; of queues that the processor needs too long for, 256 rows are.
///
///   gpu_bench [--seconds S] [--quick]    S: when to begin nothing new (default: 540); --quick: up to 1,024 jobs
///   gpu_bench --check                    small queues without time measurement, for compute-sanitizer
///
/// Exit status: 0 all bits as on the processor; 1 others; 2 bad usage; 3 no GPU.
namespace {

using namespace corun;
using cuda::check;
using cuda::DeviceBuffer;
using cuda::Event;
using GpuStream = cuda::Stream;

// ---- ceilings -----------------------------------------------------------------------------------

constexpr int kChains = 8;
/// Independent chains of fma, enough to hide each other's latency.
template <class Real>
__global__ void fma_chains(Real* out, int steps) {
  Real x[kChains];
  for (int c = 0; c < kChains; ++c) x[c] = static_cast<Real>(threadIdx.x + c);
  for (int s = 0; s < steps; ++s) {
#pragma unroll
    for (int c = 0; c < kChains; ++c) {
      x[c] = ::fma(x[c], static_cast<Real>(0.999999), static_cast<Real>(1e-6));
    }
  }
  Real sum = 0;
  for (int c = 0; c < kChains; ++c) sum += x[c];
  out[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}

__global__ void nothing() {}

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

struct Roofs {
  double fp64 = 0;      ///< double precision [1/s], an fma counts as two
  double fp32 = 0;      ///< single precision, likewise
  double bytes = 0;     ///< read and written, device memory [1/s]
  double to_gpu = 0;    ///< pinned memory [bytes/s]
  double from_gpu = 0;  ///< [bytes/s]
  double launch_s = 0;  ///< of a kernel that does nothing, one of many in a row [s]
};

template <class Real>
double fma_rate(const GpuStream& stream, int processors) {
  constexpr int kThreads = 256;
  constexpr int kSteps = 4096;
  const int blocks = processors * 32;
  const DeviceBuffer<Real> sums(static_cast<std::size_t>(blocks) * kThreads);
  const double fma_s = seconds(stream, [&] {
    fma_chains<Real><<<blocks, kThreads, 0, stream>>>(sums.data(), kSteps);
    cuda::check_launch("measuring arithmetic");
  });
  return 2.0 * kChains * kSteps * kThreads * blocks / fma_s;
}

Roofs measure_roofs(int processors) {
  Roofs out;
  const GpuStream stream;
  constexpr int kThreads = 256;
  out.fp64 = fma_rate<double>(stream, processors);
  out.fp32 = fma_rate<float>(stream, processors);
  constexpr int kLaunches = 1000;
  out.launch_s = seconds(stream,
                         [&] {
                           for (int l = 0; l < kLaunches; ++l) nothing<<<1, 1, 0, stream>>>();
                           cuda::check_launch("measuring launches");
                         }) /
                 kLaunches;

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

/// What a kernel does at least: operations as in the source, and bytes, mostly from the caches.
struct Work {
  double pairs = 0;  ///< of the measured kernel
  double fp64 = 0, fp32 = 0, bytes = 0;
  double kernel_s = 0;
  double moved = 0;     ///< of the whole search, to the GPU and back [bytes]
  double launches = 0;  ///< of the whole search
};

/// The fused search of a short formula, all of it, without transfers. [s]
template <class Jobs>
double fused_kernel_s(const Queue& queue, const Jobs& jobs) {
  const GpuStream stream;
  const cuda::OnGpu<Jobs> held(jobs, stream);
  const SoloTimes solo(queue.solo_s);
  const DeviceBuffer<double> times(std::span(solo.seconds), stream);
  const DeviceBuffer<double> inverse(std::span(solo.inverse), stream);
  const auto n = static_cast<std::uint32_t>(queue.jobs.size());
  const DeviceBuffer<double> cost(n * kCoRunners);
  const DeviceBuffer<std::uint32_t> position(n * kCoRunners);
  using Cost = CostFormula<false, Objective::kMinSlowdown>;
  using Shape = cuda::TopCoRunnersKernel<Cost>;
  return seconds(stream, [&] {
    cuda::top_co_runners<typename Jobs::View, Cost>
        <<<cuda::blocks(n, Shape::kRows), Shape::kThreads, Shape::shared_bytes(kCoRunners),
           stream>>>(held.view(), SoloView{times.data(), inverse.data()}, Cost{}, cuda::Ranking{n},
                     GpuTile{0, n, 0, n},
                     cuda::CoRunnerLists{kCoRunners, false, cost.data(), position.data()});
    cuda::check_launch("scoring");
  });
}

constexpr std::size_t kTile = 4096;  ///< rows of a tile of a long formula, as in gpu_scorer.cuh

/// Speeds of a tile of directed pairs by a long formula, with states prepared before. [s]
template <class Jobs>
double tile_kernel_s(Jobs& jobs, std::size_t rows) {
  const GpuStream stream;
  cuda::SpeedsOnGpu<Jobs> speeds(jobs, stream);
  const DeviceBuffer<double> speed(rows * rows), sd(rows * rows);
  const typename cuda::SpeedsOnGpu<Jobs>::Prepared prepared(speeds, rows);
  const PairTile tile{0, rows, 0, rows};
  speeds.prepare(prepared, 0, rows, stream);
  return seconds(
      stream,
      [&] {
        speeds.fill(prepared, tile, TileSpeeds::row_major(tile, speed.data(), sd.data()), stream);
      },
      2);
}

/// The kernel of a model on a queue, measured alone, and its work.
Work kernel_work(const Queue& queue, const InterferenceModel& model) {
  const auto formula = model.formula(queue.jobs, queue.each);
  const auto n = static_cast<double>(queue.jobs.size());
  const std::size_t rows = std::min(kTile, queue.jobs.size());
  const double tiles = std::ceil(n / static_cast<double>(rows));
  Work work;
  work.moved = n * 2 * sizeof(double) + n * kCoRunners * 12.0;
  const auto measure = [&]<class Jobs>(Jobs& jobs) {
    if constexpr (std::is_same_v<Jobs, ContentionJobs> || std::is_same_v<Jobs, KindTableJobs>) {
      work.kernel_s = fused_kernel_s(queue, jobs);
      work.pairs = n * n;
      work.launches = 1;
    } else {
      work.kernel_s = tile_kernel_s(jobs, rows);
      work.pairs = static_cast<double>(rows * rows);
      work.launches = tiles * tiles * 3;  // speeds of both directions, lists; states are a few more
    }
    if constexpr (std::is_same_v<Jobs, ContentionJobs>) {
      work.fp64 = 2 * kContentionFlops + kCostFlops;
      work.bytes = kContentionBytes;
      work.moved += n * 5 * sizeof(double);
    } else if constexpr (std::is_same_v<Jobs, KindTableJobs>) {
      // Both directions look up speed, deviation and inverse.
      work.fp64 = kCostFlops;
      work.bytes = 6 * sizeof(double) + (sizeof(std::uint32_t) + 2 * sizeof(double)) / 4.0;
    } else if constexpr (std::is_same_v<Jobs, GpBatch>) {
      work.fp64 = gp_flops(jobs);
      work.bytes = 2 * sizeof(double);  // the results
    } else {
      work.fp32 = static_cast<double>(jobs.trees.trees) * jobs.trees.depth;  // comparisons
      work.fp64 = static_cast<double>(jobs.trees.trees);                     // sum of the leaves
      work.bytes = 2 * sizeof(double);
    }
  };
  std::visit(measure, formula->jobs);
  return work;
}

/// The whole call on the GPU and on all cores, and whether the results are equal.
struct Whole {
  double gpu_s = 0;
  double cpu_s = 0;
  std::size_t cpu_jobs = 0;  ///< of the queue that the processor's time was measured on
  bool same = false;
};

/// `cpu`: whether the processor searches the whole queue; else 256 rows of it.
Whole whole(const InterferenceModel& model, const Queue& queue,
            const std::shared_ptr<Device>& device, int runs, bool cpu = true) {
  Whole out;
  const PairScorer on_gpu = scorer(queue, model, device);
  const PairScorer on_cpu = scorer(queue, model, nullptr);
  std::vector<CoRunner> by_gpu, by_cpu;
  by_gpu = on_gpu.top_co_runners({}, {.k = kCoRunners});  // does the one-time set-up
  out.gpu_s = wall([&] { by_gpu = on_gpu.top_co_runners({}, {.k = kCoRunners}); }, runs);
  if (cpu) {
    out.cpu_s = wall([&] { by_cpu = on_cpu.top_co_runners({}, {.k = kCoRunners}); }, 1);
    out.cpu_jobs = queue.jobs.size();
    out.same = by_gpu == by_cpu;
    return out;
  }
  std::vector<std::uint32_t> rows;
  constexpr std::size_t kSampled = 256;
  for (std::size_t r = 0; r < kSampled; ++r) {
    rows.push_back(static_cast<std::uint32_t>(r * queue.jobs.size() / kSampled));
  }
  by_cpu = on_cpu.top_co_runners({}, {.k = kCoRunners, .rows = rows});
  out.same = true;
  for (std::size_t e = 0; e < by_cpu.size(); ++e) {
    out.same = out.same && by_cpu[e] == by_gpu[rows[e / kCoRunners] * kCoRunners + e % kCoRunners];
  }
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
  Roofs roofs;
  bool same = true;
  double seconds = 540;
  bool quick = false;
  std::chrono::steady_clock::time_point began = std::chrono::steady_clock::now();

  /// 500 co-runs: 1,000 directed observations.
  static std::unique_ptr<InterferenceModel> fitted(const char* name) {
    return find_interference_model(name)->fit(table_of(50, 500), {});
  }
  std::vector<std::pair<const char*, const InterferenceModel*>> models() const {
    return {{"gp", gp.get()},
            {"contention", contention.get()},
            {"boosted-trees", trees.get()},
            {"cluster-mean", means.get()}};
  }
  double left_s() const {
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - began;
    return seconds - took.count();
  }
  Whole measure(const InterferenceModel& model, const Queue& queue, int runs, bool cpu = true) {
    const Whole all = whole(model, queue, device, runs, cpu);
    same = same && all.same;
    return all;
  }

  void print_machine();
  void print_searches(const char* name, const InterferenceModel& model);
  void print_search(const char* name, const Queue& queue, const Work& work, const Whole& all) const;
  void print_crossover(const char* name, const InterferenceModel& model);
};

void Report::print_machine() {
  cudaDeviceProp properties;
  check(cudaGetDeviceProperties(&properties, 0), "being asked what it is");
  int driver = 0;
  int runtime = 0;
  check(cudaDriverGetVersion(&driver), "being asked for its driver");
  check(cudaRuntimeGetVersion(&runtime), "being asked for its runtime");
  roofs = measure_roofs(properties.multiProcessorCount);
  std::printf(
      "{\"measure\": \"machine\", \"gpu\": \"%s\", \"compute\": \"%d.%d\", \"driver\": %d, "
      "\"runtime\": %d, \"cpu_threads\": %u, \"cpu_set\": \"%s\", \"fp64_flops\": %.4g, "
      "\"fp32_flops\": %.4g, \"bytes_per_s\": %.4g, \"to_gpu_bytes_per_s\": %.4g, "
      "\"from_gpu_bytes_per_s\": %.4g, \"launch_s\": %.3g, \"batch_overhead_s\": %.3g}\n",
      properties.name, properties.major, properties.minor, driver, runtime,
      std::thread::hardware_concurrency(), best_kernels().name, roofs.fp64, roofs.fp32, roofs.bytes,
      roofs.to_gpu, roofs.from_gpu, roofs.launch_s, device->batch_overhead_s());
  std::fflush(stdout);
}

void Report::print_search(const char* name, const Queue& queue, const Work& work,
                          const Whole& all) const {
  struct Roof {
    const char* name;
    double s;
  };
  const std::array<Roof, 3> all_roofs{{{"FP64", work.pairs * work.fp64 / roofs.fp64},
                                       {"FP32", work.pairs * work.fp32 / roofs.fp32},
                                       {"memory", work.pairs * work.bytes / roofs.bytes}}};
  const Roof& binding = *std::max_element(all_roofs.begin(), all_roofs.end(),
                                          [](const Roof& a, const Roof& b) { return a.s < b.s; });
  const double transfers_s = work.moved / std::min(roofs.to_gpu, roofs.from_gpu);
  const double launches_s = work.launches * roofs.launch_s;
  std::printf(
      "{\"measure\": \"search\", \"model\": \"%s\", \"n\": %zu, \"k\": %zu, \"kernel_pairs\": "
      "%.6g, "
      "\"kernel_s\": %.4g, \"roof\": \"%s\", \"share_of_roof\": %.3f, \"transfers_s\": %.3g, "
      "\"share_of_transfers\": %.4f, \"launches\": %.0f, \"share_of_launches\": %.4f, "
      "\"whole_s\": %.4g, \"all_cores_s\": %.4g, \"all_cores_measured_at_n\": %zu, \"ratio\": "
      "%.1f, "
      "\"same_bits\": %s}\n",
      name, queue.jobs.size(), kCoRunners, work.pairs, work.kernel_s, binding.name,
      binding.s / work.kernel_s, transfers_s, transfers_s / all.gpu_s, work.launches,
      launches_s / all.gpu_s, all.gpu_s, all.cpu_s, all.cpu_jobs, all.cpu_s / all.gpu_s,
      word(all.same));
  std::fflush(stdout);
}

/// Four times the jobs are sixteen times the pairs. A search that the processor would need too long for is compared with the
/// last one that it did, by the number of pairs.
void Report::print_searches(const char* name, const InterferenceModel& model) {
  constexpr double kGrowth = 16;
  double cpu_s = 0;
  double gpu_s = 0;
  std::size_t cpu_jobs = 0;
  for (std::size_t n = 1024; n <= (quick ? 1024U : 65536U); n *= 4) {
    if (2.5 * kGrowth * gpu_s > left_s()) {
      std::printf(
          "{\"measure\": \"search\", \"model\": \"%s\", \"n\": %zu, \"reason\": \"no time was "
          "left\"}\n",
          name, n);
      std::fflush(stdout);
      return;
    }
    const Queue queue(n);
    const Work work = kernel_work(queue, model);
    const bool cpu =
        cpu_jobs * 4 == n || n == 1024 ? kGrowth * cpu_s < std::min(100.0, left_s() / 4) : false;
    Whole all = measure(model, queue, n > 16384 ? 1 : 3, cpu);
    if (cpu) {
      cpu_jobs = n;
      cpu_s = all.cpu_s;
    } else {
      const double growth = static_cast<double>(n) / static_cast<double>(cpu_jobs);
      all.cpu_s = cpu_s * growth * growth;
      all.cpu_jobs = cpu_jobs;
    }
    gpu_s = all.gpu_s;
    print_search(name, queue, work, all);
  }
}

void Report::print_crossover(const char* name, const InterferenceModel& model) {
  std::size_t from = 0;  // 0: never
  for (std::size_t n = 32; n <= 8192 && from == 0; n *= 2) {
    if (left_s() < 5) return;
    const Whole all = measure(model, Queue(n), 3);
    if (all.gpu_s < all.cpu_s) from = n;
  }
  std::printf("{\"measure\": \"crossover\", \"model\": \"%s\", \"n\": %zu}\n", name, from);
  std::fflush(stdout);
}

int run(bool only_check, double seconds_to_run, bool quick) {
  Report report;
  report.seconds = seconds_to_run;
  report.quick = quick;
  if (only_check) {
    for (const auto& [name, model] : report.models()) report.measure(*model, Queue(300), 1);
    std::printf("%s\n", report.same ? "same bits" : "OTHER BITS");
    return report.same ? 0 : 1;
  }
  report.print_machine();
  for (const auto& [name, model] : report.models()) report.print_searches(name, *model);
  for (const auto& [name, model] : report.models()) {
    if (!quick) report.print_crossover(name, *model);
  }
  return report.same ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  bool only_check = false;
  bool quick = false;
  double seconds = 540;
  for (int a = 1; a < argc; ++a) {
    char* end = nullptr;
    if (std::strcmp(argv[a], "--check") == 0) {
      only_check = true;
    } else if (std::strcmp(argv[a], "--quick") == 0) {
      quick = true;
    } else if (std::strcmp(argv[a], "--seconds") == 0 && a + 1 < argc &&
               (seconds = std::strtod(argv[a + 1], &end)) > 0 && *end == '\0') {
      ++a;
    } else {
      std::fprintf(stderr, "gpu_bench: found '%s', expected --check, --quick or --seconds S\n",
                   argv[a]);
      return 2;
    }
  }
  try {
    return run(only_check, seconds, quick);
  } catch (const corun::DeviceError& error) {
    std::fprintf(stderr, "gpu_bench: %s\n", error.what());
    return 3;
  }
}
