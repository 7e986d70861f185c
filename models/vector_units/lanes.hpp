#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "models/formulas/contention_formula.hpp"
#include "models/formulas/kind_table_formula.hpp"
#include "models/formulas/pair_cost_formula.hpp"
#include "models/formulas/speed_tile.hpp"
#include "models/vector_units/top_lists.hpp"
#include "sim/pair_objective.hpp"

/// The inner loops of batch scoring on the processor: the same source (lanes.inl) compiled once for each
/// vector instruction set, chosen when the program runs. Every lane is another pair; no sum is ever
/// split among lanes, so all sets give the same bits.
namespace corun {

/// Rows [i0, i1) and columns [j0, j1) of the matrix of all pairs.
struct PairTile {
  std::size_t i0 = 0, i1 = 0, j0 = 0, j1 = 0;
  std::size_t columns() const { return j1 - j0; }
};

/// Of one formula.
template <class View>
struct FormulaLanes {
  /// Costs of the pairs i < j of the tile into out[(i - i0) * columns + j - j0]; other elements stay.
  void (*costs)(const View& view, const SoloView& solo, const CostRule& rule, const PairTile& tile,
                double* out);
  /// Speed and standard deviation of every i beside every j of the tile, i = j (beside a copy of
  /// itself) included, in the layout of `costs`.
  void (*speeds)(const View& view, const PairTile& tile, double* speed, double* sd);
};

struct Lanes {
  const char* name;
  int width;  ///< doubles in a register
  FormulaLanes<ContentionView> contention;
  FormulaLanes<KindTableView> kind_table;
  FormulaLanes<SpeedTileView> speed_tile;
  /// Offers the costs of job `row` beside `count` jobs from `first` to the lists of both, each less the price of
  /// the other.
  void (*offer)(const double* cost, std::size_t row, std::size_t first, std::size_t count,
                const double* prices, const TopListsView& lists);

  const FormulaLanes<ContentionView>& of(const ContentionView&) const { return contention; }
  const FormulaLanes<KindTableView>& of(const KindTableView&) const { return kind_table; }
  const FormulaLanes<SpeedTileView>& of(const SpeedTileView&) const { return speed_tile; }
};

/// What was compiled and this processor has, the widest last; the first needs nothing special.
std::span<const Lanes* const> usable_lanes();
/// The widest.
const Lanes& best_lanes();

}  // namespace corun
