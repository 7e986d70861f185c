#pragma once

#include <span>

#include "models/formulas/pair_cost_formula.hpp"
#include "models/formulas/pair_formula.hpp"
#include "models/formulas/pair_tile.hpp"
#include "models/formulas/speed_tile.hpp"
#include "models/vector_units/top_lists.hpp"
#include "sim/pair_objective.hpp"

/// The inner loops of the processor: one table for each vector instruction set, filled by the same source
/// (kernels.inl) compiled for that set, and chosen when the program runs. Every number of a register is another
/// pair or another job; no sum is ever split among them, so all sets give the same bits.
///
/// A set is a file kernels_<name>.cpp, its flags in CMakeLists.txt, and a line in kernels.cpp.
namespace corun {

/// Of a short formula (pair_formula.hpp).
template <class View>
struct ViewKernels {
  /// Costs of the pairs i < j of the tile into out[(i - i0) * columns + j - j0]; other elements stay.
  void (*costs)(const View& view, const SoloView& solo, const CostRule& rule, const PairTile& tile,
                double* out);
  /// Speed and standard deviation of every i beside every j of the tile, i = j (beside a copy of
  /// itself) included, in the layout of `costs`.
  void (*speeds)(const View& view, const PairTile& tile, double* speed, double* sd);
};

/// What a set has for the jobs of a formula: the loops over its view, or the kernels that a long one declares.
template <class Jobs>
struct KernelsOf {
  using Type = typename Jobs::Kernels;
};
template <ShortFormula Jobs>
struct KernelsOf<Jobs> {
  using Type = ViewKernels<typename Jobs::View>;
};

template <class List>
struct FormulaKernels;
template <class... Jobs>
struct FormulaKernels<FormulaList<Jobs...>> : KernelsOf<Jobs>::Type... {};

struct Kernels {
  const char* name;  ///< of the instruction set
  int width;         ///< doubles in a register
  FormulaKernels<Formulas> formulas;
  ViewKernels<SpeedTileView> speed_tile;
  /// Offers the costs of job `row` beside `count` jobs from `first` to the lists of both, each less the price of
  /// the other.
  void (*offer)(const double* cost, std::size_t row, std::size_t first, std::size_t count,
                const double* prices, const TopListsView& lists);

  /// For `jobs` of a formula.
  template <class Jobs>
  const typename KernelsOf<Jobs>::Type& of() const {
    return formulas;
  }
};

/// What was compiled and this processor has, the widest last; the first needs nothing special.
std::span<const Kernels* const> usable_kernels();
/// The widest.
const Kernels& best_kernels();

}  // namespace corun
