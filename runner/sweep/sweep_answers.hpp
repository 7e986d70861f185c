#pragma once

#include <cstddef>
#include <limits>
#include <span>
#include <string>
#include <vector>

#include "runner/sweep/sweep_results.hpp"
#include "sim/base/nan.hpp"
#include "support/statistics/mean_interval.hpp"
#include "support/statistics/metric_choice.hpp"

/// Answers from a sweep (docs/sweeps.md): the best configuration, the best policy, the main effects
/// of keys, the Pareto front, significant differences. All are paired by replication: replication r has the same
/// arrivals, true costs and noise for all policies of a point, and resamples draw it for all points
/// together.
namespace corun::inline runner {

/// A difference is significant if its adjusted p-value is below this.
inline constexpr double kSignificant = 0.05;

inline constexpr std::size_t kNoPoint = std::numeric_limits<std::size_t>::max();

/// A configuration: the values of the keys that are choices, with one policy. Its values are means over the scenarios,
/// equally weighted.
struct ConfigurationAnswer {
  std::size_t point =
      0;  ///< its number in the sweep; the first of its points, one in each scenario
  std::size_t policy = 0;    ///< index into SweepAnswers::policies
  Interval mean;             ///< over replications
  Interval minus_best = {};  ///< paired by replication; NaN for the best
  double p = kNaN;           ///< paired t-test against the best; NaN for the best
  double p_holm = kNaN;      ///< Holm's correction over all configurations and requested metrics

  bool significant() const { return p_holm < kSignificant; }
};

/// The configurations by one metric, the best first. ISD omits those that never share a GPU.
struct RankingAnswer {
  Metric metric;
  std::vector<ConfigurationAnswer> ranked;
};

/// The rankings at the points of one scenario: with equal values of the keys that are scenarios
/// (SweepPlan::is_scenario()). Holm's correction is over the configurations and metrics of the scenario.
struct ScenarioAnswer {
  std::size_t point = 0;                ///< the first of its points
  std::vector<RankingAnswer> rankings;  ///< by metric
};

/// The best policy by the mean over all points, equally weighted.
struct BestAnswer {
  Metric metric;
  std::size_t best;                    ///< index into SweepAnswers::policies
  std::vector<Interval> means;         ///< by policy
  std::vector<std::size_t> undecided;  ///< interval of the difference to the best contains 0
  std::vector<std::size_t> best_at;    ///< by policy: number of points at which it is best
  std::vector<std::size_t>
      candidates;  ///< policies that may be best: for ISD only those that share GPUs
};

/// The main effect of a swept key, or of the policy, on a metric.
struct EffectAnswer {
  struct Level {
    std::string text;
    double position = 0;  ///< the value, or the middle of its range; NaN if not a number
    double mean = 0;      ///< of the metric over the cells (point, policy) of this level
    std::size_t cells = 0;
  };

  Metric metric;
  std::string factor;  ///< the key, or "policy"
  std::string policy;  ///< label: within this policy; empty: over all policies
  double share = 0;    ///< between-level sum of squares over the total; NaN without variation
  std::vector<Level> levels;
  std::size_t least = 0;     ///< level with the least mean
  std::size_t most = 0;      ///< level with the greatest mean
  Interval difference = {};  ///< most - least, with the interval of these two levels
};

/// A Pareto-optimal combination of mean ISD and PS [fractions].
struct FrontAnswer {
  std::size_t point = kNoPoint;  ///< kNoPoint: means over all points
  std::size_t policy = 0;
  double isd = 0;
  double ps = 0;
  double stays = 0;  ///< share of bootstrap resamples with it on the front
};

/// The difference of two policies in one metric.
struct DifferenceAnswer {
  Metric metric;
  std::size_t better;  ///< by the mean over all points
  std::size_t worse;
  Interval difference;  ///< better - worse, paired by replication
  double p = 0;         ///< paired t-test over replications, two-sided; NaN for fewer than three
  double p_holm = 0;    ///< Holm's correction over all pairs and requested metrics
  std::size_t wins =
      0;  ///< points where `better` is better, after Holm's correction for all pairs and
          ///< points of the metric at 5 %
  std::size_t losses = 0;
};

struct SweepAnswers {
  std::vector<std::string> policies;  ///< policies of every point, without bounds such as oracle
  std::vector<std::string> left_out;  ///< "oracle (knows the true costs)", ...
  std::size_t points = 0;             ///< points in the file
  std::size_t replications = 0;       ///< replications that every point has
  std::vector<Metric> metrics;
  std::vector<RankingAnswer> rankings;    ///< of the configurations that every scenario has
  std::vector<ScenarioAnswer> scenarios;  ///< by the values of their keys; empty: there is one
  std::vector<BestAnswer> best;
  std::vector<EffectAnswer> effects;
  std::vector<FrontAnswer> policy_front;  ///< policies, by the mean over all points
  std::vector<FrontAnswer> front;         ///< (point, policy)
  /// Mean ISD and PS of each point and policy, in the order of points, for figures.
  std::vector<FrontAnswer> cells;
  std::vector<DifferenceAnswer> differences;
};

/// Answers for `metrics`. Throws InputError if the points have no policy in common.
SweepAnswers answer_sweep(const SweepResults& results, const std::vector<Metric>& metrics);

/// Holm's step-down correction (Scand. J. Stat. 6, 1979): p-values adjusted so that rejecting those
/// below 5 % keeps the chance of any false rejection below 5 %. NaN stays NaN and does not count.
std::vector<double> holm(const std::vector<double>& p);

/// Indices of the points that no other dominates (less `cost`, more `gain`), by rising cost.
std::vector<std::size_t> pareto_front(std::span<const double> cost, std::span<const double> gain);

}  // namespace corun::inline runner
