#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "models/formulas/gp_formula.hpp"
#include "models/formulas/ranked_trees.hpp"
#include "models/formulas/trees_formula.hpp"

/// The formulas of the learned models for many jobs at a time, compiled once for each vector unit that
/// a processor may have (cpu_kernels.inl). All give the same bits.
namespace corun {

struct CpuKernels {
  const char* name;  ///< of the instruction set
  /// Numbers side by side; arrays that are handed in have room for whole multiples of kPadding.
  std::size_t lanes;
  static constexpr std::size_t kPadding = 32;
  /// Known partners whose lines are worked out at a time.
  static constexpr std::size_t kLines = 64;
  static std::size_t gp_scratch(const gp::Model& model, const gp::Layout& layout) {
    const std::size_t lines = layout.known < kLines ? layout.known : kLines;
    return kPadding * (model.width() + 3 * model.owns + model.rows + 2 * model.partners +
                       lines * model.partners + 3 * kLines) +
           model.partners + kPadding;
  }
  /// Pairs that go through ranked trees side by side.
  static constexpr std::size_t kRanked = 64;
  static std::size_t trees_scratch(const trees::Ensemble& trees) {
    return kRanked * (2 * trees.columns + 3);
  }

  /// Works out what Jobs has of the jobs from .. to - 1, rounded up to whole vectors; `from` is a
  /// multiple of kPadding.
  void (*gp_describe)(const gp::Model&, const gp::Jobs&, std::size_t from, std::size_t to);
  /// The states of `count` slowed jobs, layout.size() numbers each; known[k]: the partner that line k is
  /// of. `scratch`, here and below: gp_scratch() doubles.
  void (*gp_prepare)(const gp::Model&, const gp::Jobs&, const gp::Layout&,
                     const std::uint32_t* known, std::size_t first, std::size_t count,
                     double* states, double* scratch);
  /// Slowed job `own` with its state beside `count` partners: those listed, or from `first` where
  /// `partners` is null.
  void (*gp_slowness)(const gp::Model&, const gp::Jobs&, const gp::Layout&, std::size_t own,
                      const double* state, const std::uint32_t* partners, std::size_t first,
                      std::size_t count, double* scratch, Slowness* out);
  /// The same for all of `owns` (from own_first) beside all of count: as speeds, at
  /// own x own_stride + partner x partner_stride, both counted from the first.
  void (*gp_speeds)(const gp::Model&, const gp::Jobs&, const gp::Layout&, std::size_t own_first,
                    std::size_t owns, const double* states, std::size_t first, std::size_t count,
                    std::size_t own_stride, std::size_t partner_stride, double* scratch,
                    double* speed, double* sd);
  /// Sums of the trees for `count` directed pairs of[n] beside beside[n]; `ranked`: the same trees, or
  /// without any. `scratch`: trees_scratch() floats.
  void (*trees_sums)(const trees::Ensemble&, const trees::Ranked& ranked, const trees::Jobs&,
                     const std::uint32_t* of, const std::uint32_t* beside, std::size_t count,
                     float* scratch, double* out);
};

/// Those that this processor can run, the quickest first; never empty.
std::span<const CpuKernels> cpu_kernels();

}  // namespace corun
