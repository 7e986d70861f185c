#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "models/formulas/trees_batch.hpp"
#include "models/formulas/trees_formula.hpp"
#include "models/scoring/cuda_support.hpp"
#include "models/scoring/gpu_tile.hpp"

/// The boosted trees on the GPU: the kernel of the formula and the owner of its arrays there. Compiled by
/// nvcc, and as ordinary C++ by the tests, whose fibers run the kernel.
namespace corun::inline models::CORUN_GPU {

struct TreesKernel {
  static constexpr unsigned kMostThreads = 128;
  static constexpr unsigned kLeastThreads = 32;
  static constexpr std::size_t kShared = 48 * 1024;
  /// Shared memory for trees; the remaining part is for the features of the block's pairs.
  static constexpr std::size_t kTreeBytes = 16 * 1024;

  /// Threads of a block, one per pair: as many as shared memory has room for; 0 if not even a warp fits.
  static unsigned threads(const trees::Ensemble& trees) {
    unsigned threads = kMostThreads;
    while (threads >= kLeastThreads && row_bytes(trees, threads) + kTreeBytes > kShared) {
      threads /= 2;
    }
    return threads >= kLeastThreads ? threads : 0;
  }
  static std::size_t row_bytes(const trees::Ensemble& trees, unsigned threads) {
    return sizeof(float) * trees.columns * threads;
  }
  /// Trees in shared memory at a time; 0: one tree is too large, so trees are read from global memory.
  static unsigned together(const trees::Ensemble& trees) {
    const std::size_t one = trees.inner() * (sizeof(std::int32_t) + sizeof(float)) +
                            (trees.inner() + 1) * sizeof(float);
    return static_cast<unsigned>(std::min<std::size_t>(kTreeBytes / one, trees.trees));
  }
  static std::size_t shared_bytes(const trees::Ensemble& trees, unsigned threads) {
    return kTreeBytes + row_bytes(trees, threads);
  }
};

/// Speeds of row i0 + blockIdx.y of a tile, one thread per pair. `together` trees at a time are in shared
/// memory.
template <unsigned MostThreads>
__global__ void __launch_bounds__(MostThreads)
    trees_speeds(trees::Model model, trees::Jobs jobs, unsigned together, GpuTile tile,
                 TileSpeeds out) {
  CORUN_DYNAMIC_SHARED(unsigned char, shared);
  auto* const nodes = reinterpret_cast<std::int32_t*>(shared);
  auto* const row = reinterpret_cast<float*>(shared + TreesKernel::kTreeBytes) + threadIdx.x;
  const unsigned threads = blockDim.x;
  const std::uint32_t slowed = tile.i0 + blockIdx.y;
  const std::uint32_t co_runner = blockIdx.x * threads + threadIdx.x;
  // Threads beyond the last column repeat it and write nothing.
  const std::uint32_t count = tile.columns();
  const std::uint32_t j = tile.j0 + (co_runner < count ? co_runner : count - 1);
  trees::pair_row(jobs.shape, jobs.features(slowed), jobs.features(j), jobs.effects(slowed),
                  jobs.effects(j), [&](std::size_t column, float x) { row[column * threads] = x; });

  const trees::Ensemble& all = model.trees;
  const std::size_t inner = all.inner();
  double sum = 0;
  const unsigned step = together > 0 ? together : all.trees;
  for (unsigned from = 0; from < all.trees; from += step) {
    const unsigned some = all.trees - from < step ? all.trees - from : step;
    const std::int32_t* test = all.test + from * inner;
    const float* threshold = all.threshold + from * inner;
    const float* leaf = all.leaf + from * (inner + 1);
    if (together > 0) {
      auto* const thresholds = reinterpret_cast<float*>(nodes + together * inner);
      float* const leaves = thresholds + together * inner;
      __syncthreads();  // all threads have read the last trees
      for (std::size_t e = threadIdx.x; e < some * inner; e += threads) {
        nodes[e] = test[e];
        thresholds[e] = threshold[e];
      }
      for (std::size_t e = threadIdx.x; e < some * (inner + 1); e += threads) leaves[e] = leaf[e];
      __syncthreads();
      test = nodes;
      threshold = thresholds;
      leaf = leaves;
    }
    for (unsigned t = 0; t < some; ++t) {
      std::uint32_t node = 0;
      for (std::uint32_t level = 0; level < all.depth; ++level) {
        const std::int32_t what = test[t * inner + node];
        const float x = row[static_cast<std::uint32_t>(what) / 2 * threads];
        node = 2 * node + 1 + trees::goes_right(x, what, threshold[t * inner + node]);
      }
      sum += static_cast<double>(leaf[t * (inner + 1) + node - inner]);
    }
  }
  if (co_runner >= count) return;
  const std::size_t unknown = std::size_t{jobs.unknown[slowed]} + jobs.unknown[j];
  const LogSlowdown log_slowdown = model.log_slowdown(sum, unknown);
  const double fast = speed_of_log_slowdown(log_slowdown.t);
  const std::size_t at = blockIdx.y * out.row_stride + co_runner * out.column_stride;
  out.speed[at] = fast;
  out.sd[at] = fast * log_slowdown.sd;
}

// ---- the arrays of the kernel, in the GPU's memory -----------------------------------------------

/// A batch on the GPU.
class TreesOnGpu {
 public:
  /// Whether a block has room for pairs of this model. If not, the processor must predict.
  static bool fits(const TreesBatch& batch) { return TreesKernel::threads(batch.trees) > 0; }

  /// The model must fit. Copies asynchronously on `stream`; the batch and its model must outlive the copying.
  TreesOnGpu(const TreesBatch& batch, cudaStream_t stream)
      : arrays_(stream),
        model_(batch.model([this](const auto& array) { return arrays_(array); })),
        jobs_(batch.jobs([this](const auto& array) { return arrays_(array); })) {}
  std::size_t size() const { return jobs_.count; }

  /// Computes a tile; `out` points to device arrays.
  void speeds(const PairTile& tile, const TileSpeeds& out, cudaStream_t stream) const {
    if (tile.rows() == 0 || tile.columns() == 0) return;
    constexpr std::size_t kMostBlocks = 65535;  // in the second dimension of a grid
    const unsigned threads = TreesKernel::threads(model_.trees);
    const auto across = static_cast<unsigned>((tile.columns() + threads - 1) / threads);
    for (std::size_t from = 0; from < tile.rows(); from += kMostBlocks) {
      PairTile part = tile;
      part.i0 = tile.i0 + from;
      part.i1 = std::min(tile.i1, part.i0 + kMostBlocks);
      TileSpeeds part_out = out;
      part_out.speed += from * out.row_stride;
      part_out.sd += from * out.row_stride;
      CORUN_LAUNCH(CORUN_GPU::trees_speeds<TreesKernel::kMostThreads>,
                   dim3(across, static_cast<unsigned>(part.rows())), dim3(threads),
                   TreesKernel::shared_bytes(model_.trees, threads), stream, model_, jobs_,
                   TreesKernel::together(model_.trees), GpuTile::of(part), part_out);
      check_launch("starting to predict pairs");
    }
  }

 private:
  DeviceArrays arrays_;
  trees::Model model_;
  trees::Jobs jobs_;
};

}  // namespace corun::inline models::CORUN_GPU
