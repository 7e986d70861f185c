#pragma once

#include <array>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "models/interference/interference_model.hpp"

/// Ensemble, the default: what factors, gp and boosted-trees say, averaged in t = -log(speed), the more
/// sure a member is of the pair, the more it counts.
///
///   t = sum_m p_m t_m / sum_m p_m        p_m = w_m / sd_m^2
///   sd^2 = sum_m s_m sd_m^2 + disagreement var_m(t_m)
///
/// sd_m is a member's 90 % interval over twice 1.645; the interval is the normal's around t. Weights w by
/// what is known of the pair: both jobs measured before, beside any co-runner: factors 4/5, gp 1/5; else factors
/// .83, gp .12, trees .05. An average errs less than its members do on average, so that the s add up to
/// less than 1. For a job never measured gp's spread counts more than gp itself: of the three it grows most
/// with the distance from the jobs that were. Members learn from the same rows and err together, so that by
/// how much they disagree (var: without weights, of those with a say) tells of more than itself: `disagreement`,
/// most for jobs never measured. All these are the same for every table and never fitted.
///
/// A co-run is learnt by the members that learn (gp); the others wait for the next fit.
namespace corun {

class EnsembleModel final : public InterferenceModel {
 public:
  static constexpr std::size_t kMembers = 3;
  static constexpr std::array<std::string_view, kMembers> kNames{"factors", "gp", "boosted-trees"};
  /// How members are averaged, and what their spreads and their disagreement count for.
  struct Mix {
    std::array<double, kMembers> weight;  ///< w; who has none is not asked
    std::array<double, kMembers> spread;  ///< s
    double disagreement;
  };
  static constexpr Mix kBothSeen{{0.8, 0.2, 0}, {0.72, 0.18, 0}, 0.5};
  static constexpr Mix kElse{{0.83, 0.12, 0.05}, {0.35, 0.5, 0}, 2.5};

  /// std::invalid_argument as its members.
  static EnsembleModel fit(const SpeedTable& table, const FitOptions& options);
  static EnsembleModel load(const nlohmann::json& saved, std::vector<SpeedTable::Feature> features,
                            std::vector<WorkloadKey> workloads);

  EnsembleModel(const EnsembleModel& other);
  EnsembleModel(EnsembleModel&&) noexcept = default;
  EnsembleModel& operator=(const EnsembleModel&) = delete;
  EnsembleModel& operator=(EnsembleModel&&) noexcept = default;
  ~EnsembleModel() override = default;

  std::unique_ptr<InterferenceModel> clone() const override {
    return std::make_unique<EnsembleModel>(*this);
  }
  const std::vector<SpeedTable::Feature>& features() const override {
    return members_.front()->features();
  }
  const std::vector<WorkloadKey>& workloads() const override { return workloads_; }
  using InterferenceModel::predict;
  std::vector<SpeedPrediction> predict(std::span<const PairJob> jobs,
                                       std::span<const PairQuery> pairs) const override;
  /// A sample of factors, moved to the ensemble's prediction.
  std::vector<double> sample(std::span<const PairJob> jobs, std::span<const PairQuery> pairs,
                             std::uint64_t draw) const override;
  double residual_sigma() const override { return sigma_; }
  bool learns() const override { return true; }
  void learn(const PairJob& a, const PairJob& b, double speed_a, double speed_b) override;
  nlohmann::json save() const override;

 private:
  EnsembleModel() = default;
  /// Gives the members' new jobs their places among all.
  void list_workloads();

  std::array<std::unique_ptr<InterferenceModel>, kMembers> members_;
  std::vector<WorkloadKey> workloads_;  ///< of all members; each once
  /// Of each member's workloads, where they are among all; -1: cannot be found again.
  std::array<std::vector<std::int32_t>, kMembers> places_;
  std::vector<WorkloadKey> seen_;  ///< by factors, ascending
  double sigma_ = 0;
};

}  // namespace corun
