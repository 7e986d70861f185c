#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "models/learners/tree_ensemble.hpp"
#include "predictors/predictor.hpp"
#include "predictors/residual_process.hpp"

/// What a physical formula misses: the logarithm of measured / formula, learnt from features of the job. It is the
/// mean of boosted trees and of a Gaussian process. Trees find the features that matter, the process is smooth
/// between jobs; their errors differ, so the mean errs less than either. The process counts
///   1/2 w / (w + 0.01)
/// for a job of weight w, because it learns nothing from jobs whose noise (0.01 / w) hides the residual. The numbers on this page are the usual
/// PhysicsConstants.
namespace corun::inline predictors {

class ResidualModel {
 public:
  ResidualModel() = default;
  /// 0 for every job.
  explicit ResidualModel(std::size_t columns) { trees_.columns = columns; }

  /// The mean of some ensembles of 400 trees of depth 5, learning rate 0.04, on half of the rows and a quarter of
  /// the features per level. They differ in their draws and in the least weight of a leaf: 12, 5 and 2 in turn, or
  /// 5 for a single one. Forgets the process. std::invalid_argument for no rows.
  void fit_trees(const ResidualRows& rows, const PredictorOptions& options, int ensembles);
  /// After fit_trees(), with the same columns.
  void fit_process(const ResidualRows& rows, const PredictorOptions& options);

  std::size_t columns() const { return trees_.columns; }
  /// `features`: columns() numbers; NaN: not known. `weight`: as that of a fitted row.
  double at(std::span<const float> features, double weight) const;

  nlohmann::json save() const;
  /// std::invalid_argument for trees or a process of other than `columns` features, too.
  static ResidualModel load(const nlohmann::json& state, std::size_t columns);

 private:
  TreeEnsemble trees_;
  ResidualProcess process_;
  PhysicsConstants constants_;  ///< files have the usual ones
};

}  // namespace corun::inline predictors
