#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "models/formulas/pair_tile.hpp"
#include "models/formulas/ranked_trees.hpp"
#include "models/formulas/trees_formula.hpp"

/// Boosted trees and the jobs to predict, in the layout of trees_formula.hpp. BoostedTrees::batch() makes it,
/// for predict() and for PairScorer.
namespace corun::inline models {

namespace trees {

/// The kernels of this formula for one vector instruction set (models/vector_units/kernels.hpp).
struct Kernels {
  /// Pairs that ranked trees evaluate at a time.
  static constexpr std::size_t kRanked = 64;
  /// Length of the `scratch` array that sums() needs, in floats.
  static std::size_t scratch(const Ensemble& trees) { return kRanked * (2 * trees.columns + 3); }

  /// Sums of the leaves for some pairs, one entry of `out` per pair. `ranked`: the same trees, or none.
  void (*sums)(const Ensemble&, const Ranked& ranked, const Jobs&, const PairList&, float* scratch,
               double* out);
};

}  // namespace trees

struct TreesBatch {
  using Kernels = trees::Kernels;

  trees::Ensemble trees;  ///< views into the model, which must outlive the batch
  trees::Ranked ranked;   ///< the same trees
  double mean = 0;        ///< of t
  std::array<std::vector<trees::Knot>, 3> knots;  ///< as trees::Model::knots

  // The jobs, in the caller's order, as in trees::Jobs, which has the shapes, with a stride of `count`.
  trees::Shape shape;
  std::size_t count = 0;
  std::vector<double> logs, linears;
  std::vector<double> own, co_runner;
  std::vector<std::uint8_t> unknown;

  /// The model with each array at at(array): a copy in the memory of the device that reads it.
  template <class At>
  trees::Model model(const At& at) const {
    trees::Model out;
    out.trees = trees;
    out.trees.test = at(std::span(trees.test, trees.inner() * trees.trees));
    out.trees.threshold = at(std::span(trees.threshold, trees.inner() * trees.trees));
    out.trees.leaf = at(std::span(trees.leaf, (trees.inner() + 1) * trees.trees));
    out.mean = mean;
    for (std::size_t u = 0; u < knots.size(); ++u) {
      out.knots[u] = at(knots[u]);
      out.knot_count[u] = static_cast<std::uint32_t>(knots[u].size());
    }
    return out;
  }
  /// The jobs, likewise.
  template <class At>
  trees::Jobs jobs(const At& at) const {
    return {shape, count, count, at(logs), at(linears), at(own), at(co_runner), at(unknown)};
  }
  trees::Model model() const { return model(kHere); }
  trees::Jobs jobs() const { return jobs(kHere); }
  std::size_t size() const { return count; }

 private:
  static constexpr auto kHere = [](const auto& numbers) { return numbers.data(); };
};

}  // namespace corun::inline models
