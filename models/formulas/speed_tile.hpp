#pragma once

#include <cstddef>

#include "models/formulas/speed_belief.hpp"
#include "sim/base/math.hpp"

/// A View of speeds that were computed before. The models whose equation is too long for an inner loop, or
/// that have no formula, are scored by it.
namespace corun::inline models {

/// Both directions of the pairs of rows from i0 and columns [j0, j0 + columns), in matrices rows x columns,
/// row-major. Jobs are numbered as in the whole batch.
struct SpeedTileView {
  std::size_t i0 = 0, j0 = 0, columns = 0;
  const double* row_speed = nullptr;  ///< of the row's job beside the column's
  const double* row_sd = nullptr;
  const double* column_speed = nullptr;  ///< of the column's job beside the row's
  const double* column_sd = nullptr;

  static constexpr bool kNeverFaster = false;
  using Job = std::size_t;
  CORUN_HOST_DEVICE_INLINE Job job(std::size_t i) const { return i; }
  /// One of the two jobs is a row, the other a column of the tile. The lower number is taken as the row:
  /// tiles lie on or above the diagonal of the matrix of pairs.
  CORUN_HOST_DEVICE_INLINE SpeedBelief beside(Job slowed, Job co_runner) const {
    const bool by_row = slowed < co_runner;
    const std::size_t row = by_row ? slowed : co_runner;
    const std::size_t column = by_row ? co_runner : slowed;
    const std::size_t at = (row - i0) * columns + (column - j0);
    const double speed = by_row ? row_speed[at] : column_speed[at];
    const double sd = by_row ? row_sd[at] : column_sd[at];
    return {speed, sd, 1 / speed};
  }
};

}  // namespace corun::inline models
