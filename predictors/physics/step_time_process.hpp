#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include <Eigen/Dense>
#include <nlohmann/json_fwd.hpp>

#include "predictors/held_out.hpp"
#include "predictors/physics/time_terms.hpp"
#include "predictors/predictor.hpp"

/// The model of TimePredictor for one phase, training or inference; time_predictor.hpp has the equation and known error.
namespace corun::inline predictors {

/// A job as the process sees it.
struct StepRow {
  static constexpr std::size_t kModelFigures = 8;
  static constexpr std::size_t kGpuFigures = 4;
  /// Terms, with Winograd's for three generations of cuDNN.
  static constexpr std::size_t kTerms = kTimeTerms + 2;

  JobGroups groups;
  std::uint64_t library = 0;           ///< version of cuDNN; 0: not known
  std::array<double, kTerms> terms{};  ///< [ms], as time_terms()
  // Figures for the smooth kernels, mostly logarithms, scaled such that a distance of 1 matters.
  std::array<double, kModelFigures> model{};
  std::array<double, kGpuFigures> gpu{};
  double log_ms = kNaN;  ///< ln of the measured time [ms]

  /// Nothing if the job has no graph, or too little is known of the GPU type.
  static std::optional<StepRow> of(const PredictorJob& job);
};

class StepTimeProcess {
 public:
  static constexpr std::size_t kKernels = 13;

  /// `inference`: priors of the coefficients are a third, because there is no backward pass.
  static StepTimeProcess fit(std::vector<StepRow> rows, bool inference,
                             const PredictorOptions& options);
  /// Without rows: coefficients as fitted to public measurements (predictors/catalog.hpp), variances as before a fit.
  static StepTimeProcess built_in(bool inference);
  /// The same with more rows; coefficients and variances stay.
  StepTimeProcess with(std::span<const StepRow> more) const;

  Prediction predict(const StepRow& row) const;

  nlohmann::json save() const;
  /// `state`: from save(). std::invalid_argument if it is not a possible state.
  static StepTimeProcess load(const nlohmann::json& state);

 private:
  using Coefficients = std::array<double, StepRow::kTerms>;

  double physics(const StepRow& row) const;  ///< ln ms
  std::array<double, 3> shares(const StepRow& row) const;
  std::array<double, kKernels> kernels(const StepRow& a, const std::array<double, 3>& shares_a,
                                       const StepRow& b,
                                       const std::array<double, 3>& shares_b) const;
  void fit_coefficients(const Coefficients& prior, const PhysicsConstants& constants);
  void fit_variances(const PhysicsConstants& constants);
  /// Intervals from errors on rows, models, families, GPU types and architectures left out.
  void fit_spread(const Coefficients& prior, const PredictorOptions& options);
  Eigen::MatrixXd covariance() const;
  void solve();

  std::vector<StepRow> rows_;
  Coefficients log_coefficients_{};
  std::array<double, kKernels + 1> variances_{};  ///< the noise last
  bool libraries_ = false;                        ///< versions of cuDNN are known
  ErrorSpread spread_;                            ///< in standard deviations of the posterior
  // What solve() sets.
  SeenGroups seen_;
  std::vector<std::array<double, 3>> shares_;
  std::optional<Eigen::LLT<Eigen::MatrixXd>> factor_;  ///< none without rows
  Eigen::VectorXd weights_;
};

}  // namespace corun::inline predictors
