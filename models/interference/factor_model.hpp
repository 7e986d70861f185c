#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <vector>

#include "models/interference/factors/options.hpp"
#include "models/interference/factors/state.hpp"
#include "models/interference/interference_model.hpp"

/// Low-rank completion of the table of co-run speeds, with the features of the jobs as prior knowledge. It
/// predicts a seen job from its co-runs with other jobs and an unseen job from its features, by one
/// posterior.
///
/// For job i beside job j, t_ij = -log(speed), standardised over the table, is
///
///   r_ij = a_i + b_j + u_i . v_j + e_ij        a: susceptibility, b: load, u.v: interaction
///   e_ij ~ Student t, `freedom` degrees, scale 1/sqrt(tau)
///   w_i = (a_i, u_i, b_i, v_i) ~ N(phi_i' beta, inv(Lambda)), full Lambda, d = 2 rank + 2
///
/// phi_i are the features of job i with kernel features (factors/basis.hpp), so that phi_i' beta is a linear
/// model plus a Gaussian process of low rank. The variance of the process that the low rank leaves at an
/// unseen job, which grows with the distance from the seen jobs, is added to the variance of that job's
/// factors, as in FITC (Snelson and Ghahramani, NIPS 2005); otherwise the model would be most certain where
/// it knows least. beta has a Gaussian prior of inferred strength, Lambda a Wishart prior of scale `spread`.
/// The deviation that standardises t has a prior of 0.3 at the weight of two speeds (moments.hpp).
///
/// Fitted by Gibbs sampling (Bayesian probabilistic matrix factorisation: Salakhutdinov and Mnih, ICML 2008;
/// side information: Simm et al., Macau, 2017; gibbs_chain.hpp). There are two kinds of chain. The first has
/// a small `spread` and keeps jobs close to their features; it makes the prediction exp(-mean of t), the
/// median speed. It is too certain about unseen jobs, so a second kind lets jobs differ more, and the
/// deviation is that of the samples of both kinds around the prediction, noise included. With few rows a
/// single chain stays in one of several modes, so there are several chains of the first kind
/// (`chains_per_kind`).
///
/// Range: features are cut at ten deviations from the mean of the fitted jobs. Known error: MAE of ISD in percentage
/// points, of held-out pairs, unseen jobs and unseen families: 4.1, 6.8 and 8.7 on Lucid's table, 5.3, 14.2 and 27.1 on
/// Gavel's P100; of the papers' pairs and unseen jobs 8.2 and 9.1. Of unseen families' co-runs the 90 % intervals hold
/// 77 to 89 % (experiments/interference/accuracy.md, which has more tables).
///
/// The result has the same bytes at any number of threads. Cost: rows x rank^2 x sweeps x chains; less than a second
/// for any number of rows up to 1000. The effort of a fit scales sweeps, burn-in and chains.
namespace corun::inline models {

class FactorModel final : public InterferenceModel {
 public:
  static constexpr std::size_t kMostFeatures = factors::kMostFeatures;
  static constexpr int kMostRank = factors::kMostRank;

  /// The model learns from jobs of kUnknownWorkload but cannot find them again. std::invalid_argument: no
  /// measured speed; a speed not above 0 or not finite; a row of a missing job; a workload listed twice; a
  /// feature infinite, beyond 1e100 or, on a log scale, not above 0; more than kMostFeatures features;
  /// options out of bounds.
  static FactorModel fit(const SpeedTable& table, const FactorOptions& options = {});
  /// The same with the default options but the seed, the threads and the effort.
  static FactorModel fit(const SpeedTable& table, const FitOptions& options);
  /// `saved`: from save(). std::invalid_argument if it is not a possible state.
  static FactorModel load(const nlohmann::json& saved, std::vector<SpeedTable::Feature> features,
                          std::vector<WorkloadKey> workloads);

  using InterferenceModel::predict;
  /// A pair of two jobs of one workload is a job beside a copy of itself. The work per job is done once.
  std::vector<SpeedPrediction> predict(std::span<const PairJob> jobs,
                                       std::span<const PairQuery> pairs) const override;
  /// The speeds in one sample of the predicting chains, with drawn deviations for unseen jobs.
  std::vector<double> sample(std::span<const PairJob> jobs, std::span<const PairQuery> pairs,
                             std::uint64_t draw) const override;

  std::unique_ptr<InterferenceModel> clone() const override {
    return std::make_unique<FactorModel>(*this);
  }
  const std::vector<SpeedTable::Feature>& features() const override { return state_.features; }
  const std::vector<WorkloadKey>& workloads() const override { return state_.keys; }
  double residual_sigma() const override { return state_.residual_sigma; }
  nlohmann::json save() const override;

  bool knows(WorkloadKey workload) const { return position_.contains(workload); }
  std::size_t jobs() const { return state_.keys.size(); }

  using Sample = FactorSample;
  using State = FactorState;
  const State& state() const { return state_; }
  /// std::invalid_argument if sizes do not fit each other or a number is out of range.
  static FactorModel from(State state);

 private:
  explicit FactorModel(State state);
  struct Resolved;
  Resolved resolve(const PairJob& job) const;
  SpeedPrediction combine(const Resolved& of, const Resolved& beside, bool same_job) const;
  void index();
  void draw_deviations();

  State state_;
  std::map<WorkloadKey, std::size_t> position_;
  std::size_t factors_ = 0;  ///< length of (a, u, b, v) of one job over all samples
  /// One draw per sample of the deviation of an unseen job's factors from their expectation: [0] for the
  /// slowed job, [1] for its co-runner.
  std::array<std::vector<double>, 2> deviations_;
  std::vector<double> affinity_;  ///< by sample: trace of cov(u, v), for a job beside its copy
};

}  // namespace corun::inline models
