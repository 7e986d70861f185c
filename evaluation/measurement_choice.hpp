#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

/// Which pairs of jobs to measure next, so that jobs paired by what is then known cost least. No files, no
/// model: the input is draws from what a model believes (pair_draws.hpp).
///
/// The cost c_p of pair p is any number that sums over pairs, here the sum of both ISDs [fraction]. The
/// scheduler takes the matching of least expected cost,
///
///   M(m) = argmin over perfect matchings M of sum over p in M of m_p,    m: expected costs.
///
/// Its expected regret is E[c(M(m)) - min_M c(M)]. Measurements S move the expectation from m to m_S, and lower
/// the regret by their value of information
///
///   V(S) = E[m_S(M(m))] - E[m_S(M(m_S))] >= 0.
///
/// Measurements are chosen one after the other, each the p of largest V(S + p) - V(S): the knowledge gradient
/// for correlated beliefs (Frazier, Powell and Dayanik, SIAM J. Control Optim. 47(5), 2008, and INFORMS J.
/// Comput. 21(4), 2009), in a batch, as no outcome is known before all are chosen.
///
/// The belief is taken as jointly normal, with the covariance of the draws. A measurement of p shows two
/// numbers y, one per direction, each with noise of variance r. One after the other they change the belief as
///
///   g = cov(c, y) / sqrt(var y + r),   m += g z with z ~ Normal(0, 1),   cov(c) -= g g'.
///
/// The draws follow by the square-root filter of Potter, which ensemble Kalman filters use (Whitaker and Hamill,
/// Mon. Weather Rev. 130, 2002): x -= a k h with h = y - mean y, k = cov(x, y) / (var y + r) and
/// a = 1 / (1 + sqrt(r / (var y + r))). So a measurement of one pair also tells of those that the model relates
/// to it. E over m_S is a mean over `scenarios` of z, the same for all candidates, in pairs z and -z.
///
/// V(S) is by exact matchings. V(S + p) is by exchanges from them, whichever saves more: two pairs of the matching
/// exchange their jobs, where disjoint exchanges add up, the largest first; or three pairs do such that p joins or
/// leaves the matching.
///
/// Cost of a step: draws x pairs x candidates for the covariances and scenarios x candidates x (pairs + jobs^2)
/// for the exchanges, one matching per scenario.
///
/// Draws of unrelated numbers correlate by chance, with a squared correlation of 1 / draws on average. Covariances
/// are shrunk for that: by the factor max(0, 1 - 2 / (draws r^2)), r the correlation, as in a positive-part James-Stein
/// estimate.
///
/// Known error: costs are not normal but skewed; exchanges of more pairs at once do not count.
namespace corun::inline evaluation {

struct MeasurementProblem {
  /// Two kinds of jobs that may share a GPU.
  struct Pair {
    std::uint32_t a = 0;  ///< positions of kinds, a <= b; equal: a job beside a copy of itself
    std::uint32_t b = 0;
    bool may_be_measured = true;
  };
  std::vector<std::uint32_t> kinds;  ///< of each job to be paired; jobs of one kind are copies
  std::vector<Pair> pairs;           ///< each once; jobs of other pairs may not share a GPU
  std::size_t draws = 0;             ///< at least 2
  std::vector<double> cost;          ///< draws x pairs
  std::vector<double> shown;  ///< draws x pairs x 2: what a measurement shows, without its noise
  std::vector<double> noise;  ///< pairs x 2: variance of that noise
};

struct MeasurementOptions {
  std::uint64_t seed = 1;       ///< of the scenarios
  unsigned threads = 1;         ///< changes speed only
  std::size_t scenarios = 128;  ///< an even number
  std::size_t candidates =
      200;  ///< pairs that are looked at: those that best pairings of draws dispute most
};

/// A pair to measure. Regrets are per job: the sum over pairs, by the number of jobs.
struct ChosenMeasurement {
  std::size_t pair = 0;
  double cost = 0;           ///< expected before any measurement
  double sd = 0;             ///< of the cost, before any measurement
  double in_best = 0;        ///< share of draws whose best pairing has the pair
  double regret_before = 0;  ///< expected, after the measurements chosen before
  double regret_after = 0;   ///< and after this one
};

struct MeasurementPlan {
  double regret = 0;  ///< expected without a measurement, per job
  std::vector<ChosenMeasurement> chosen;
};

/// At most `budget` pairs, the most valuable first: a smaller budget gives the beginning of the same list. Fewer
/// only if fewer may be measured. Pairs of equal value: the larger sd, then the earlier in `pairs`.
/// std::invalid_argument for sizes or positions that do not fit together.
MeasurementPlan choose_measurements(const MeasurementProblem& problem, std::size_t budget,
                                    const MeasurementOptions& options);

/// The matching of least summed cost: the position in `problem.kinds` of each job's co-runner, -1 for one that stays
/// alone. `cost`: one per pair.
std::vector<std::int32_t> cheapest_pairing(const MeasurementProblem& problem,
                                           const std::vector<double>& cost);

}  // namespace corun::inline evaluation
