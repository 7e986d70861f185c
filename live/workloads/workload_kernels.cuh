#pragma once

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <functional>
#include <vector>

#include "live/workloads/recipe.hpp"
#include "models/scoring/cuda_support.hpp"

/// The kernels of the built-in workloads, and one step of a recipe made of them. Compiled by nvcc, and by
/// the tests for the processor (cuda_support.hpp). Fused multiply-adds are written as fmaf; the compiler
/// fuses no others.
namespace corun::live::CORUN_GPU {

using namespace corun::CORUN_GPU;

/// A hash of 32 bits (finaliser of MurmurHash3).
inline __device__ std::uint32_t scramble(std::uint32_t x) {
  x ^= x >> 16;
  x *= 0x85ebca6bU;
  x ^= x >> 13;
  x *= 0xc2b2ae35U;
  return x ^ (x >> 16);
}

/// Uniform in [-1, 1) by seed and position. Random, because a GPU's power depends on the values that it
/// multiplies.
inline __device__ float random_value(std::uint32_t seed, std::uint64_t position) {
  const std::uint32_t low = scramble(seed ^ static_cast<std::uint32_t>(position));
  const std::uint32_t bits = scramble(low ^ static_cast<std::uint32_t>(position >> 32));
  return static_cast<float>(bits >> 8) / 8388608.0F - 1.0F;
}

constexpr unsigned kThreads = 256;

/// data[i] = scale * random_value(seed, i)
static __global__ void fill(float* data, std::uint64_t count, std::uint32_t seed, float scale) {
  const std::uint64_t stride = std::uint64_t{gridDim.x} * blockDim.x;
  for (std::uint64_t i = std::uint64_t{blockIdx.x} * blockDim.x + threadIdx.x; i < count;
       i += stride) {
    data[i] = scale * random_value(seed, i);
  }
}

// An optimiser with momentum and weight decay.
constexpr float kDecay = 0.999F;
constexpr float kRate = 0.01F;
constexpr float kMomentum = 0.9F;

/// moment = kMomentum moment + (1 - kMomentum) gradient; weight = kDecay weight - kRate moment.
static __global__ void update(float* weight, const float* gradient, float* moment,
                              std::uint64_t count) {
  const std::uint64_t stride = std::uint64_t{gridDim.x} * blockDim.x;
  for (std::uint64_t i = std::uint64_t{blockIdx.x} * blockDim.x + threadIdx.x; i < count;
       i += stride) {
    const float m = fmaf(kMomentum, moment[i], (1.0F - kMomentum) * gradient[i]);
    moment[i] = m;
    weight[i] = fmaf(-kRate, m, kDecay * weight[i]);
  }
}

/// sums[t] = sum of the `reads` / `outs` random entries of the table that belong to thread t; read r of a
/// round is table[scramble(r ^ round * 0x9e3779b9) mod entries].
static __global__ void gather(const float* table, std::uint32_t entries, float* sums,
                              std::uint32_t outs, std::uint32_t reads, std::uint32_t round) {
  const std::uint32_t t = blockIdx.x * blockDim.x + threadIdx.x;
  if (t >= outs) return;
  float sum = 0;
  for (std::uint32_t r = t; r < reads; r += outs) {
    sum += table[scramble(r ^ (round * 0x9e3779b9U)) % entries];
  }
  sums[t] = sum;
}

constexpr int kTile = 64;   ///< side of the tile of C that a block computes
constexpr int kSlice = 16;  ///< part of the inner dimension in shared memory at a time
constexpr int kPiece = 4;   ///< a thread computes kPiece x kPiece elements of the tile

/// C = A B, n x n, row-major, any n. Block of 16 x 16 threads, grid of ceil(n / kTile) squared.
static __global__ void multiply(const float* a, const float* b, float* c, int n) {
  __shared__ float of_a[kTile][kSlice + 1];
  __shared__ float of_b[kSlice][kTile];
  const int tx = static_cast<int>(threadIdx.x);
  const int ty = static_cast<int>(threadIdx.y);
  const int row0 = static_cast<int>(blockIdx.y) * kTile;
  const int column0 = static_cast<int>(blockIdx.x) * kTile;
  const int thread = ty * 16 + tx;
  float sum[kPiece][kPiece] = {};
  for (int k0 = 0; k0 < n; k0 += kSlice) {
    for (int e = thread; e < kTile * kSlice; e += 256) {
      const int row = e / kSlice;
      const int k = e % kSlice;
      const bool there = row0 + row < n && k0 + k < n;
      of_a[row][k] = there ? a[static_cast<std::size_t>(row0 + row) * n + k0 + k] : 0.0F;
    }
    for (int e = thread; e < kTile * kSlice; e += 256) {
      const int k = e / kTile;
      const int column = e % kTile;
      const bool there = column0 + column < n && k0 + k < n;
      of_b[k][column] = there ? b[static_cast<std::size_t>(k0 + k) * n + column0 + column] : 0.0F;
    }
    __syncthreads();
    for (int k = 0; k < kSlice; ++k) {
      for (int i = 0; i < kPiece; ++i) {
        for (int j = 0; j < kPiece; ++j) {
          sum[i][j] = fmaf(of_a[ty + 16 * i][k], of_b[k][tx + 16 * j], sum[i][j]);
        }
      }
    }
    __syncthreads();
  }
  for (int i = 0; i < kPiece; ++i) {
    for (int j = 0; j < kPiece; ++j) {
      const int row = row0 + ty + 16 * i;
      const int column = column0 + tx + 16 * j;
      if (row < n && column < n) c[static_cast<std::size_t>(row) * n + column] = sum[i][j];
    }
  }
}

/// out[f][y][x] = sum over channels and the 3 x 3 neighbourhood of weight[f][c][dy][dx] in[c][y'][x'],
/// zero outside the image. One thread for each pixel of a filter; blockIdx.z is the filter.
static __global__ void convolve(const float* in, const float* weight, float* out, int channels,
                                int height, int width) {
  const int x = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  const int y = static_cast<int>(blockIdx.y * blockDim.y + threadIdx.y);
  const int filter = static_cast<int>(blockIdx.z);
  if (x >= width || y >= height) return;
  const float* w = weight + static_cast<std::size_t>(filter) * channels * 9;
  float sum = 0;
  for (int c = 0; c < channels; ++c) {
    const float* image = in + static_cast<std::size_t>(c) * height * width;
    for (int dy = -1; dy <= 1; ++dy) {
      for (int dx = -1; dx <= 1; ++dx, ++w) {
        if (y + dy < 0 || y + dy >= height || x + dx < 0 || x + dx >= width) continue;
        sum = fmaf(*w, image[static_cast<std::size_t>(y + dy) * width + x + dx], sum);
      }
    }
  }
  out[(static_cast<std::size_t>(filter) * height + y) * width + x] = sum;
}

inline unsigned blocks_for(std::uint64_t count) {
  // Enough to fill any GPU; the kernels loop over the rest.
  return static_cast<unsigned>(std::min<std::uint64_t>((count + kThreads - 1) / kThreads, 65535));
}

constexpr int kChannels = 64;
constexpr std::uint32_t kSums = 1U << 18;
constexpr std::uint64_t kSmall = 4096;  ///< elements of a small kernel

/// The memory of a recipe on the current GPU, and its steps.
class RecipeOnGpu {
 public:
  /// Replaces the kernel multiply(): row-major matrices of side n, on the stream.
  using Multiply = std::function<void(const float* a, const float* b, float* c, int n)>;

