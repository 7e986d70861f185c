// The loops behind lanes.hpp. A file that includes this defines
//   CORUN_LANES            a name for the instruction set, a C++ identifier
//   CORUN_DIVIDE_BY_FMA    where math::divide is to go by fma
// before any other include, and is compiled for that set. Nothing here may call a function that is not
// always inlined: its copy for this set could be the one that the linker keeps for all.

#include "models/scoring/lanes.hpp"
#include "models/scoring/pair_cost_formula.hpp"

namespace corun::CORUN_LANES {

namespace {

template <class View, bool kRisky, Objective kObjective>
void costs_of(const View& given, const SoloView& solos, double risk, const PairTile& tile,
              double* out) {
  const View view = given;  // of our own: nothing that is written can change it
  const SoloView solo = solos;
  const CostFormula<kRisky, kObjective> cost{risk};
  for (std::size_t i = tile.i0; i < tile.i1; ++i) {
    const typename View::Job own = view.job(i);
    const SoloTime own_solo = solo.of(i);
    const std::size_t from = i + 1 > tile.j0 ? i + 1 : tile.j0;
    double* const row = out + (i - tile.i0) * (tile.j1 - tile.j0);
#pragma GCC ivdep
    for (std::size_t j = from; j < tile.j1; ++j) {
      const typename View::Job partner = view.job(j);
      row[j - tile.j0] =
          cost(own_solo, solo.of(j), view.beside(own, partner), view.beside(partner, own));
    }
  }
}

template <class View, bool kRisky>
void costs_by_objective(const View& view, const SoloView& solos, const CostRule& rule,
                        const PairTile& tile, double* out) {
  switch (rule.objective) {
    case Objective::kMinSlowdown:
      return costs_of<View, kRisky, Objective::kMinSlowdown>(view, solos, rule.risk, tile, out);
    case Objective::kBalance:
      return costs_of<View, kRisky, Objective::kBalance>(view, solos, rule.risk, tile, out);
    case Objective::kMaxPacking:
      return costs_of<View, kRisky, Objective::kMaxPacking>(view, solos, rule.risk, tile, out);
  }
}

template <class View>
void costs(const View& view, const SoloView& solos, const CostRule& rule, const PairTile& tile,
           double* out) {
  if (rule.risk > 0) {
    costs_by_objective<View, true>(view, solos, rule, tile, out);
  } else {
    costs_by_objective<View, false>(view, solos, rule, tile, out);
  }
}

template <class View>
void speeds(const View& given, const PairTile& tile, double* speed, double* sd) {
  const View view = given;
  for (std::size_t i = tile.i0; i < tile.i1; ++i) {
    const typename View::Job own = view.job(i);
    double* const speeds = speed + (i - tile.i0) * (tile.j1 - tile.j0);
    double* const sds = sd + (i - tile.i0) * (tile.j1 - tile.j0);
#pragma GCC ivdep
    for (std::size_t j = tile.j0; j < tile.j1; ++j) {
      const SpeedBelief belief = view.beside(own, view.job(j));
      speeds[j - tile.j0] = belief.speed;
      sds[j - tile.j0] = belief.sd;
    }
  }
}

void below(const double* cost, std::size_t count, const Limits& row,
           const double* column_thresholds, const double* column_prices, std::uint8_t* flags) {
  const Limits limits = row;
  std::size_t chunk = 0;
  std::size_t c = 0;
  for (; c + Lanes::kChunk <= count; c += Lanes::kChunk, ++chunk) {
    std::int64_t any = 0;
    for (std::size_t n = c; n < c + Lanes::kChunk; ++n) {
      const std::int64_t row_keeps = cost[n] - column_prices[n] > limits.threshold ? 0 : 1;
      const std::int64_t column_keeps = cost[n] - limits.price > column_thresholds[n] ? 0 : 1;
      any |= row_keeps | column_keeps;
    }
    flags[chunk] = any != 0;
  }
  if (c < count) flags[chunk] = 1;
}

}  // namespace

extern const Lanes lanes;
const Lanes lanes{CORUN_LANES_NAME,
                  CORUN_LANES_WIDTH,
                  {costs<ContentionView>, speeds<ContentionView>},
                  {costs<KindTableView>, speeds<KindTableView>},
                  {costs<SpeedTileView>, speeds<SpeedTileView>},
                  below};

}  // namespace corun::CORUN_LANES
