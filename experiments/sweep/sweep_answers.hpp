#pragma once

#include <cstddef>
#include <limits>
#include <span>
#include <string>
#include <vector>

#include "experiments/statistics/bootstrap.hpp"
#include "experiments/sweep/sweep_results.hpp"

/// What one asks of a sweep (docs/sweeps.md): which policy is best, what matters, which compromises
/// are left, which differences are significant. Everything is paired by replication: number r
/// means the same arrivals, true costs and noise for all policies of a point, and is drawn together
/// for all points.
namespace corun {

/// A metric that has a better and a worse.
struct JudgedMetric {
  Metric metric;
  bool smaller_is_better;
  bool percent;  ///< a fraction that people read in %
};

std::span<const JudgedMetric> judged_metrics();
const JudgedMetric& judged(Metric metric);

/// A difference is significant where p, adjusted, is below this.
inline constexpr double kSignificant = 0.05;

inline constexpr std::size_t kNoPoint = std::numeric_limits<std::size_t>::max();

/// Which policy is best, in the mean over all points (each counts the same).
struct BestAnswer {
  Metric metric;
  std::size_t best;                     ///< of SweepAnswers::policies
  std::vector<Interval> means;          ///< by policy
  std::vector<std::size_t> undecided;   ///< the interval of their difference to the best holds 0
  std::vector<std::size_t> best_at;     ///< by policy: at how many points it is best
  std::vector<std::size_t> candidates;  ///< policies that could be best at all
};

/// How much a swept key, or the choice of policy, moves a metric: its main effect.
struct EffectAnswer {
  struct Level {
    std::string text;
    double position = 0;  ///< the value, or the middle of its range; NaN where it is no number
    double mean = 0;      ///< of the metric over the cells (point, policy) of this level
    std::size_t cells = 0;
  };

  Metric metric;
  std::string factor;  ///< the key, or "policy"
  std::string policy;  ///< label: within this policy alone; empty: over all
  double share = 0;    ///< between-level sum of squares over the total; NaN where nothing varies
  std::vector<Level> levels;
  std::size_t least = 0;     ///< level with the least mean
  std::size_t most = 0;      ///< and with the most
  Interval difference = {};  ///< most - least, with the bootstrap interval of these two levels
};

/// A compromise between ISD and PS that no other beats in both.
struct FrontAnswer {
  std::size_t point = kNoPoint;  ///< kNoPoint: means over all points
  std::size_t policy = 0;
  double isd = 0;
  double ps = 0;
  double stays = 0;  ///< share of bootstrap resamples in which it is on the front, too
};

/// Two policies, one metric: is the difference significant?
struct DifferenceAnswer {
  Metric metric;
  std::size_t better;  ///< by the mean over all points
  std::size_t worse;
  Interval difference;  ///< better - worse, paired by replication
  double p = 0;         ///< paired t-test over replications, two-sided; NaN below two replications
  double p_holm = 0;    ///< after Holm's correction for all pairs and metrics asked for
  std::size_t wins =
      0;  ///< points where `better` is better, after Holm's correction for all pairs and
          ///< points of the metric at 5 %
  std::size_t losses = 0;
};

struct SweepAnswers {
  std::vector<std::string> policies;  ///< those that every point has, bounds left out
  std::vector<std::string> left_out;  ///< "oracle (knows the true costs)", ...
  std::size_t points = 0;             ///< that the file holds
  std::size_t replications = 0;       ///< that every point has
  std::vector<Metric> metrics;
  std::vector<BestAnswer> best;
  std::vector<EffectAnswer> effects;
  std::vector<FrontAnswer> policy_front;  ///< policies, in the mean over all points
  std::vector<FrontAnswer> front;         ///< (point, policy)
  /// Of each point and policy, in the order of points: mean ISD and PS, for pictures.
  std::vector<FrontAnswer> cells;
  std::vector<DifferenceAnswer> differences;
};

/// Throws InputError where the points have no policy in common.
SweepAnswers answer_sweep(const SweepResults& results, const std::vector<Metric>& metrics);

/// Holm's step-down correction (Scand. J. Stat. 6, 1979): p-values adjusted so that rejecting those
/// below 5 % keeps the chance of any false rejection below 5 %. NaN stays NaN and does not count.
std::vector<double> holm(const std::vector<double>& p);

/// Two-sided p-value of a paired t-test: is the mean of these differences 0? NaN for fewer than
/// two.
double paired_t_test(std::span<const double> differences);

/// Indices of those that no other beats in both (less of `cost`, more of `gain`), by rising cost.
std::vector<std::size_t> pareto_front(std::span<const double> cost, std::span<const double> gain);

}  // namespace corun
