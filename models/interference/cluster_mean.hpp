#pragma once

#include <memory>
#include <span>
#include <vector>

#include "models/interference/fits/residual_spread.hpp"
#include "models/interference/interference_model.hpp"

/// The model of the JRS papers: the excess 1/s - 1 of a job beside another is the mean measured for their
/// ordered pair of clusters, at least 0; a pair of clusters without a measurement takes the overall mean.
/// With more residents, the excesses add up.
///
/// A job's cluster is that of the nearest centre (Euclidean), by the features it has. The centres are the
/// three of the papers if the table has their features (gpu_util_pct, mem_alloc_pct, mem_time_pct), in
/// percentage points; else three by k-means over the standardised features of the fitted jobs, as logarithms
/// for features on a log scale. Without features, or with fewer than three different jobs, there is one
/// cluster.
///
/// Source: the means per pair of clusters of PriRecT Fig. 5 and JRS Fig. 4, here of the excess. Known error: MAE of ISD in
/// percentage points, of held-out pairs, unseen jobs and unseen families: 9.6, 9.8 and 10.9 on Lucid's table, 29.9,
/// 31.3 and 34.6 on Gavel's P100; of the papers' pairs and unseen jobs 10.8 and 10.9, where the mean has 12.3
/// (experiments/interference/accuracy.md).
namespace corun::inline models {

class ClusterMeanModel final : public InterferenceModel {
 public:
  /// std::invalid_argument without a measured speed, and as check_table() and scaled_feature().
  static ClusterMeanModel fit(const SpeedTable& table, const FitOptions& options = {});
  /// `saved`: from save(). std::invalid_argument if it is not a possible state.
  static ClusterMeanModel load(const nlohmann::json& saved,
                               std::vector<SpeedTable::Feature> features,
                               const std::vector<WorkloadKey>& workloads);

  using InterferenceModel::predict;
  std::vector<SpeedPrediction> predict(std::span<const PairJob> jobs,
                                       std::span<const PairQuery> pairs) const override;
  std::vector<SpeedPrediction> predict_co_runners(
      std::span<const PairJob> residents) const override;
  void speeds(std::span<const PairJob> residents, std::span<double> out) const override;
  std::shared_ptr<PairFormula> formula(std::span<const PairJob> kinds,
                                       std::span<const std::uint32_t> kind_of) const override;

  std::unique_ptr<InterferenceModel> clone() const override {
    return std::make_unique<ClusterMeanModel>(*this);
  }
  const std::vector<SpeedTable::Feature>& features() const override { return features_; }
  const std::vector<WorkloadKey>& workloads() const override { return kNone; }
  double residual_sigma() const override { return sigma_; }
  nlohmann::json save() const override;

  /// The nearest centre, the lowest number of equals. std::invalid_argument as predict().
  std::size_t cluster_of(const PairJob& job) const;
  std::size_t clusters() const { return clusters_; }

 private:
  ClusterMeanModel() = default;
  void choose_centres(const SpeedTable& table);
  /// The standardised features of a job; NaN: not known, or not used by the centres.
  std::vector<double> position_of(std::span<const double> features) const;
  double excess(std::size_t of, std::size_t beside) const {
    return excess_[of * clusters_ + beside];
  }

  static const std::vector<WorkloadKey> kNone;
  std::vector<SpeedTable::Feature> features_;
  std::vector<double> mean_, deviation_;  ///< of each feature; deviation 0: not used
  std::size_t clusters_ = 1;
  std::vector<double> centres_;  ///< clusters x features, standardised
  std::vector<double> excess_;   ///< by ordered pair of clusters, row-major
  double sigma_ = 0;
  ResidualSpread spread_;
};

}  // namespace corun::inline models
