#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "models/knowledge/matrix_view.hpp"
#include "models/knowledge/standardiser.hpp"

/// Random forests for regression, and what they say of the importance of attributes (PriRecT section
/// III-B). forest.cpp alone knows the library, XGBoost's C interface 1.7.
///
/// A forest there is one round of boosting with many parallel trees, learning rate 1 and no
/// regularisation: a leaf predicts the mean of its rows and the forest the mean of its trees.
/// Splits are searched exactly (`tree_method=exact`) and reduce the squared error.
///
/// Departures from the textbook forest, all the library's:
/// - a tree learns from a share of the rows drawn without replacement instead of a bootstrap sample;
///   0.632 is the share of distinct rows that a bootstrap holds;
/// - the candidate attributes are drawn once per level of a tree, not once per node (the exact
///   search knows no finer grain). Every node still sees a uniform choice; nodes of one level share
///   it;
/// - values are single precision. Attributes and target are therefore standardised in double
///   precision first (splits do not mind), so that counters of some 10^9 keep their differences.
///
/// The library runs on one thread and its generator is seeded per block of trees: the same arguments
/// give the same bits, whatever else runs beside.
namespace corun {

struct ForestShape {
  int depth = 6;             ///< of a tree, at most; 1 or more
  int features = 6;          ///< candidate attributes per level; all of them where there are fewer
  double subsample = 0.632;  ///< share of the rows that a tree learns from, in (0, 1]
  std::uint64_t seed = 0;    ///< of rows and attributes, Stream::kForest
};

class RegressionForest {
 public:
  /// A forest without trees. std::invalid_argument as check_regression(), or for a bad shape.
  RegressionForest(const MatrixView& predictors, std::span<const double> target,
                   const ForestShape& shape);
  ~RegressionForest();
  RegressionForest(RegressionForest&&) noexcept;
  RegressionForest& operator=(RegressionForest&&) noexcept;

  /// Adds a block of trees, 1 or more. Block b of a shape is always the same block of trees, so
  /// growing by 50 twice differs from growing by 100 once, though not in distribution.
  void grow(int trees);

  int trees() const;

  /// One prediction per row, in the target's unit; needs a tree (std::logic_error).
  std::vector<double> predict(const MatrixView& predictors) const;

  /// Per attribute, by how much all splits on it together reduced the squared error of the rows that
  /// the trees learned from, as a share of all attributes' (sum 1). All 0 if nothing was split.
  std::vector<double> importance() const;

 private:
  struct Library;
  std::unique_ptr<Library> library_;
};

}  // namespace corun
