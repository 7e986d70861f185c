#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "models/formulas/trees_formula.hpp"

/// Trees in a form for vector units. A node only tests on which side of its threshold a feature lies. The
/// rank of a feature, its place among all thresholds of its test, therefore replaces the feature: an integer
/// of 16 bits, of which a register holds four times as many as doubles. All nodes of a tree are evaluated, so
/// no load depends on the result of another, as it does in a walk down the tree
/// (models/vector_units/trees_kernels.inl). The leaf is the same as in a walk, so the sums have the same bits.
namespace corun::inline models {

namespace trees {

/// A view of RankedTrees. Every tree is complete, of depth kDepth.
struct Ranked {
  static constexpr unsigned kDepth = 5;
  static constexpr std::size_t kInner = (std::size_t{1} << kDepth) - 1;
  static constexpr std::size_t kLeaves = kInner + 1;

  std::uint32_t trees = 0;              ///< 0: these trees have no such form
  std::uint32_t columns = 0;            ///< features of a pair
  std::uint32_t lines = 0;              ///< tests that occur; each has one line of ranks
  const std::uint16_t* line = nullptr;  ///< trees x kInner: the line that the node reads
  const std::int16_t* rank = nullptr;   ///< trees x kInner: a lower rank goes left
  const float* leaf = nullptr;          ///< trees x kLeaves
  // One entry per line: its feature and its thresholds.
  const std::int32_t* test = nullptr;    ///< as Ensemble::test
  const std::uint32_t* first = nullptr;  ///< lines + 1: where the thresholds of each begin
  const float* threshold = nullptr;      ///< ascending, 2^n - 1 per line, padded with infinity
};

}  // namespace trees

class RankedTrees {
 public:
  RankedTrees() = default;
  /// No trees if `trees` are single leaves or deeper than Ranked::kDepth, or if a test has more thresholds,
  /// or the trees more tests, than 16 bits can count.
  explicit RankedTrees(const trees::Ensemble& trees);

  /// Points into this object.
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

}  // namespace corun::inline models
