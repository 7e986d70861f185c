#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "models/learners/tree_ensemble.hpp"

/// Gradient-boosted regression trees (Friedman 2001, with the regularised leaves of Chen and Guestrin 2016),
/// fitted by XGBoost. Splits are searched exactly and reduce the squared error. Every round adds one tree,
/// learnt from a share of the rows and, per level, of the features (Friedman 2002).
///
/// The library runs on one thread with a seed: the same arguments give the same bits with the same version of
/// it (1.7; another may draw or round differently). trees() extracts the fitted trees, which TreeEnsemble
/// evaluates without the library.
namespace corun::inline models {

struct BoostingShape {
  int rounds = 200;             ///< trees, or blocks of `parallel` trees
  int depth = 4;                ///< of a tree, at most
  double learning_rate = 0.05;  ///< factor of each round's leaves, in (0, 1]
  double subsample = 0.5;       ///< share of the rows that a tree learns from, in (0, 1]
  double columns = 0.3;         ///< share of the features that a level may split on, in (0, 1]
  double lambda = 1;            ///< ridge of the leaves, at least 0
  double leaf_weight = 3;       ///< least number of rows in a leaf, at least 0
  std::uint32_t seed = 1;
  /// Trees of a round, learnt from draws of their own; their mean is added. One round with learning rate 1 and
  /// lambda 0 is a random forest (see forest.hpp for the differences).
  int parallel = 1;
};

/// std::invalid_argument: sizes that do not fit, infinities, a shape out of bounds.
void check_boosting(std::span<const float> rows, std::size_t columns, std::span<const float> target,
                    const BoostingShape& shape);

class GradientBoosting {
 public:
  /// `rows`: features, row-major, `columns` per row, NaN: not known; `target`: one finite number per row;
  /// `weights`: of the rows' squared errors, above 0; empty: all 1. std::invalid_argument: sizes that do not
  /// fit, infinities, a shape out of bounds. std::runtime_error if the library fails.
  GradientBoosting(std::span<const float> rows, std::size_t columns, std::span<const float> target,
                   const BoostingShape& shape, std::span<const float> weights = {});
  ~GradientBoosting();
  GradientBoosting(GradientBoosting&&) noexcept;
  GradientBoosting& operator=(GradientBoosting&&) noexcept;

  /// The library's predictions, one per row, with which tests compare TreeEnsemble. `rows`: as in the constructor.
  std::vector<float> predict(std::span<const float> rows) const;

  /// std::runtime_error or std::out_of_range if the library writes its trees in another form than version 1.7 does.
  TreeEnsemble trees() const;

 private:
  struct Library;
  std::unique_ptr<Library> library_;
};

}  // namespace corun::inline models
