#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "models/formulas/trees_formula.hpp"

/// Trees as vector units like them. A node only asks on which side of its threshold a feature lies, so a
/// feature's place among all thresholds of its column, its rank, says as much as the feature: a whole
/// number of 16 bits, of which a register holds four times as many as doubles. All nodes of a tree are
/// asked side by side, with no way down that loads from where the last load has led
/// (vector_units/trees_kernels.inl). Which leaf comes out is the same as on the way down, so the sums have the same bits.
namespace corun {

namespace trees {

/// RankedTrees, in memory that stays.
struct Ranked {
  static constexpr unsigned kDepth = 5;
  static constexpr std::size_t kInner = (std::size_t{1} << kDepth) - 1;
  static constexpr std::size_t kLeaves = kInner + 1;

  std::uint32_t trees = 0;    ///< 0: there is no such form of these trees
  std::uint32_t columns = 0;  ///< of a pair's features
  std::uint32_t lines = 0;
  const std::uint16_t* line = nullptr;  ///< kInner of each tree: which ranks the node looks at
  const std::int16_t* rank = nullptr;   ///< likewise: a rank below goes left
  const float* leaf = nullptr;          ///< kLeaves of each tree
  // Of each line: which feature, and its thresholds.
  const std::int32_t* test = nullptr;    ///< as Ensemble::test
  const std::uint32_t* first = nullptr;  ///< lines + 1: of its thresholds, among all
  const float* threshold = nullptr;      ///< ascending; 2^n - 1 of each line, at the end infinity
};

}  // namespace trees

class RankedTrees {
 public:
  RankedTrees() = default;
  /// Empty where trees are single leaves or deeper than Ranked::kDepth, or a column has more thresholds
  /// than there are ranks.
  explicit RankedTrees(const trees::Ensemble& trees);

  trees::Ranked view() const;

 private:
  std::uint32_t trees_ = 0;
  std::uint32_t columns_ = 0;
  std::vector<std::uint16_t> line_;
  std::vector<std::int16_t> rank_;
  std::vector<float> leaf_;
  std::vector<std::int32_t> test_;
  std::vector<std::uint32_t> first_;
  std::vector<float> threshold_;
};

}  // namespace corun
