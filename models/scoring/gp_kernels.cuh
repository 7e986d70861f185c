#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>

#include "models/formulas/gp_batch.hpp"
#include "models/formulas/gp_formula.hpp"
#include "models/scoring/cuda_support.hpp"
#include "models/scoring/gpu_tile.hpp"

/// The Gaussian process on the GPU: the kernels of the formula and the owner of its arrays there. Compiled by
/// nvcc, and as ordinary C++ by the tests, whose fibers run the kernels.
namespace corun::inline models::CORUN_GPU {

struct GpKernels {
  static constexpr unsigned kThreads = 128;
  /// For gp_speeds: a block has kSlowed slowed jobs, one per warp, and a thread has kCoRunners co-runners. A
  /// thread keeps 48 sums in registers (more would spill on some architectures) and loads 14 numbers for each
  /// update. Per warp, a multiprocessor takes 28 cycles for the loads; its double-precision units take 48
  /// cycles for the sums on a V100 or A100, 24 on an H100.
  static constexpr unsigned kWarp = 32;
  static constexpr unsigned kSlowed = kThreads / kWarp;
  static constexpr unsigned kCoRunners = 6;
  /// How many numbers beyond the last co-runner a block may read in a row of Jobs::co_runner.
  static constexpr unsigned kSlack = kWarp * kCoRunners;
  /// Columns of a panel (gp::Layout) in shared memory at a time.
  static constexpr unsigned kColumns = 32;
};

/// Row blockIdx.y of the kernel arrays of Jobs: those of the co-runners first, then those of the slowed jobs.
template <unsigned Threads>
__global__ void __launch_bounds__(Threads) gp_describe(gp::Problem problem) {
  const gp::Model& model = problem.model;
  const gp::Jobs& jobs = problem.jobs;
  const std::size_t j = std::size_t{blockIdx.x} * Threads + threadIdx.x;
  if (j >= jobs.stride) return;
  if (blockIdx.y < model.co_runners) {
    gp::describe_co_runner(model, jobs, j, blockIdx.y);
  } else {
    gp::describe_own(model, jobs, j, blockIdx.y - model.co_runners);
  }
}

/// precision_alone_row() of row blockIdx.y for `count` slowed jobs: `precision_alone` is rows x count,
/// row-major.
template <unsigned Threads>
__global__ void __launch_bounds__(Threads)
    gp_precision_alone(gp::Problem problem, std::uint32_t first, std::uint32_t count,
                       double* precision_alone) {
  const gp::Model& model = problem.model;
  const gp::Jobs& jobs = problem.jobs;
  const std::uint32_t i = blockIdx.x * Threads + threadIdx.x;
  if (i >= count) return;
  const std::size_t a = blockIdx.y;
  precision_alone[a * count + i] =
      gp::precision_alone_row<double>(model, a, jobs.alone + first + i, jobs.stride);
}

/// A row and a column of the quadratic form.
struct GpEntry {
  std::size_t row = 0, column = 0;
};
/// The place in the form of number `at` < layout.mean() of a state.
CORUN_HOST_DEVICE_INLINE GpEntry form_entry_at(std::size_t at) {
  std::size_t panel = 0;
  while (gp::Layout::panel(panel + 1) <= at) ++panel;
  const std::size_t in_panel = at - gp::Layout::panel(panel);
  return {panel * gp::kPanel + in_panel % gp::kPanel, in_panel / gp::kPanel};
}

/// Number blockIdx.y + `from` of the states of slowed jobs, from `precision_alone`. The threads of a block
/// read the same rows of the precision.
template <unsigned Threads>
__global__ void __launch_bounds__(Threads)
    gp_prepare(gp::Problem problem, gp::SlowedJobs wanted, std::uint32_t from,
               const double* precision_alone, double* states) {
  const gp::Model& model = problem.model;
  const gp::Layout& layout = problem.layout;
  const std::uint32_t i = blockIdx.x * Threads + threadIdx.x;
  if (i >= wanted.count) return;
  const gp::Slowed slowed =
      gp::Slowed::of(problem.jobs, wanted.first + i, precision_alone + i, wanted.count);
  const std::size_t at = std::size_t{from} + blockIdx.y;
  double number = 0;
  if (at < layout.mean()) {
    const GpEntry entry = form_entry_at(at);
    if (entry.column <= entry.row) {
      number = gp::form_entry<double>(model, entry.row, entry.column, slowed);
    }
  } else if (at < layout.line(0)) {
    number = gp::mean_entry<double>(model, at - layout.mean(), slowed);
  } else {
    const std::size_t in_lines = at - layout.line(0);
    const std::size_t length = layout.width + 2;
    number =
        gp::line_entry<double>(model, wanted.known[in_lines / length], in_lines % length, slowed);
  }
  states[i * layout.size() + at] = number;
}

/// Speeds of a tile, from the states of its rows. Each warp has one slowed job, each thread kCoRunners
/// co-runners, 32 apart. Panels of the forms are staged in shared memory, where all threads of a warp read
/// the same number. v stays in the first-level cache, because the next blocks have other slowed jobs with the
/// same co-runners.
template <unsigned CoRunners>
__global__ void __launch_bounds__(GpKernels::kThreads, 2)
    gp_speeds(gp::Problem problem, GpuTile tile, const double* states, TileSpeeds out) {
  using Shape = GpKernels;
  const gp::Model& model = problem.model;
  const gp::Jobs& jobs = problem.jobs;
  const gp::Layout& layout = problem.layout;
  const std::uint32_t slowed_count = tile.rows();
  const std::uint32_t count = tile.columns();
  const std::uint32_t first = tile.j0;
  alignas(16) __shared__ double form[Shape::kSlowed][Shape::kColumns * gp::kPanel];
  const unsigned warp = threadIdx.x / Shape::kWarp;
  const unsigned lane = threadIdx.x % Shape::kWarp;
  // Warps and threads beyond the last job repeat it and write nothing.
  const std::uint32_t slowed = blockIdx.x * Shape::kSlowed + warp;
  const std::uint32_t i = slowed < slowed_count ? slowed : slowed_count - 1;
  const double* const state = states + i * layout.size();
  const gp::Load slowed_load = jobs.load(tile.i0 + i);
  const auto co_runner = [&](unsigned n) {
    return (blockIdx.y * CoRunners + n) * Shape::kWarp + lane;
  };
  const auto job = [&](unsigned n) {
    const std::uint32_t p = co_runner(n);
    return first + (p < count ? p : count - 1);
  };
  // The index is not known at compile time, so this array is in the thread's local memory, not in registers.
  double pressures[CoRunners][gp::kPressureCount];
  CORUN_ROLLED
  for (unsigned n = 0; n < CoRunners; ++n) {
    gp::pressures_of(model, slowed_load, jobs.load(job(n)), pressures[n]);
  }
  const std::size_t constant = model.co_runners;
  // The array has kSlack unused numbers behind the last job, so that these reads stay inside.
  const double* const nearest = jobs.co_runner + first + co_runner(0);
  const auto near = [&](std::size_t b, unsigned n) {
    return nearest[b * jobs.stride + n * Shape::kWarp];
  };
  const auto v = [&](std::size_t b, unsigned n) {
    if (b < constant) return near(b, n);
    if (b == constant) return 1.0;
    return b <= constant + gp::kPressureCount ? pressures[n][b - constant - 1] : 0.0;
  };

  double mean[CoRunners];
  double explained[CoRunners];
  CORUN_UNROLL
  for (unsigned n = 0; n < CoRunners; ++n) mean[n] = explained[n] = 0;
  for (std::size_t row = 0; row < layout.width; row += gp::kPanel) {
    const double* const panel = state + gp::Layout::panel(row / gp::kPanel);
    double sum[gp::kPanel][CoRunners];
    CORUN_UNROLL
    for (unsigned r = 0; r < gp::kPanel; ++r) {
      CORUN_UNROLL
      for (unsigned n = 0; n < CoRunners; ++n) sum[r][n] = 0;
    }
    for (std::size_t from = 0; from < row + gp::kPanel; from += Shape::kColumns) {
      const std::size_t left = row + gp::kPanel - from;
      const std::size_t columns = left < Shape::kColumns ? left : Shape::kColumns;
      __syncthreads();  // all threads have read the last part
      for (std::size_t e = lane; e < columns * gp::kPanel; e += Shape::kWarp) {
        form[warp][e] = panel[from * gp::kPanel + e];
      }
      __syncthreads();
      // Below the diagonal: columns of co-runners' kernels, then the others.
      const double* const here = form[warp];
      const std::size_t below = row < from + columns ? row : from + columns;
      const std::size_t plain = from > constant ? from : (below < constant ? below : constant);
      gp::add_columns(here, from, plain, near, sum);
      gp::add_columns(here + (plain - from) * gp::kPanel, plain, below, v, sum);
      if (from + columns > row) {
        gp::end_rows(here + (row - from) * gp::kPanel, state + layout.mean() + row, row, v, sum,
                     mean, explained);
      }
    }
  }
  CORUN_ROLLED
  for (unsigned n = 0; n < CoRunners; ++n) {
    const std::int32_t line = jobs.line[job(n)];
    if (line != gp::kNew) {
      gp::add_line(
          state + layout.line(static_cast<std::size_t>(line)), layout.width,
          [&](std::size_t b) { return v(b, n); }, mean[n], explained[n]);
    }
    const LogSlowdown log_slowdown = gp::log_slowdown(model, pressures[n], mean[n], explained[n]);
    if (slowed >= slowed_count || co_runner(n) >= count) continue;
    const double fast = speed_of_log_slowdown(log_slowdown.t);
    const std::size_t at = slowed * out.row_stride + co_runner(n) * out.column_stride;
    out.speed[at] = fast;
    out.sd[at] = fast * log_slowdown.sd;
  }
}

// ---- the arrays of the kernels, in the GPU's memory ----------------------------------------------

/// Blocks of `size` that cover `count`.
inline unsigned gp_blocks(std::size_t count, std::size_t size) {
  return static_cast<unsigned>((count + size - 1) / size);
}

/// A batch on the GPU. The caller owns the states of slowed jobs, as many as fit into memory.
class GpOnGpu {
 public:
  /// Copies asynchronously on `stream`; the batch must outlive the copying.
  GpOnGpu(GpBatch& batch, cudaStream_t stream)
      : arrays_(stream),
        problem_(batch.problem([this](const auto& array) { return arrays_(array); })),
        known_(batch.known, stream),
        co_runner_(batch.co_runner.size() + GpKernels::kSlack),
        smooth_(batch.smooth.size()),
        alone_(batch.alone.size()),
        identity_(batch.identity.size()) {
    gp::Jobs& jobs = problem_.jobs;
    jobs.co_runner = co_runner_.data();
    jobs.smooth = smooth_.data();
    jobs.alone = alone_.data();
    jobs.identity = identity_.data();
    if (jobs.stride == 0) return;
    check(cudaMemsetAsync(co_runner_.data() + batch.co_runner.size(), 0,
                          GpKernels::kSlack * sizeof(double), stream),
          "clearing memory");
    CORUN_LAUNCH(CORUN_GPU::gp_describe<GpKernels::kThreads>,
                 dim3(gp_blocks(jobs.stride, GpKernels::kThreads),
                      problem_.model.co_runners + problem_.model.owns),
                 dim3(GpKernels::kThreads), 0, stream, problem_);
    check_launch("starting to describe jobs");
  }
  std::size_t size() const { return problem_.jobs.count; }
  /// Length of a state in doubles, and of the scratch memory per slowed job while it is computed.
  std::size_t state_size() const { return problem_.layout.size(); }
  std::size_t scratch_size() const { return problem_.model.rows; }

