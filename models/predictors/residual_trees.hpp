#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "models/knowledge/tree_ensemble.hpp"
#include "models/predictors/predictor.hpp"

/// What a physical formula misses, learnt by boosted trees: the logarithm of measured / formula, from features of
/// the job.
namespace corun {

struct ResidualRows {
  std::size_t columns = 0;
  std::vector<float> features;  ///< rows x columns, row-major; NaN: not known
  std::vector<float> residual;  ///< logarithms
  std::vector<float> weight;    ///< of the squared errors, above 0

  std::size_t rows() const { return residual.size(); }
  /// Some of the rows.
  ResidualRows only(std::span<const std::size_t> rows) const;
};

/// The mean of some ensembles that differ in their draws: each 400 trees of depth 5, learning rate 0.04, on
/// half of the rows and 40 % of the features per split. The shape is the same for all targets.
/// std::invalid_argument for no rows.
TreeEnsemble fit_residual_trees(const ResidualRows& rows, const PredictorOptions& options,
                                int ensembles);

}  // namespace corun
