#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "models/knowledge/tree_ensemble.hpp"

/// Gradient-boosted regression trees (Friedman 2001, with the regularised leaves of Chen and Guestrin
/// 2016), fitted by XGBoost. Splits are searched exactly and reduce the squared error; every round adds
/// one tree learnt from a share of the rows and, per level, of the features (Friedman 2002).
///
/// The library runs on one thread and is seeded: the same arguments give the same bits with the same
/// version of it (1.7; another may draw or round otherwise). What was fitted is asked for its trees and
/// evaluated by TreeEnsemble, which does not depend on it.
namespace corun {

struct BoostingShape {
  int rounds = 200;  ///< trees
  int depth = 4;     ///< of a tree, at most
  double learning_rate = 0.05;
  double subsample = 0.5;  ///< share of the rows that a tree learns from, in (0, 1]
  double columns = 0.3;    ///< share of the features that a level may split on, in (0, 1]
  double lambda = 1;       ///< ridge of the leaves, at least 0
  double leaf_weight = 3;  ///< the least rows in a leaf
  std::uint32_t seed = 1;
};

class GradientBoosting {
 public:
  /// Learns the target, one finite number per row of rows x columns features; NaN: not known.
  /// std::invalid_argument: sizes that do not fit, infinities, a shape out of bounds.
  GradientBoosting(std::span<const float> rows, std::size_t columns, std::span<const float> target,
                   const BoostingShape& shape);
  ~GradientBoosting();
  GradientBoosting(GradientBoosting&&) noexcept;
  GradientBoosting& operator=(GradientBoosting&&) noexcept;

  /// The library's own predictions, without `TreeEnsemble`: what the trees are tested against.
  std::vector<float> predict(std::span<const float> rows) const;

  TreeEnsemble trees() const;

 private:
  struct Library;
  std::unique_ptr<Library> library_;
};

}  // namespace corun
