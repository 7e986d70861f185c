#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "models/interference/fits/observations.hpp"
#include "models/interference/interference_model.hpp"

/// Matrix completion over recurring jobs, as in Gavel's throughput estimator (Narayanan, Santhanam,
/// Kazhamiaka, Phanishayee and Zaharia, "Heterogeneity-Aware Cluster Scheduling Policies for Deep Learning
/// Workloads", OSDI 2020). With r_ij the standardised -log(speed) of job i beside job j,
///   r_ij = a_i + b_j + u_i . v_j,   u and v of rank 4,
/// by alternating least squares with ridges (Zhou, Wilkinson, Schreiber and Pan 2008): (a_i, u_i) of every
/// job given all (b, v), then the reverse. The prediction is the mean over kStarts random starts.
///
/// It uses keys, not features; an unseen job gets the mean (a, u) or (b, v) of the seen jobs. Intervals come
/// from the errors of fits without a fifth of the pairs or of the jobs. The effort of a fit scales the sweeps of the
/// least squares. learn() solves again for the two jobs only.
///
/// Known error: MAE of ISD in percentage points, of held-out pairs, unseen jobs and unseen families: 4.4, 9.7 and 10.4 on
/// Lucid's table, 7.9, 28.2 and 31.7 on Gavel's P100; of the papers' pairs and unseen jobs 10.1 and 10.9
/// (experiments/interference/accuracy.md).
namespace corun::inline models {

class LowRank final : public InterferenceModel {
 public:
  static constexpr std::size_t kRank = 4;
  static constexpr std::size_t kStarts = 6;

  /// std::invalid_argument as observations_of().
  static LowRank fit(const SpeedTable& table, const FitOptions& options);
  /// `state`: from save(). std::invalid_argument if it is not a possible state.
  static LowRank load(const nlohmann::json& state, std::vector<SpeedTable::Feature> features,
                      std::vector<WorkloadKey> workloads);

  std::unique_ptr<InterferenceModel> clone() const override;
  const std::vector<SpeedTable::Feature>& features() const override { return features_; }
  const std::vector<WorkloadKey>& workloads() const override { return workloads_; }

  using InterferenceModel::predict;
  std::vector<SpeedPrediction> predict(std::span<const PairJob> jobs,
                                       std::span<const PairQuery> pairs) const override;
  /// From pairs that were held out.
  double residual_sigma() const override { return sigma_; }
  /// learn() ignores jobs of kUnknownWorkload.
  bool learns() const override { return true; }
  void learn(const PairJob& a, const PairJob& b, double speed_a, double speed_b) override;
  nlohmann::json save() const override;

 private:
  LowRank() = default;

  static constexpr std::size_t kOne = kRank + 1;  ///< length of (a, u) or (b, v)
  static constexpr std::size_t kAll = kStarts * kOne;

  /// Fits the factors of `jobs` jobs; observations have positions among them. No features, keys or intervals.
  LowRank(std::span<const Observation> observations, std::size_t jobs, const FitOptions& options);
  /// Solves for (a, u) of one job and start given all (b, v) if `slowed`, else the reverse; 0 for a job
  /// without observations.
  void solve(std::size_t job, std::size_t start, bool slowed);
  void see(const Observation& o);
  void average();
  double log_slowdown(std::size_t of, std::size_t beside) const;

  std::vector<SpeedTable::Feature> features_;
  std::vector<WorkloadKey> workloads_;
  JobIndex index_;
  std::vector<Observation> observations_;  ///< rows are not kept
  double mean_ = 0;                        ///< of -log(speed)
  double deviation_ = 1;
  std::vector<double> slowed_;     ///< (jobs + 1) x starts x (a, u); the last is for unseen jobs
  std::vector<double> co_runner_;  ///< (jobs + 1) x starts x (b, v); likewise
  std::vector<std::vector<std::uint32_t>> of_;  ///< by job: observations of it as the slowed job
  std::vector<std::vector<std::uint32_t>> beside_;  ///< by job: observations of it as the co-runner
  Spreads spreads_;
  double sigma_ = 0;
};

}  // namespace corun::inline models
