#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <unordered_map>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "models/interference/interference_model.hpp"
#include "models/interference/observations.hpp"

/// What was measured of exactly this job beside exactly that one, by their keys: the geometric mean of
/// its speeds. Predicts nothing: a pair never measured has the median of all speeds, and how
/// far they lie from it for an interval.
///
/// The interval of n measurements is that of one more, s sqrt(1 + 1/n) of log speed wide as a standard
/// deviation, with s pooled over all pairs that were repeated; a prior of 0.05 counts as four repeats.
/// (The one pair that the JRS papers print twice differs by 0.14.)
namespace corun {

class Lookup final : public InterferenceModel {
 public:
  /// std::invalid_argument as observations_of().
  static Lookup fit(const SpeedTable& table, const FitOptions& options);
  /// What save() gave. std::invalid_argument for what is not possible.
  static Lookup load(const nlohmann::json& state, std::vector<SpeedTable::Feature> features,
                     std::vector<WorkloadKey> workloads);

  std::unique_ptr<InterferenceModel> clone() const override;
  const std::vector<SpeedTable::Feature>& features() const override { return features_; }
  const std::vector<WorkloadKey>& workloads() const override { return workloads_; }

  using InterferenceModel::predict;
  std::vector<SpeedPrediction> predict(std::span<const PairJob> jobs,
                                       std::span<const PairQuery> pairs) const override;
  /// Of pairs that were measured: by s.
  double residual_sigma() const override;
  /// Jobs of kUnknownWorkload are passed over.
  bool learns() const override { return true; }
  void learn(const PairJob& a, const PairJob& b, double speed_a, double speed_b) override;
  nlohmann::json save() const override;

 private:
  struct Mean {
    double log_slowdown = 0;  ///< of -log(speed)
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
  double squares_ = 0;  ///< of -log(speed) around the means of its pair, summed
  double freedom_ = 0;  ///< repeats in all
};

}  // namespace corun
