#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "models/formulas/trees_formula.hpp"

/// Regression trees as flat arrays, and their sum for rows of features. Every tree is complete to one
/// depth, its nodes in the order of a heap (the children of n are 2n + 1 and 2n + 2): a row walks down
/// without branches, and many rows side by side.
namespace corun {

/// A feature that is not known is NaN; each inner node says which way such a row goes.
struct TreeEnsemble {
  static constexpr int kMostDepth = 12;

  int depth = 0;            ///< inner nodes from the root to any leaf
  std::size_t columns = 0;  ///< features of a row
  /// Per inner node, (2^depth - 1) of each tree: 2 * feature, plus 1 where NaN goes right.
  std::vector<std::int32_t> test;
  std::vector<float> threshold;  ///< likewise: a row goes left if its feature is less
  std::vector<float> leaf;       ///< 2^depth of each tree

  /// As the formula wants it; points into this.
  trees::Ensemble view() const {
    return {static_cast<std::uint32_t>(depth),
            static_cast<std::uint32_t>(columns),
            static_cast<std::uint32_t>(trees()),
            test.data(),
            threshold.data(),
            leaf.data()};
  }
  std::size_t trees() const { return leaf.size() >> static_cast<unsigned>(depth); }

  /// The sum of the leaves of each row of rows x columns finite or NaN features, in double precision and
  /// the order of the trees: the same bits whatever stands beside it.
  std::vector<double> sums(std::span<const float> rows) const;

  /// Adds the trees of `more`, which must have the same columns and depth (std::invalid_argument).
  void append(const TreeEnsemble& more);

  /// std::invalid_argument unless sizes fit each other, tests are of columns that are there, leaves are
  /// finite and thresholds no NaN.
  void check() const;
};

}  // namespace corun
