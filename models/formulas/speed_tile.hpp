#pragma once

#include <cstddef>

#include "models/formulas/math.hpp"
#include "models/formulas/speed_belief.hpp"

/// Speeds that were worked out before, as a formula of their own: how models whose equation is too long
/// for an inner loop are scored, and those that have none.
namespace corun {

/// Both directions of the pairs of rows [i0, ...) and columns [j0, j0 + columns), each row-major with
/// the same layout. Job numbers below are those of the whole batch.
struct SpeedTileView {
  std::size_t i0 = 0, j0 = 0, columns = 0;
  const double* row_speed = nullptr;  ///< of the row's job beside the column's
  const double* row_sd = nullptr;
  const double* column_speed = nullptr;  ///< of the column's job beside the row's
  const double* column_sd = nullptr;

  static constexpr bool kNeverFaster = false;
  using Job = std::size_t;
  CORUN_HOST_DEVICE_INLINE Job job(std::size_t i) const { return i; }
  /// One of the two a row, the other a column. Rows lie before columns, or the columns are all jobs
  /// (j0 = 0) and the rows' own come first: either way this finds a place that is filled.
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

}  // namespace corun
