#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include <Eigen/Dense>

#include "models/interference/factor_model.hpp"
#include "models/interference/factors/axes.hpp"
#include "models/interference/factors/job_regressions.hpp"
#include "sim/rng.hpp"

/// The Gibbs sampler of a FactorModel (factor_model.hpp has the model and its source). Priors:
/// Lambda ~ Wishart(d + 2, S) with inv(S) = spread (d + 2) / 2 I; beta ~ matrix normal, mean 0, rows inv(L),
/// columns inv(Lambda), with L = diag(0.1, strength, ..., strength) for features less their means over the jobs;
/// strength ~ Gamma(0.5, rate 0.5); tau ~ Gamma(1, rate 0.05). The chain draws the coefficients of the principal axes of
/// the jobs' features (factors/axes.hpp), which are independent given the factors of the jobs. A sample draws those of the
/// directions without an axis from their prior.
///
/// Internal to the model. The parameters are public so that a test can compare the sampler with its priors.
namespace corun::inline models {

class GibbsChain {
 public:
  struct Observation {
    Eigen::Index of, beside;  ///< the jobs' rows: the slowed job and its co-runner
    double target;            ///< r
    /// For the Student t as a mixture of normals: e ~ N(0, 1 / (tau weight)), weight ~ Gamma(freedom / 2,
    /// rate freedom / 2).
    double weight = 1;
  };
  /// The parameters that are drawn.
  struct Parameters {
    Eigen::MatrixXd own;        ///< (a_i, u_i), jobs x (rank + 1)
    Eigen::MatrixXd co_runner;  ///< (b_i, v_i), likewise
    Eigen::MatrixXd beta;       ///< of the axes, axes x d
    Eigen::MatrixXd precision;  ///< Lambda
    double tau = 10;
    double strength = 1;
  };

  /// `axes`: of the basis with a row phi_i for every job; they and `options` must outlive the chain. `number`,
  /// different for each chain, selects its random stream.
  GibbsChain(const factors::Axes& axes, std::vector<Observation> observations,
             const FactorChain& chain, const FactorOptions& options, std::uint64_t number);

  /// Runs the sweeps of the options; after the burn-in, one of `every` gives a sample. std::logic_error if a
  /// matrix is not positive definite.
  std::vector<FactorModel::Sample> run(int every);
  /// Draws every parameter and weight once, given all others.
  void sweep();

  /// a + b + u . v.
  double fitted(const Observation& o) const;

  Parameters parameters;
  std::vector<Observation> observations;

 private:
  void draw_factors(const Eigen::MatrixXd& prior, bool slowed);
  void draw_noise();
  void draw_prior();
  Eigen::MatrixXd from_precision(const Eigen::MatrixXd& normals) const;
  FactorModel::Sample sample();

  const factors::Axes& axes_;
  Eigen::MatrixXd transposed_scores_;
  const FactorOptions& options_;
  double spread_;
  Rng rng_;
  Eigen::Index jobs_, k_, d_;
  factors::JobRegressions regressions_;
  std::vector<std::vector<std::size_t>> by_slowed_, by_co_runner_;
};

/// Wishart(freedom, inv(inverse_scale)) by Bartlett's decomposition; `inverse_scale` positive definite.
Eigen::MatrixXd draw_wishart(Rng& rng, double freedom, const Eigen::MatrixXd& inverse_scale);

}  // namespace corun::inline models
