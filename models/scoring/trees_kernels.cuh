#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "models/formulas/trees_batch.hpp"
#include "models/formulas/trees_formula.hpp"
#include "models/scoring/cuda_support.hpp"

/// The boosted trees on the GPU: the formula's kernel and what holds its arrays there. Compiled by nvcc,
/// and as ordinary C++ by the tests, whose fibers run the kernel.
namespace corun::CORUN_GPU {

struct TreesKernel {
  static constexpr unsigned kMostThreads = 128;
  static constexpr unsigned kLeastThreads = 32;
  static constexpr std::size_t kShared = 48 * 1024;
  /// Of it, for trees; the features of the block's pairs have the rest.
  static constexpr std::size_t kTreeBytes = 16 * 1024;

  /// Pairs of a block: as many as there is room for the features of. 0: not even a warp's.
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
  /// Trees at a time; 0: a single one is too large, so that they are read from where they are.
  static unsigned together(const trees::Ensemble& trees) {
    const std::size_t one = trees.inner() * (sizeof(std::int32_t) + sizeof(float)) +
                            (trees.inner() + 1) * sizeof(float);
    return static_cast<unsigned>(std::min<std::size_t>(kTreeBytes / one, trees.trees));
  }
  static std::size_t shared_bytes(const trees::Ensemble& trees, unsigned threads) {
    return kTreeBytes + row_bytes(trees, threads);
  }
};

/// Speeds of jobs own_first + blockIdx.y beside `count` partners from `first`, a thread for each pair: of
/// own and partner, both counted from there, at own x own_stride + partner x partner_stride. Trees come
/// through shared memory, `together` at a time.
template <unsigned MostThreads>
__global__ void __launch_bounds__(MostThreads)
    trees_speeds(trees::Model model, trees::Jobs jobs, unsigned together, std::uint32_t own_first,
                 std::uint32_t first, std::uint32_t count, std::size_t own_stride,
                 std::size_t partner_stride, double* speed, double* sd) {
  CORUN_DYNAMIC_SHARED(unsigned char, shared);
  auto* const nodes = reinterpret_cast<std::int32_t*>(shared);
  auto* const row = reinterpret_cast<float*>(shared + TreesKernel::kTreeBytes) + threadIdx.x;
  const unsigned threads = blockDim.x;
  const std::uint32_t own = own_first + blockIdx.y;
  const std::uint32_t partner = blockIdx.x * threads + threadIdx.x;
  // Beyond the last: a copy of it, written nowhere.
  const std::uint32_t j = first + (partner < count ? partner : count - 1);
  trees::pair_row(jobs.shape, jobs.features(own), jobs.features(j), jobs.effects(own),
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
      __syncthreads();  // nobody reads the last trees any more
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
  if (partner >= count) return;
  const std::size_t unknown = std::size_t{jobs.unknown[own]} + jobs.unknown[j];
  const Slowness slowness = model.slowness(sum, unknown);
  const double fast = math::speed_of(slowness.t);
  const std::size_t at = blockIdx.y * own_stride + partner * partner_stride;
  speed[at] = fast;
  sd[at] = fast * slowness.sd;
}

// ---- what the kernel reads, in the memory of the GPU ---------------------------------------------

/// A batch on the GPU.
class TreesOnGpu {
 public:
  /// Whether a block has room for pairs of this model; others are left to the processor.
  static bool fits(const TreesBatch& batch) { return TreesKernel::threads(batch.trees) > 0; }

  /// Of a model that fits. Ready once `stream` has come so far; the batch and its model must stay until
  /// then.
  TreesOnGpu(const TreesBatch& batch, cudaStream_t stream)
      : model_(batch.model()),
        jobs_(batch.jobs()),
        test_(std::span(batch.trees.test, batch.trees.inner() * batch.trees.trees), stream),
        threshold_(std::span(batch.trees.threshold, batch.trees.inner() * batch.trees.trees),
                   stream),
        leaf_(std::span(batch.trees.leaf, (batch.trees.inner() + 1) * batch.trees.trees), stream),
        knots_{DeviceBuffer<trees::Knot>(batch.knots[0], stream),
               DeviceBuffer<trees::Knot>(batch.knots[1], stream),
               DeviceBuffer<trees::Knot>(batch.knots[2], stream)},
        logs_(batch.logs, stream),
        linears_(batch.linears, stream),
        own_(batch.own, stream),
        partner_(batch.partner, stream),
        unknown_(batch.unknown, stream) {
    model_.trees.test = test_.data();
    model_.trees.threshold = threshold_.data();
    model_.trees.leaf = leaf_.data();
    for (std::size_t u = 0; u < knots_.size(); ++u) model_.knots[u] = knots_[u].data();
    jobs_.logs = logs_.data();
    jobs_.linears = linears_.data();
    jobs_.own = own_.data();
    jobs_.partner = partner_.data();
    jobs_.unknown = unknown_.data();
  }
  std::size_t size() const { return jobs_.count; }

  /// Speeds of `owns` slowed jobs from own_first beside `count` partners from `first`: at own x own_stride
  /// + partner x partner_stride, both counted from there.
  void speeds(std::size_t own_first, std::size_t owns, std::size_t first, std::size_t count,
              std::size_t own_stride, std::size_t partner_stride, double* speed, double* sd,
              cudaStream_t stream) const {
    if (owns == 0 || count == 0) return;
    constexpr std::size_t kMostBlocks = 65535;  // of a grid's second direction
    const unsigned threads = TreesKernel::threads(model_.trees);
    const auto across = static_cast<unsigned>((count + threads - 1) / threads);
    for (std::size_t from = 0; from < owns; from += kMostBlocks) {
      const std::size_t some = std::min(kMostBlocks, owns - from);
      CORUN_LAUNCH(CORUN_GPU::trees_speeds<TreesKernel::kMostThreads>,
                   dim3(across, static_cast<unsigned>(some)), dim3(threads),
                   TreesKernel::shared_bytes(model_.trees, threads), stream, model_, jobs_,
                   TreesKernel::together(model_.trees),
                   static_cast<std::uint32_t>(own_first + from), static_cast<std::uint32_t>(first),
                   static_cast<std::uint32_t>(count), own_stride, partner_stride,
                   speed + from * own_stride, sd + from * own_stride);
      check_launch("starting to predict pairs");
    }
  }

 private:
  trees::Model model_;
  trees::Jobs jobs_;
  DeviceBuffer<std::int32_t> test_;
  DeviceBuffer<float> threshold_, leaf_;
  std::array<DeviceBuffer<trees::Knot>, 3> knots_;
  DeviceBuffer<double> logs_, linears_, own_, partner_;
  DeviceBuffer<std::uint8_t> unknown_;
};

}  // namespace corun::CORUN_GPU
