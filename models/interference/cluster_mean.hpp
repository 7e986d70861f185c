#pragma once

#include <memory>
#include <span>
#include <vector>

#include "models/interference/interference_model.hpp"
#include "models/interference/residual_spread.hpp"

/// The papers' view: a job beside a job of another cluster runs at the mean speed that was measured for
/// that ordered pair of clusters (mean excess 1/s - 1; pairs of clusters never measured take the overall
/// mean). More residents: excesses add up.
///
/// A job's cluster is that of the nearest centre, by the features it has. Centres: the papers' three
/// where the table has their features (gpu_util_pct, mem_alloc_pct, mem_time_pct), in percentage
/// points; else three by k-means over the fitted jobs' features, logarithms where on a log scale,
/// standardised. Without features, or with fewer than three different jobs: one cluster.
namespace corun {

class ClusterMeanModel final : public InterferenceModel {
 public:
  /// std::invalid_argument without a measured speed, or for features that are not possible.
  static ClusterMeanModel fit(const SpeedTable& table, const FitOptions& options = {});
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

  /// Nearest centre, the lowest of equals.
  std::size_t cluster_of(const PairJob& job) const;
  std::size_t clusters() const { return clusters_; }

 private:
  ClusterMeanModel() = default;
  void choose_centres(const SpeedTable& table);
  /// A job's features as distances are taken: those that the centres have, standardised; NaN: unknown.
  std::vector<double> position_of(std::span<const double> features) const;
  double excess(std::size_t of, std::size_t beside) const {
    return excess_[of * clusters_ + beside];
  }

  static const std::vector<WorkloadKey> kNone;
  std::vector<SpeedTable::Feature> features_;
  std::vector<double> mean_, deviation_;  ///< of each feature; deviation 0: it does not count
  std::size_t clusters_ = 1;
  std::vector<double> centres_;  ///< clusters x features, standardised
  std::vector<double> excess_;   ///< ordered pairs of clusters, row-major
  double sigma_ = 0;
  ResidualSpread spread_;
};

}  // namespace corun
