#pragma once

#include <cstddef>
#include <cstdint>

#include "sim/base/host_device.hpp"

/// Which pairs a kernel works on, and where it puts their speeds; on the processor and on the GPU.
namespace corun {

/// Rows [i0, i1) and columns [j0, j1) of the matrix of all pairs. Of directed pairs, the row's job is the slowed one.
struct PairTile {
  std::size_t i0 = 0, i1 = 0, j0 = 0, j1 = 0;
  CORUN_HOST_DEVICE_INLINE std::size_t rows() const { return i1 - i0; }
  CORUN_HOST_DEVICE_INLINE std::size_t columns() const { return j1 - j0; }
};

/// Where the speeds of a tile go, normalised, and their standard deviations: those of jobs i and j to
/// (i - i0) * row_stride + (j - j0) * column_stride.
struct TileSpeeds {
  std::size_t row_stride = 0, column_stride = 1;
  double* speed = nullptr;
  double* sd = nullptr;

  /// Row by row, without gaps.
  static TileSpeeds row_major(const PairTile& tile, double* speed, double* sd) {
    return {tile.columns(), 1, speed, sd};
  }
};

/// Directed pairs one by one, as arrays of `count` positions of jobs: of[n] is slowed by beside[n].
struct PairList {
  const std::uint32_t* of = nullptr;
  const std::uint32_t* beside = nullptr;
  std::size_t count = 0;
};

}  // namespace corun
