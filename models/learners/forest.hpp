#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "models/learners/matrix_view.hpp"
#include "models/learners/standardiser.hpp"

/// Random forests for regression, with the importance of attributes (PriRecT section III-B), by XGBoost's C
/// interface 1.7.
///
/// In XGBoost, a forest is one round of boosting with many parallel trees, learning rate 1 and no
/// regularisation: a leaf predicts the mean of its rows and the forest the mean of its trees. Splits are
/// searched exactly (`tree_method=exact`) and reduce the squared error.
///
/// Differences to the textbook forest, due to the library:
/// - a tree learns from a share of the rows drawn without replacement, not from a bootstrap sample; 0.632 is
///   the expected share of distinct rows in a bootstrap sample;
/// - the candidate attributes are drawn once per level of a tree, not once per node, so the nodes of a level
///   share them;
/// - values are single precision. Attributes and target are therefore first standardised in double precision,
///   which does not change the splits, so that counters of about 10^9 keep their differences.
///
/// The library runs on one thread with a seed per block of trees, so the same arguments give the same bits.
namespace corun::inline models {

struct ForestShape {
  int depth = 6;             ///< of a tree, at most; 1 or more
  int features = 6;          ///< candidate attributes per level, 1 or more; all if there are fewer
  double subsample = 0.632;  ///< share of the rows that a tree learns from, in (0, 1]
  std::uint64_t seed = 0;    ///< for drawing rows and attributes, Stream::kForest
};

/// std::runtime_error if the library fails.
class RegressionForest {
 public:
  /// A forest without trees. std::invalid_argument as check_regression(), and for a shape out of bounds.
  RegressionForest(const MatrixView& predictors, std::span<const double> target,
                   const ForestShape& shape);
  ~RegressionForest();
  RegressionForest(RegressionForest&&) noexcept;
  RegressionForest& operator=(RegressionForest&&) noexcept;

  /// Adds a block of `trees` trees; std::invalid_argument below 1. The trees depend on the number of the
  /// block, so growing by 50 twice differs from growing by 100 once, though not in distribution.
  void grow(int trees);

  int trees() const;

  /// One prediction per row, in the target's unit; needs a tree (std::logic_error).
  std::vector<double> predict(const MatrixView& predictors) const;

  /// One entry per attribute: by how much all splits on it reduced the squared error of the training rows, as
  /// a share of the sum over all attributes. All 0 if there is no split.
  std::vector<double> importance() const;

 private:
  struct Library;
  std::unique_ptr<Library> library_;
};

}  // namespace corun::inline models
