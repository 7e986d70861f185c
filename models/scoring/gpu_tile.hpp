#pragma once

#include <cstdint>

#include "models/formulas/pair_tile.hpp"

namespace corun::inline models {

/// A PairTile with 32-bit numbers, which are faster on a GPU.
struct GpuTile {
  std::uint32_t i0 = 0, i1 = 0, j0 = 0, j1 = 0;

  static GpuTile of(const PairTile& tile) {
    return {static_cast<std::uint32_t>(tile.i0), static_cast<std::uint32_t>(tile.i1),
            static_cast<std::uint32_t>(tile.j0), static_cast<std::uint32_t>(tile.j1)};
  }
  CORUN_HOST_DEVICE_INLINE std::uint32_t rows() const { return i1 - i0; }
  CORUN_HOST_DEVICE_INLINE std::uint32_t columns() const { return j1 - j0; }
};

}  // namespace corun::inline models
