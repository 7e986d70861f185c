#pragma once

#include <array>
#include <cstddef>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "models/formulas/contention_formula.hpp"
#include "models/interference/fits/residual_spread.hpp"
#include "models/interference/interference_model.hpp"

/// Contention: a physical model of few parameters for any number of residents.
///
/// Per job, as fractions: u = maximum GPU utilisation, m = memory allocated, t = time accessing
/// memory. The excess x = 1/s - 1 of job i beside the jobs j is a sum of four pressures:
///
///   x_i = c1 (1 - m_i) u_i  sum_j (1 - m_j) u_j              arithmetic units, symmetric; jobs that
///                                                            hold much memory run long kernels and
///                                                            interfere less
///       + c2 t_i  sum_j u_j                                  memory traffic of i delayed by the j
///       + c3 max(0, 1 - u_i / 0.10)  sum_j u_j               launch latency of a light job that
///                                                            waits for busy co-runners
///       + c4 [max(0, t_i + sum_j t_j - 0.5) - max(0, t_i - 0.5)]   memory time over capacity, as far
///                                                            as the j add it
///
/// with c >= 0, so 0 < s <= 1, and s = 1 alone. With more than two residents the sums over j are as written.
///
/// The fit is by non-negative least squares over both directions of every measured pair with weight s^2, that
/// is, on the relative error of the time under overlap. One common factor then makes the mean predicted
/// excess equal to the mean measured excess.
///
/// u, m and t are the features gpu_util_pct, which some job of a fitted row must have, mem_alloc_pct and mem_time_pct. Without
/// mem_alloc_pct, m is mem_used_mib over the most that a fitted job uses. A value that a job lacks is the
/// mean over the members of the fitted rows; values outside [0, 1] are cut.
///
/// Known error: MAE of ISD in percentage points, of held-out pairs, unseen jobs and unseen
/// families: 8.8, 8.9 and 25.6 on Lucid's table; of the papers' pairs and unseen jobs 9.9 and 10.0. It fails on unseen
/// families (experiments/interference/accuracy.md). With more than two residents no error is known.
namespace corun::inline models {

class ContentionModel final : public InterferenceModel {
 public:
  static constexpr std::size_t kTerms = ContentionEquation::kTerms;
  /// The feature that it cannot do without.
  static constexpr std::string_view kNeeded = "gpu_util_pct";

  /// std::invalid_argument without a measured speed, without the feature kNeeded or if no job of a row has a known
  /// value of it, and as check_table().
  static ContentionModel fit(const SpeedTable& table, const FitOptions& options = {});
  /// `saved`: from save(). std::invalid_argument if it is not a possible state.
  static ContentionModel load(const nlohmann::json& saved,
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
    return std::make_unique<ContentionModel>(*this);
  }
  const std::vector<SpeedTable::Feature>& features() const override { return features_; }
  const std::vector<WorkloadKey>& workloads() const override { return kNone; }
  double residual_sigma() const override { return sigma_; }
  nlohmann::json save() const override;

  const std::array<double, kTerms>& coefficients() const { return coefficients_; }

 private:
  struct Means {
    double u, m, t;  ///< fractions
  };
  /// How u, m or t follows from the features of a job.
  struct Reading {
    std::ptrdiff_t feature = -1;  ///< position; -1: the table has no such feature
    double full = 100;            ///< the value that is a fraction of 1, in the unit of the feature
  };

  ContentionModel() = default;
  void find_features();
  ContentionLoad load_of(const PairJob& job) const;
  ContentionEquation equation() const;

  static const std::vector<WorkloadKey> kNone;
  std::vector<SpeedTable::Feature> features_;
  std::array<Reading, 3> readings_;
  std::array<double, kTerms> coefficients_{};
  Means mean_{};
  double sigma_ = 0;
  ResidualSpread spread_;
};

}  // namespace corun::inline models