  /// Computes the states of jobs first .. first + count - 1: `states` is count x state_size(), `scratch` has
  /// count x scratch_size() numbers. Both are device arrays.
  void prepare(std::size_t first, std::size_t count, double* scratch, double* states,
               cudaStream_t stream) const {
    if (count == 0) return;
    const unsigned across = gp_blocks(count, GpKernels::kThreads);
    CORUN_LAUNCH(CORUN_GPU::gp_precision_alone<GpKernels::kThreads>,
                 dim3(across, problem_.model.rows), dim3(GpKernels::kThreads), 0, stream, problem_,
                 static_cast<std::uint32_t>(first), static_cast<std::uint32_t>(count), scratch);
    check_launch("starting to prepare jobs");
    const gp::SlowedJobs wanted{first, count, known_.data()};
    constexpr std::size_t kMostBlocks = 65535;  // in the second dimension of a grid
    for (std::size_t at = 0; at < state_size(); at += kMostBlocks) {
      const std::size_t numbers = std::min(kMostBlocks, state_size() - at);
      CORUN_LAUNCH(CORUN_GPU::gp_prepare<GpKernels::kThreads>,
                   dim3(across, static_cast<unsigned>(numbers)), dim3(GpKernels::kThreads), 0,
                   stream, problem_, wanted, static_cast<std::uint32_t>(at), scratch, states);
      check_launch("starting to prepare jobs");
    }
  }

  /// Computes a tile from the states of its rows. All arrays are device arrays.
  void speeds(const PairTile& tile, const double* states, const TileSpeeds& out,
              cudaStream_t stream) const {
    if (tile.rows() == 0 || tile.columns() == 0) return;
    constexpr unsigned kCoRunners = GpKernels::kCoRunners;
    CORUN_LAUNCH(CORUN_GPU::gp_speeds<kCoRunners>,
                 dim3(gp_blocks(tile.rows(), GpKernels::kSlowed),
                      gp_blocks(tile.columns(), std::size_t{GpKernels::kWarp} * kCoRunners)),
                 dim3(GpKernels::kThreads), 0, stream, problem_, GpuTile::of(tile), states, out);
    check_launch("starting to predict pairs");
  }

 private:
  DeviceArrays arrays_;
  gp::Problem problem_;
  DeviceBuffer<std::uint32_t> known_;
  DeviceBuffer<double> co_runner_, smooth_, alone_, identity_;
};

}  // namespace corun::inline models::CORUN_GPU
