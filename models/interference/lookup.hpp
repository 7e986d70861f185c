#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <unordered_map>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "models/interference/fits/observations.hpp"
#include "models/interference/interference_model.hpp"

/// The geometric mean of the speeds measured of exactly this job beside exactly that one, by their keys. A
/// pair without a measurement gets the median of all speeds, with their spread around it as the interval.
///
/// The interval of a pair with n measurements is that of one more: log speed has a standard deviation of
/// s sqrt(1 + 1/n). s is pooled over all repeated pairs, with a prior of 0.05 at the weight of four repeats.
/// (The log speeds of the one pair that is printed twice, in JRS Tables V and VI, differ by 0.19 and 0.04.)
///
/// Known error: MAE of ISD of pairs without a measurement 11.8 percentage points on Lucid's table, 35.7 on Gavel's P100 and
/// 10.8 on the papers' (experiments/interference/accuracy.md).
namespace corun::inline models {

class Lookup final : public InterferenceModel {
 public:
  /// std::invalid_argument as observations_of().
  static Lookup fit(const SpeedTable& table, const FitOptions& options);
  /// `state`: from save(). std::invalid_argument if it is not a possible state.
  static Lookup load(const nlohmann::json& state, std::vector<SpeedTable::Feature> features,
                     std::vector<WorkloadKey> workloads);

  std::unique_ptr<InterferenceModel> clone() const override;
  const std::vector<SpeedTable::Feature>& features() const override { return features_; }
  const std::vector<WorkloadKey>& workloads() const override { return workloads_; }

  using InterferenceModel::predict;
  std::vector<SpeedPrediction> predict(std::span<const PairJob> jobs,
                                       std::span<const PairQuery> pairs) const override;
  /// For measured pairs, from s.
  double residual_sigma() const override;
  /// learn() ignores jobs of kUnknownWorkload.
  bool learns() const override { return true; }
  void learn(const PairJob& a, const PairJob& b, double speed_a, double speed_b) override;
  nlohmann::json save() const override;

 private:
  struct Mean {
    double log_slowdown = 0;  ///< mean of -log(speed)
    double count = 0;
  };

  Lookup() = default;
  void add(const Observation& o);
  double deviation() const;  ///< s

  std::vector<SpeedTable::Feature> features_;
  std::vector<WorkloadKey> workloads_;
  JobIndex index_;
  std::vector<Observation> observations_;          ///< in order of measurement; rows are not kept
  std::unordered_map<std::uint64_t, Mean> means_;  ///< by directed pair of positions
  std::vector<double> speeds_;                     ///< all, ascending
  double squares_ = 0;  ///< sum of squares of -log(speed) around the mean of its pair
  double freedom_ = 0;  ///< number of repeats
};

}  // namespace corun::inline models
