#pragma once

#include <span>

#include "models/formulas/pair_cost_formula.hpp"
#include "models/formulas/pair_formula.hpp"
#include "models/formulas/pair_tile.hpp"
#include "models/formulas/speed_tile.hpp"
#include "models/vector_units/top_lists.hpp"
#include "sim/pair_objective.hpp"

/// The inner loops for the processor: one table of functions per vector instruction set, compiled from one
/// source (kernels.inl) and chosen when the program runs. Each number in a register belongs to another pair
/// or job, and no sum is split among them, so all sets give the same bits.
///
/// A set is a file kernels_<name>.cpp, its flags in CMakeLists.txt, and a line in kernels.cpp.
namespace corun::inline models {

/// The loops over a View (short_formula.hpp).
template <class View>
struct ViewKernels {
  /// Writes the costs of the pairs i < j of the tile to out[(i - i0) * columns + j - j0]; other elements
  /// stay.
  void (*costs)(const View& view, const SoloView& solo, const CostRule& rule, const PairTile& tile,
                double* out);
  /// Normalised speed and standard deviation of every i beside every j of the tile, in the layout of `costs`.
  /// For i = j the job runs beside a copy of itself.
  void (*speeds)(const View& view, const PairTile& tile, double* speed, double* sd);
};

/// The kernels of a set for the jobs of a formula: the loops over its View, or the Kernels that a long
/// formula names.
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
  const char* name;  ///< of the instruction set: "baseline", "avx2" or "avx512"
  int width;         ///< doubles in a register
  FormulaKernels<Formulas> formulas;
  ViewKernels<SpeedTileView> speed_tile;
  /// Offers the costs of job `row` with `count` jobs from `first` to the lists of both jobs, each less the
  /// price of the other job. `prices`: one entry per job.
  void (*offer)(const double* cost, std::size_t row, std::size_t first, std::size_t count,
                const double* prices, const TopListsView& lists);

  template <class Jobs>
  const typename KernelsOf<Jobs>::Type& of() const {
    return formulas;
  }
};

/// The sets that are compiled in and that this processor has, by rising width; the first is the baseline.
std::span<const Kernels* const> usable_kernels();
/// The widest of them.
const Kernels& best_kernels();

}  // namespace corun::inline models