  /// Allocates and fills the memory. Throws GpuOutOfMemory if there is not enough.
  RecipeOnGpu(const Recipe& recipe, std::uint64_t seed)
      : recipe_(recipe),
        third_(std::max(kSmall, static_cast<std::uint64_t>(recipe.memory_mib * 1024 * 1024) /
                                    sizeof(float) / 3)),
        weights_(third_),
        gradients_(third_),
        moments_(third_) {
    const auto n = static_cast<std::uint64_t>(recipe.matrix) * recipe.matrix;
    const auto filled = [&](std::uint64_t count, std::uint32_t which, float scale) {
      DeviceBuffer<float> buffer(count);
      fill_random(buffer, seed, which, scale);
      return buffer;
    };
    if (recipe.products > 0) {
      a_ = filled(n, 4, 1);
      b_ = filled(n, 5, 1 / std::sqrt(static_cast<float>(recipe.matrix)));
      c_ = filled(n, 6, 1);
    }
    if (recipe.convolutions > 0) {
      const std::uint64_t pixels = std::uint64_t{kChannels} * recipe.image * recipe.image;
      image_ = filled(pixels, 7, 1);
      filters_ = filled(std::uint64_t{kChannels} * kChannels * 9, 8, 0.04F);
      convolved_ = filled(pixels, 9, 1);
    }
    if (recipe.lookups > 0) sums_ = filled(kSums, 10, 1);
    fill_random(weights_, seed, 1, 1);
    fill_random(gradients_, seed, 2, 1);
    fill_random(moments_, seed, 3, 1);
    stream_.wait();
  }

