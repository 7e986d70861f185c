#pragma once

#include <cstddef>
#include <vector>

#include "models/formulas/pair_formula.hpp"
#include "models/formulas/speed_tile.hpp"
#include "models/scoring/speed_source.hpp"
#include "models/vector_units/kernels.hpp"

/// Tiles of the matrix of costs on the processor: by a short formula in one go, else from tiles of speeds
/// that were worked out before.
namespace corun {

/// Both directions of a tile of pairs.
class SpeedTile {
 public:
  void fill(const SpeedSource& source, const PairTile& tile, SpeedSource::Scratch& scratch);
  SpeedTileView view(const PairTile& tile) const;

 private:
  std::vector<double> row_speed_, row_sd_, column_speed_, column_sd_;
  std::vector<double> turned_;  ///< of the columns' jobs beside the rows', before it is turned
};

struct CostTiles {
  /// Jobs in a block of tiles: costs of a tile stay in the second-level cache.
  static constexpr std::size_t kBlock = 256;
  /// The same where an equation is long: tiles on the diagonal are worked out as a whole, half of it for nothing.
  static constexpr std::size_t kLongBlock = 64;

  /// What a thread needs to work out tiles of costs.
  struct Scratch {
    std::vector<double> costs = std::vector<double>(kBlock * kBlock);
    SpeedTile speeds;
    SpeedSource::Scratch source;
  };

  const PairFormula* formula;
  const SpeedSource* source;  ///< where the formula is not a short one
  SoloView solo;
  const CostRule& rule;
  const Kernels& kernels;

  std::size_t block() const { return source != nullptr ? kLongBlock : kBlock; }
  /// Costs of the pairs i < j of a tile of at most kBlock x kBlock, as ViewKernels::costs() has them.
  void operator()(const PairTile& tile, Scratch& scratch) const;
};

}  // namespace corun
