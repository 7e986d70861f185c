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

/// Low-rank completion of the table of co-run speeds, with the jobs' features as prior knowledge: the
/// model that predicts a pair from what either job did beside other co-runners, and a job never seen from
/// what it looks like alone. One posterior, no switch between the two.
///
/// For job i beside job j, t_ij = -log(speed), standardised over the table to r_ij:
///
///   r_ij = a_i + b_j + u_i . v_j + e_ij        a: how susceptible, b: how heavy, u.v: with whom
///   e_ij ~ Student t, `freedom` degrees, scale 1/sqrt(tau)
///   w_i = (a_i, u_i, b_i, v_i) ~ N(phi_i' beta, inv(Lambda)), full Lambda, d = 2 rank + 2
///
/// phi_i = (1, x_i, kernel features of the jobs seen): x_i are the features, those on a log scale as
/// logarithms and beside them the difference of every two of these (ratios of rates), standardised,
/// at most 10 deviations from the mean; the kernel is the sum of Gaussians of lengths 1 and 2 and of the
/// mean of Gaussians of one feature each, so that beta is a linear model plus a Gaussian process of low
/// rank. What the low rank leaves of the process's variance at a job never seen (all of it far from those
/// seen) is added to what that job may deviate by, as FITC does (Snelson and Ghahramani, NIPS 2005), or the
/// model would be surest of what it knows least. beta has a Gaussian prior whose strength is inferred,
/// Lambda a Wishart prior of scale `spread`. By what deviation t is standardised is, where there are
/// few rows, mostly a prior's (0.3, worth two speeds): two rows that agree do not promise a third.
///
/// Fitted by Gibbs sampling (Bayesian probabilistic matrix factorisation: Salakhutdinov and Mnih, ICML
/// 2008; side information: Simm et al., Macau, 2017; gibbs_chain.hpp). Two kinds of chain: one that holds
/// jobs close to what their features say (a small `spread`) makes the prediction, exp(-mean of t), the
/// median speed. It is too sure of jobs never seen, so the spread is that of both kinds' samples
/// around the prediction, noise included; the second lets jobs differ more. Where rows are few, a
/// single chain settles in one of several explanations (on the papers' 114 pairs it errs by half a
/// point of ISD more than eight), so there are several chains of the first kind (`chains_per_kind`).
///
/// How well it predicts: `corun model eval`, docs/models.md. Repeatable to the byte for any number of
/// threads: each chain has its own stream of draws. Cost: rows x rank^2 x sweeps x chains; about a
/// second at any number of rows up to 1000.
namespace corun {

class FactorModel final : public InterferenceModel {
 public:
  static constexpr std::size_t kMostFeatures = factors::kMostFeatures;
  static constexpr int kMostRank = factors::kMostRank;

  /// std::invalid_argument: no row with a speed, a speed not above 0 or not finite, a row of a job
  /// that is not there, a workload listed twice, features that are infinite, beyond 1e100 or, on a log
  /// scale, not above 0, more than kMostFeatures of them, options out of bounds. Jobs of
  /// kUnknownWorkload are learnt from, but never found again.
  static FactorModel fit(const SpeedTable& table, const FactorOptions& options = {});
  /// From save(); std::invalid_argument for anything that is not possible.
  static FactorModel load(const nlohmann::json& saved, std::vector<SpeedTable::Feature> features,
                          std::vector<WorkloadKey> workloads);

  using InterferenceModel::predict;
  /// The same workload twice is a job beside a copy of itself. What concerns a job alone is done once.
  std::vector<SpeedPrediction> predict(std::span<const PairJob> jobs,
                                       std::span<const PairQuery> pairs) const override;
  /// One sample of the chains that predict, with what jobs never seen may deviate by.
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
  /// std::invalid_argument when sizes do not fit each other or a number is not possible.
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
  std::size_t factors_ = 0;  ///< of one job, (a, u, b, v) of all samples
  /// What a job never seen may deviate by from what is expected of it, one draw for every sample;
  /// the second is for the job beside it.
  std::array<std::vector<double>, 2> deviations_;
  std::vector<double> affinity_;  ///< of a job to a copy of itself, by sample: trace of cov(u, v)
};

}  // namespace corun