  cudaStream_t stream() const { return stream_; }
  void multiply_by(Multiply multiply) { multiply_ = std::move(multiply); }

  void step() {
    for (int i = 0; i < recipe_.products; ++i) product();
    for (int i = 0; i < recipe_.convolutions; ++i) convolution();
    updates();
    if (recipe_.lookups > 0) {
      const auto entries = static_cast<std::uint32_t>(std::min<std::uint64_t>(third_, 0xffffffffU));
      CORUN_LAUNCH(gather, dim3(kSums / kThreads), dim3(kThreads), 0, stream_, weights_.data(),
                   entries, sums_.data(), kSums, static_cast<std::uint32_t>(recipe_.lookups),
                   round_);
      check_launch("reading at random");
    }
    ++round_;
    for (int i = 0; i < recipe_.small_kernels; ++i) {
      CORUN_LAUNCH(update, dim3(1), dim3(kThreads), 0, stream_, weights_.data(), gradients_.data(),
                   moments_.data(), kSmall);
      check_launch("running a small kernel");
      stream_.wait();
      work_on_host();
    }
    stream_.wait();
  }

  /// Sum of the first values of each result.
  double checksum() const {
    double sum = 0;
    for (const DeviceBuffer<float>* buffer : {&weights_, &moments_, &c_, &convolved_, &sums_}) {
      std::vector<float> values(std::min<std::size_t>(buffer->size(), 1024));
      buffer->copy_to(values, stream_);
      stream_.wait();
      for (const float value : values) sum += static_cast<double>(value);
    }
    return sum;
  }

 private:
  void fill_random(DeviceBuffer<float>& buffer, std::uint64_t seed, std::uint32_t which,
                   float scale) {
    const auto mixed = static_cast<std::uint32_t>(seed ^ (seed >> 32)) * 31U + which;
    CORUN_LAUNCH(fill, dim3(blocks_for(buffer.size())), dim3(kThreads), 0, stream_, buffer.data(),
                 std::uint64_t{buffer.size()}, mixed, scale);
    check_launch("filling memory");
  }
  void product() {
    const int n = recipe_.matrix;
    if (multiply_) {
      multiply_(a_.data(), b_.data(), c_.data(), n);
      return;
    }
    const auto tiles = static_cast<unsigned>((n + kTile - 1) / kTile);
    CORUN_LAUNCH(multiply, dim3(tiles, tiles), dim3(16, 16), 0, stream_, a_.data(), b_.data(),
                 c_.data(), n);
    check_launch("multiplying matrices");
  }
  void convolution() {
    const int side = recipe_.image;
    const dim3 grid((side + 31) / 32, (side + 7) / 8, kChannels);
    CORUN_LAUNCH(convolve, grid, dim3(32, 8), 0, stream_, image_.data(), filters_.data(),
                 convolved_.data(), kChannels, side, side);
    check_launch("convolving");
  }
  /// Continues where the last step ended, and at the end of the memory from its start.
  void updates() {
    auto left = static_cast<std::uint64_t>(recipe_.update_mib * 1024 * 1024 / sizeof(float) / 3);
    while (left > 0) {
      const std::uint64_t count = std::min(left, third_ - at_);
      CORUN_LAUNCH(update, dim3(blocks_for(count)), dim3(kThreads), 0, stream_,
                   weights_.data() + at_, gradients_.data() + at_, moments_.data() + at_, count);
      check_launch("updating weights");
      left -= count;
      at_ = at_ + count == third_ ? 0 : at_ + count;
    }
  }
  void work_on_host() const {
    // A busy loop, like a simulated game: a sleeping processor would lower its clock.
    const auto until = std::chrono::steady_clock::now() +
                       std::chrono::duration<double, std::micro>(recipe_.host_us);
    while (std::chrono::steady_clock::now() < until) {
    }
  }

  Recipe recipe_;
  std::uint64_t third_;  ///< elements of each of the three arrays
  Stream stream_;
  DeviceBuffer<float> weights_, gradients_, moments_;
  DeviceBuffer<float> a_, b_, c_;
  DeviceBuffer<float> image_, filters_, convolved_;
  DeviceBuffer<float> sums_;
  std::uint64_t at_ = 0;     ///< where the next update begins
  std::uint32_t round_ = 0;  ///< steps done
  Multiply multiply_;
};

}  // namespace corun::live::CORUN_GPU
