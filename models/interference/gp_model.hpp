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

/// Gaussian process over directed pairs of jobs: grey box, exact, learns online.
///
/// For job i beside job j, t_ij = -log(speed), standardised over the fitted rows, is
///
///   t_ij = constant + own effect of i + co-runner effect of j + product effect of (i, j)
///        + pressures(i, j) . w + noise                         all Gaussian, of covariance
///
///   K[(i,j),(k,l)] = c + (a1 A_ik + a2 [i = k]) + (b1 B_jl + b2 [j = l])
///                  + p (A_ik + r1 [i = k]) (B_jl + r2 [j = l])
///                  + w2 phi_ij . phi_kl + noise [same row]
///
/// A and B are kernels over the jobs' features, of a job as the one that is slowed and as the one
/// that slows: A_ik = exp(-sum_f ((x_if - x_kf) / l_f)^2 / 2) with a length for every feature
/// (automatic relevance), B likewise with lengths of its own. x: the features, those on a log scale
/// as logarithms and beside them the difference of every two of these (ratios of rates),
/// standardised over the jobs, at most 10 deviations from the mean; NaN is the mean. [i = k]: the
/// same workload by its opaque key, so that a job measured before has effects of its own; a job
/// never seen goes by its features.
///
/// Grey box: where the table has the features gpu_util_pct (u), mem_time_pct (t) and mem_alloc_pct
/// (m), the mean is linear in what contention.hpp calls pressures, (1-m_i) u_i (1-m_j) u_j, t_i
/// u_j, max(0, 1 - u_i/0.10) u_j, max(0, t_i + t_j - 0.5), and in max(0, u_i + u_j - 1), all
/// standardised. Their weights have a Gaussian prior of variance w2 and are integrated out: a
/// linear kernel. What of u, t and m is not among the features counts as 0; a pressure that is the
/// same in all rows is left out.
///
/// The variances, r1, r2 and the lengths maximise the marginal likelihood times log-normal priors,
/// wide ones, which decide where there are few rows (MAP-II; Rasmussen and Williams, "Gaussian
/// Processes for Machine Learning", 2006, section 5.4.1), by L-BFGS with analytic gradients; on
/// kHyperRows directed rows at most, drawn by the seed.
///
/// Speed is exp(-mean of t): the median. Intervals are the posterior's times a factor that depends
/// on the share of the prior variance that is left. It is found by leaving out, in closed form,
/// every co-run, every job with all its co-runs, and some jobs with those most like them (an eighth
/// of all): a posterior of one set of parameters is too sure of what is far away.
///
/// learn() appends to the inverse of the Cholesky root and to the inverse, O(rows^2): a millisecond for a
/// co-run at 1000 rows; parameters, standardisation and factors stay as fitted. Predictions
/// (models/formulas/gp_formula.hpp): O(rows^2) for every job that is slowed, then O(co-runners^2) for a
/// pair, with as many co-runners as jobs are in the rows. A fit takes three seconds for 1000 rows
/// (docs/performance.md).
///
/// Where it fails: families of jobs whose like was never measured. Intervals there missed 11 to 22 %
/// of the co-runs of four public tables. Settings were chosen looking at those tables: expect a
/// little less on others.
namespace corun {

class GpModel final : public InterferenceModel {
 public:
  static constexpr std::size_t kMostFeatures = gp::kMostFeatures;
  /// Directed rows that hyper-parameters are found on.
  static constexpr std::size_t kHyperRows = 800;
  /// Directed rows a fit takes in (of more, that many are drawn by the seed), and learn() up to.
  static constexpr std::size_t kMostFitted = 2000;
  static constexpr std::size_t kMostHeld = gp::kMostHeld;

  /// std::invalid_argument: no row with a speed, a speed not above 0 or not finite, a row of a job
  /// that is not there, a workload listed twice, features that are infinite, beyond 1e100 or, on a
  /// log scale, not above 0, more than kMostFeatures of them. Jobs of kUnknownWorkload are learnt
  /// from, but never found again.
  static GpModel fit(const SpeedTable& table, const FitOptions& options = {});
  /// What save() gave. std::invalid_argument: sizes do not fit each other, or a number is not
  /// possible.
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
  /// The model and these jobs as the formula wants them, for as long as the model stays as it is.
  /// std::invalid_argument as predict().
  GpBatch batch(std::span<const PairJob> jobs) const;
  std::shared_ptr<PairFormula> formula(std::span<const PairJob> kinds,
                                       std::span<const std::uint32_t> kind_of) const override;
  double residual_sigma() const override { return state_.calibration.residual_sigma; }
  /// Also of jobs never seen, which are known from then on. False: kMostHeld rows are held.
  bool learns() const override { return true; }
  void learn(const PairJob& a, const PairJob& b, double speed_a, double speed_b) override;
  nlohmann::json save() const override;

  std::size_t rows() const { return state_.data.rows.observations.size(); }

  using Parameter = gp::Parameter;
  using enum gp::Parameter;
  const std::vector<double>& parameters() const { return state_.parameters; }
  /// How many parameters a model of these features has.
  static std::size_t parameter_count(const std::vector<SpeedTable::Feature>& features);

  using Evidence = gp::Evidence;
  /// Of the rows of `table`, all of them, at the parameters given. std::invalid_argument as for
  /// fit().
  static Evidence evidence(const SpeedTable& table, std::span<const double> parameters);

 private:
  explicit GpModel(gp::State state);
  void know(std::uint32_t job);
  void learn(std::uint32_t slowed, std::uint32_t co_runner, double speed);
  void describe_equation(gp::Model& formula) const;
  void describe_rows(GpBatch& out) const;
  void describe_jobs(std::span<const PairJob> jobs, GpBatch& out) const;

  gp::State state_;
  // What follows from it.
  std::map<WorkloadKey, std::uint32_t> position_;
  gp::Posterior posterior_;
  gp::CoRunnerOrder order_;  ///< of predictions
  gp::Precision precision_;
};

}  // namespace corun
