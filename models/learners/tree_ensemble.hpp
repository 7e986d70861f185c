#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "models/formulas/trees_formula.hpp"

/// Regression trees as flat arrays, and their sums for rows of features. Every tree is complete to the same
/// depth, with nodes in the order of a heap (the children of n are 2n + 1 and 2n + 2), so that many rows can
/// walk down together without branches.
namespace corun::inline models {

/// NaN marks an unknown feature; each inner node states the way of such a row.
struct TreeEnsemble {
  static constexpr int kMostDepth = 12;

  int depth = 0;            ///< inner nodes from the root to any leaf
  std::size_t columns = 0;  ///< features of a row
  /// Per inner node, (2^depth - 1) of each tree: 2 * feature, plus 1 where NaN goes right.
  std::vector<std::int32_t> test;
  std::vector<float> threshold;  ///< likewise: a row goes left if its feature is less
  std::vector<float> leaf;       ///< 2^depth of each tree

  /// A view for the formula; points into this object.
  trees::Ensemble view() const {
    return {static_cast<std::uint32_t>(depth),
            static_cast<std::uint32_t>(columns),
            static_cast<std::uint32_t>(trees()),
            test.data(),
            threshold.data(),
            leaf.data()};
  }
  std::size_t trees() const { return leaf.size() >> static_cast<unsigned>(depth); }

  /// The sum of the leaves for each row. `rows`: rows x columns, row-major, finite or NaN. Sums are in double
  /// precision and the order of the trees, so a row gets the same bits in any batch.
  std::vector<double> sums(std::span<const float> rows) const;

  /// Adds the trees of `more`, which must have the same columns and depth (std::invalid_argument).
  void append(const TreeEnsemble& more);

  /// std::invalid_argument unless the depth is from 0 to kMostDepth, sizes fit each other, tests are of
  /// existing columns, thresholds are not NaN and leaves have moduli of at most 1e6.
  void check() const;
};

}  // namespace corun::inline models
