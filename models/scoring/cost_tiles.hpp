#pragma once

#include <cstddef>
#include <vector>

#include "models/formulas/pair_formula.hpp"
#include "models/formulas/speed_tile.hpp"
#include "models/scoring/speed_source.hpp"
#include "models/vector_units/kernels.hpp"

/// Tiles of the cost matrix on the processor: in one step by a short formula, else from tiles of speeds.
namespace corun::inline models {

/// The speeds of both directions of a tile of pairs.
class SpeedTile {
 public:
  /// Computes them, with the jobs of `source`.
  void fill(const SpeedSource& source, const PairTile& tile, SpeedSource::Scratch& scratch);
  SpeedTileView view(const PairTile& tile) const;

 private:
  std::vector<double> row_speed_, row_sd_, column_speed_, column_sd_;
  std::vector<double> turned_;  ///< columns x rows: speeds before they are transposed
};

struct CostTiles {
  /// Rows and columns of a tile: its costs fit into the second-level cache.
  static constexpr std::size_t kBlock = 256;
  /// The same for long equations. A tile on the diagonal is computed as a whole, of which half is not used.
  static constexpr std::size_t kLongBlock = 64;

  /// Memory of one thread.
  struct Scratch {
    std::vector<double> costs = std::vector<double>(kBlock * kBlock);
    SpeedTile speeds;
    SpeedSource::Scratch source;
  };

  const PairFormula* formula;
  const SpeedSource* source;  ///< null for a short formula
  SoloView solo;
  const CostRule& rule;
  const Kernels& kernels;

  std::size_t block() const { return source != nullptr ? kLongBlock : kBlock; }
  /// Computes `scratch.costs` of the pairs i < j of a tile of at most kBlock x kBlock, in the layout of
  /// ViewKernels::costs().
  void operator()(const PairTile& tile, Scratch& scratch) const;
};

}  // namespace corun::inline models
