#pragma once

#include <cstddef>
#include <cstdint>

#include "sim/base/host_device.hpp"

/// The pairs that a kernel computes and where it writes their speeds, on the processor and on the GPU.
namespace corun::inline models {

/// Rows [i0, i1) and columns [j0, j1) of the matrix of all pairs. In a directed pair, the row's job is the
/// slowed job and the column's job its co-runner.
struct PairTile {
  std::size_t i0 = 0, i1 = 0, j0 = 0, j1 = 0;
  CORUN_HOST_DEVICE_INLINE std::size_t rows() const { return i1 - i0; }
  CORUN_HOST_DEVICE_INLINE std::size_t columns() const { return j1 - j0; }
};

/// Where the normalised speeds of a tile and their standard deviations are written: job i beside job j at
/// (i - i0) * row_stride + (j - j0) * column_stride.
struct TileSpeeds {
  std::size_t row_stride = 0, column_stride = 1;
  double* speed = nullptr;
  double* sd = nullptr;

  /// `speed` and `sd`: rows x columns of the tile.
  static TileSpeeds row_major(const PairTile& tile, double* speed, double* sd) {
    return {tile.columns(), 1, speed, sd};
  }
};

/// A list of `count` directed pairs, by positions of jobs: of[n] is slowed by beside[n].
struct PairList {
  const std::uint32_t* of = nullptr;
  const std::uint32_t* beside = nullptr;
  std::size_t count = 0;
};

}  // namespace corun::inline models
