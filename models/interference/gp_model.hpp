#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "models/formulas/gp_batch.hpp"
#include "models/interference/gp/co_runner_order.hpp"
#include "models/interference/gp/covariance.hpp"
#include "models/interference/gp/evidence.hpp"
#include "models/interference/gp/posterior.hpp"
#include "models/interference/gp/precision.hpp"
#include "models/interference/gp/state.hpp"
#include "models/interference/interference_model.hpp"
#include "sim/speed_table.hpp"

/// Gaussian process over directed pairs of jobs, with a physical mean; exact; learns online.
///
/// For job i beside job j, t_ij = -log(speed), standardised over the fitted rows, is
///
///   t_ij = constant + effect of i as the slowed job + effect of j as the co-runner
///        + product effect of (i, j) + pressures(i, j) . w + noise        all Gaussian, with covariance
///
///   K[(i,j),(k,l)] = c + (a1 A_ik + a2 [i = k]) + (b1 B_jl + b2 [j = l])
///                  + p (A_ik + r1 [i = k]) (B_jl + r2 [j = l])
///                  + w2 phi_ij . phi_kl + noise [same row]
///
/// A and B are kernels over the features of jobs, A as slowed jobs and B as co-runners:
/// A_ik = exp(-sum_f ((x_if - x_kf) / l_f)^2 / 2) with a length for every feature (automatic relevance
/// determination), B likewise with other lengths. x: gp/features.hpp. [i = k]: both have the same workload,
/// by its opaque key, so that a job measured before has effects beyond its features.
///
/// The physical mean: if the table has the features gpu_util_pct (u), mem_time_pct (t) and mem_alloc_pct (m),
/// the mean is linear in the pressures of contention.hpp and in max(0, u_i + u_j - 1), all standardised.
/// Their weights w have a Gaussian prior of variance w2 and are integrated out, which gives a linear kernel.
/// A missing feature counts as 0; a pressure that is constant over the rows is left out.
///
/// The variances, r1, r2 and the lengths maximise the marginal likelihood times wide log-normal priors, which
/// matter if there are few rows (MAP-II; Rasmussen and Williams, "Gaussian Processes for Machine Learning",
/// 2006, section 5.4.1), by L-BFGS with analytic gradients, on at most kHyperRows directed rows, drawn by the
/// seed; a step takes time in proportion to their cube, so most steps are on kFirstRows. The effort of a fit scales these rows, the iterations and the jobs of the calibration, not the rows that the
/// posterior takes in.
///
/// The predicted speed is exp(-mean of t), the median. Intervals are those of the posterior times a factor
/// (gp/calibration.hpp), because the posterior of one set of parameters is too narrow far from the data.
///
/// learn() extends the inverse Cholesky factor and the inverse in O(rows^2): a millisecond per co-run at 1000
/// rows. Parameters, standardisation and factors stay as fitted. A prediction
/// (models/formulas/gp_formula.hpp) takes O(rows^2) per slowed job, then O(co-runners^2) per pair, where the
/// co-runners are those of the rows. A fit of 1000 rows takes a third of a second (bench/performance.md).
///
/// Known error: MAE of ISD in percentage points, of held-out pairs, unseen jobs and unseen families: 4.5, 7.0 and 8.3 on
/// Lucid's table, 6.5, 15.3 and 26.5 on Gavel's P100; of the papers' pairs and unseen jobs 9.0 and 9.8. For unseen
/// families the 90 % intervals missed 11 to 21 % of the co-runs of four public tables
/// (experiments/interference/accuracy.md). The settings were chosen on those tables, so expect slightly worse results
/// on others.
namespace corun::inline models {

class GpModel final : public InterferenceModel {
 public:
  static constexpr std::size_t kMostFeatures = gp::kMostFeatures;
  /// The most directed rows that parameters are fitted on.
  static constexpr std::size_t kHyperRows = 800;
  /// Of more rows than kFirstRows, parameters are fitted on as many first, then from there on kHyperRows, with at most
  /// kLastIterations steps.
  static constexpr std::size_t kFirstRows = 300;
  static constexpr int kLastIterations = 8;
  /// The most directed rows that a fit takes in; of more, it draws as many by the seed. learn() adds rows up
  /// to kMostHeld.
  static constexpr std::size_t kMostFitted = 2000;
  static constexpr std::size_t kMostHeld = gp::kMostHeld;

