#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "models/formulas/trees_batch.hpp"
#include "models/interference/fits/observations.hpp"
#include "models/interference/interference_model.hpp"
#include "models/learners/tree_ensemble.hpp"

/// Gradient-boosted trees (models/learners/exact_boosting.hpp) over pairs of jobs. For job i beside job j they
/// learn t_ij = -log(speed) less its mean from
///   - each feature x of both jobs, on its scale: x_i, x_j, x_i - x_j, x_i + x_j (on a log scale: ratio and
///     product); likewise from the ratios of two log-scale features of one job;
///   - the products u_i w_j of two linear features, because both jobs may need a resource at once;
///   - the effect a of each job as the slowed job and b as the co-runner, measured beside other jobs, in
///     t_ij = mean + a_i + b_j, by least squares with ridge 1: a_i + b_j, a_i, b_j, b_i, a_j. NaN for unseen
///     jobs.
/// The effects in a training row come from the other folds of rows. The effects of each job are hidden at
/// random, so that the trees also learn to predict without them.
///
/// Five ensembles, each fitted without a fifth of the pairs, are averaged (bagging); the pairs left out give
/// the intervals for seen jobs. Five more, each fitted without a fifth of the jobs, give the intervals for
/// unseen jobs and are then dropped.
///
/// Range: a tree is constant beyond the features of the fitted jobs. Known error: MAE of ISD in percentage points, of
/// held-out pairs, unseen jobs and unseen families: 4.8, 7.0 and 8.2 on Lucid's table, 8.0, 15.2 and 25.7 on Gavel's
/// P100; of the papers' pairs and unseen jobs 9.5 and 10.2. Intervals are made for unseen jobs, not families: of the
/// latter's co-runs the 90 % ones hold 71 to 84 % (experiments/interference/accuracy.md, which has more tables).
///
/// The effort of a fit scales the trees of an ensemble; the learning rate grows so that their sum stays.
///
/// A fit of 1500 directions takes a quarter of a second on one core. The same arguments give the same bits.
namespace corun::inline models {

class BoostedTrees final : public InterferenceModel {
 public:
  static constexpr std::size_t kMostFeatures = 32;

  /// std::invalid_argument as observations_of() and check_features(), for more than kMostFeatures features
  /// and for less than one thread.
  static BoostedTrees fit(const SpeedTable& table, const FitOptions& options);
  /// `state`: from save(). std::invalid_argument if it is not a possible state.
  static BoostedTrees load(const nlohmann::json& state, std::vector<SpeedTable::Feature> features,
                           std::vector<WorkloadKey> workloads);

  std::unique_ptr<InterferenceModel> clone() const override;
  const std::vector<SpeedTable::Feature>& features() const override { return features_; }
  const std::vector<WorkloadKey>& workloads() const override { return workloads_; }

  using InterferenceModel::predict;
  std::vector<SpeedPrediction> predict(std::span<const PairJob> jobs,
                                       std::span<const PairQuery> pairs) const override;
  /// The model and these jobs for the formula; valid while the model lives. std::invalid_argument as
  /// predict().
  TreesBatch batch(std::span<const PairJob> jobs) const;
  std::shared_ptr<PairFormula> formula(std::span<const PairJob> kinds,
                                       std::span<const std::uint32_t> kind_of) const override;
  /// From pairs that were held out.
  double residual_sigma() const override { return sigma_; }
  nlohmann::json save() const override;

 private:
  BoostedTrees() = default;

  std::vector<SpeedTable::Feature> features_;
  std::vector<WorkloadKey> workloads_;  ///< seen jobs
  JobIndex index_;
  std::vector<double> values_;  ///< features of the seen jobs, jobs x features, row-major
  std::vector<double> slowed_, co_runner_;  ///< effects a and b of the seen jobs; NaN: none
  double mean_ = 0;                         ///< of t; the trees predict t less this
  TreeEnsemble trees_;
  RankedTrees ranked_;  ///< of trees_
  Spreads spreads_;
  double sigma_ = 0;
};

}  // namespace corun::inline models
