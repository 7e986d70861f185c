#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "models/formulas/trees_batch.hpp"
#include "models/interference/interference_model.hpp"
#include "models/interference/observations.hpp"
#include "models/knowledge/tree_ensemble.hpp"

/// Gradient-boosted trees (models/knowledge/boosting.hpp) of what a pair of jobs looks like. For job i
/// beside job j they learn t_ij = -log(speed) less its mean from
///   - each feature x of both, on its scale: x_i, x_j, x_i - x_j, x_i + x_j (of a log scale: ratio and
///     product); so also for ratios of two features of one job that are on log scales;
///   - the products u_i w_j of two features on linear scales: both jobs want it at once;
///   - what was seen of each job beside other co-runners: its effect as the slowed, a, and as the co-runner, b,
///     of t_ij = mean + a_i + b_j, least squares with ridge 1: a_i + b_j, a_i, b_j, b_i, a_j. NaN of jobs
///     never seen.
/// Effects that a row is learnt with come from the other folds of rows, never from the row itself; and
/// at random those of either job are hidden, so that the trees also learn to do without.
///
/// Five ensembles, each without a fifth of the pairs, are averaged (bagging), and what they left out
/// shows how far predictions of jobs seen lie off; five more, each without a fifth of the jobs, show it
/// for jobs never seen, and are then dropped.
///
/// Fit on one core: about a second for 1500 directions. The same arguments give the same bits with one
/// version of XGBoost; a model that was saved predicts the same bits without regard to it.
namespace corun {

class BoostedTrees final : public InterferenceModel {
 public:
  static constexpr std::size_t kMostFeatures = 32;

  /// std::invalid_argument as observations_of() and check_features(), or for more than kMostFeatures.
  static BoostedTrees fit(const SpeedTable& table, const FitOptions& options);
  /// What save() gave. std::invalid_argument for what is not possible.
  static BoostedTrees load(const nlohmann::json& state, std::vector<SpeedTable::Feature> features,
                           std::vector<WorkloadKey> workloads);

  std::unique_ptr<InterferenceModel> clone() const override;
  const std::vector<SpeedTable::Feature>& features() const override { return features_; }
  const std::vector<WorkloadKey>& workloads() const override { return workloads_; }

  using InterferenceModel::predict;
  std::vector<SpeedPrediction> predict(std::span<const PairJob> jobs,
                                       std::span<const PairQuery> pairs) const override;
  /// The model and these jobs as the formula wants them, for as long as the model is there.
  /// std::invalid_argument as predict().
  TreesBatch batch(std::span<const PairJob> jobs) const;
  std::shared_ptr<PairFormula> formula(std::span<const PairJob> kinds,
                                       std::span<const std::uint32_t> kind_of) const override;
  /// By pairs that were held out.
  double residual_sigma() const override { return sigma_; }
  nlohmann::json save() const override;

 private:
  BoostedTrees() = default;

  std::vector<SpeedTable::Feature> features_;
  std::vector<WorkloadKey> workloads_;  ///< jobs seen
  JobIndex index_;
  std::vector<double> values_;              ///< of the jobs seen, jobs x features
  std::vector<double> slowed_, co_runner_;  ///< effects a and b of the jobs seen; NaN: none
  double mean_ = 0;                         ///< of t; the trees say what comes on top
  TreeEnsemble trees_;
  RankedTrees ranked_;  ///< of trees_
  Spreads spreads_;
  double sigma_ = 0;
};

}  // namespace corun