  /// The model learns from jobs of kUnknownWorkload but cannot find them again. std::invalid_argument: no
  /// measured speed; a speed not above 0 or not finite; a row of a missing job; a workload listed twice; a
  /// feature infinite, beyond 1e100 or, on a log scale, not above 0; more than kMostFeatures features.
  static GpModel fit(const SpeedTable& table, const FitOptions& options = {});
  /// A fit to a part of a table from the parameters() of a fit to all of it: kLastIterations steps on kFirstRows rows.
  static GpModel fit_from(const std::vector<double>& start, const SpeedTable& table,
                          const FitOptions& options);
  /// `state`: from save(). std::invalid_argument if sizes do not fit each other or a number is out of range.
  static GpModel load(const nlohmann::json& state, std::vector<SpeedTable::Feature> features,
                      std::vector<WorkloadKey> workloads);

  std::unique_ptr<InterferenceModel> clone() const override;
  const std::vector<SpeedTable::Feature>& features() const override {
    return state_.data.features.given;
  }
  const std::vector<WorkloadKey>& workloads() const override { return state_.data.keys; }
  using InterferenceModel::predict;
  std::vector<SpeedPrediction> predict(std::span<const PairJob> jobs,
                                       std::span<const PairQuery> pairs) const override;
  /// The model and these jobs for the formula; valid while the model is unchanged. describe() must then fill
  /// in the arrays of the jobs. std::invalid_argument as predict().
  GpBatch batch(std::span<const PairJob> jobs) const;
  std::shared_ptr<PairFormula> formula(std::span<const PairJob> kinds,
                                       std::span<const std::uint32_t> kind_of) const override;
  double residual_sigma() const override { return state_.calibration.residual_sigma; }
  bool learns() const override { return true; }
  /// Also for unseen jobs, which are known from then on. It has no effect once kMostHeld rows are held.
  /// std::invalid_argument as InterferenceModel::learn(); the model is then unchanged.
  void learn(const PairJob& a, const PairJob& b, double speed_a, double speed_b) override;
  nlohmann::json save() const override;

  std::size_t rows() const { return state_.data.rows.observations.size(); }

  using Parameter = gp::Parameter;
  using enum gp::Parameter;
  const std::vector<double>& parameters() const { return state_.parameters; }
  /// The number of parameters of a model with these features.
  static std::size_t parameter_count(const std::vector<SpeedTable::Feature>& features);

  struct Evidence {
    double value;
    std::vector<double> gradient;
  };
  /// The evidence of log-parameters on all rows of `table`. std::invalid_argument as fit(), and for another
  /// number of parameters.
  static Evidence evidence(const SpeedTable& table, std::span<const double> parameters);

 private:
  /// Without posterior_ and precision_.
  explicit GpModel(gp::State state);
  /// `calibrated`: the options of a fit, which calibrates; null: the state is calibrated.
  static GpModel of(gp::State state, const FitOptions* calibrated);
  void know(std::uint32_t job);
  void learn(std::uint32_t slowed, std::uint32_t co_runner, double speed);
  void describe_equation(gp::Model& formula) const;
  void describe_rows(GpBatch& out) const;
  void describe_jobs(std::span<const PairJob> jobs, GpBatch& out) const;

  gp::State state_;
  // These follow from the state.
  std::map<WorkloadKey, std::uint32_t> position_;
  gp::Posterior posterior_;
  gp::CoRunnerOrder order_;  ///< of the rows in predictions
  gp::Precision precision_;
};

}  // namespace corun::inline models
