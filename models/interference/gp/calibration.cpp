#include "models/interference/gp/calibration.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numeric>
#include <vector>

#include <Eigen/Dense>

#include "models/interference/fits/effort.hpp"
#include "sim/base/half_width.hpp"
#include "sim/base/math.hpp"

namespace corun::inline models::gp {

namespace {

/// exp() of this and of its negative are normal numbers, also after multiplication with any deviation.
constexpr double kLargestExponent = 300;
/// A factor is averaged with 1 at the weight of this many scores.
constexpr double kPriorScores = 20;
/// At most this many jobs are left out, one after the other, to find factors. One kKinds-th of the jobs is a
/// family, which is left out together.
constexpr int kMostLeftOut = 26;
constexpr int kLeastLeftOut = 4;
constexpr std::size_t kKinds = 8;

struct Scores {
  std::vector<double> off;  ///< |error| in standard deviations, one entry per score
  double share = 0;         ///< sum of the shares of the prior variance that were left

  double size() const { return static_cast<double>(off.size()); }
  /// 90th percentile of `off` over that of a normal. Reorders `off`.
  double factor() {
    if (off.empty()) return 1;
    const auto at = off.begin() + std::llround(0.9 * (size() - 1));
    std::nth_element(off.begin(), at, off.end());
    return *at / kHalfWidth90;
  }
  void add(const Scores& others) {
    share += others.share;
    off.insert(off.end(), others.off.begin(), others.off.end());
  }
};

/// Scatter of the excesses around their predictions, as in excess_scatter().
class ExcessScatter {
 public:
  void add(double t, double expected) {
    const double bounded = std::clamp(expected, 0.0, kLargestExponent);
    const double weight = std::min(1.0, math::exp(-t));
    const double excess = weight * math::expm1(bounded);
    const double away = weight * math::expm1(t) - excess;
    error_ += away * away;
    level_ += excess * excess;
  }
  double sigma() const { return level_ > 0 ? std::sqrt(math::log1p(error_ / level_)) : 0; }

 private:
  double error_ = 0;
  double level_ = 0;
};

/// Rows that are left out together.
struct LeftOut {
  std::vector<std::size_t> rows;  ///< S, ascending
  Eigen::MatrixXd precision;      ///< P_SS, the lower triangle
  Eigen::VectorXd weights;        ///< (P y)_S
};

class Calibrator {
 public:
  Calibrator(const Rows& rows, const Moments& target, const Posterior& posterior,
             const Panels& precision)
      : rows_(rows), target_(target), posterior_(posterior), precision_(precision) {}

  Calibration run(double effort) const {
    Calibration out;
    Scores known = every_row(out.residual_sigma);
    Scores fresh, strange;
    double worst = 1;
    const std::size_t n = rows_.places.size();
    const auto most = static_cast<std::size_t>(steps_at(effort, kMostLeftOut, kLeastLeftOut));
    const std::size_t step = (n + most - 1) / most;
    const std::size_t kind = std::max<std::size_t>(2, (n + kKinds - 1) / kKinds);
    for (std::size_t j = 0; j < n; j += step) {
      leave_out(j, 1, fresh);
      Scores one;
      leave_out(j, kind, one);
      worst = std::max(worst, one.factor());
      strange.add(one);
    }
    double share = 0;  // shares must not fall
    out.factors[0] = held(known.factor(), known, share);
    out.factors[1] = held(fresh.factor(), fresh, share);
    out.factors[2] = held(worst, strange, share);
    return out;
  }

 private:
  /// Averages the factor with 1, at the weight of kPriorScores.
  static Calibration::Factor held(double factor, const Scores& scores, double& share) {
    if (scores.size() > 0) {
      factor = (factor * scores.size() + kPriorScores) / (scores.size() + kPriorScores);
      share = std::max(share, scores.share / scores.size());
    }
    return {share, std::clamp(factor, kLeastFactor, kLargestFactor)};
  }

  /// Adds the score of row `a`, whose prediction has the error `off` and the variance `variance`.
  void score(std::size_t a, double off, double variance, Scores& out) const {
    const Covariance& covariance = posterior_.covariance();
    out.off.push_back(std::fabs(off) / std::sqrt(variance));
    out.share +=
        std::clamp((variance - covariance.noise()) / covariance.prior(rows_.phi[a]), 0.0, 1.0);
  }

  /// The scores of each row when all other rows predict it.
  Scores every_row(double& residual_sigma) const {
    const std::size_t count = rows_.observations.size();
    Scores out;
    ExcessScatter scatter;
    for (std::size_t a = 0; a < count; ++a) {
      const double variance = 1 / precision_.at(a, a);
      const double off = posterior_.weights()[a] * variance;
      score(a, off, variance, out);
      const double t = target_.mean + target_.deviation * rows_.observations[a].target;
      scatter.add(t, t - target_.deviation * off);
    }
    residual_sigma = scatter.sigma();
    return out;
  }

  /// The `count` jobs closest to `job` by the product of both kernels, `job` itself first.
  std::vector<std::size_t> neighbours(std::size_t job, std::size_t count) const {
    const std::vector<Place>& places = rows_.places;
    const std::vector<double> slowed = posterior_.covariance().own(places[job], places);
    const std::vector<double> co_runner = posterior_.covariance().co_runner(places[job], places);
    std::vector<std::size_t> order(places.size());
    std::iota(order.begin(), order.end(), 0);
    std::swap(order.front(), order[job]);
    std::stable_sort(order.begin() + 1, order.end(), [&](std::size_t i, std::size_t j) {
      return slowed[i] * co_runner[i] > slowed[j] * co_runner[j];
    });
    order.resize(std::min(count, order.size()));
    return order;
  }

  /// All rows of `job` and of its neighbours, `jobs` jobs together.
  std::vector<std::size_t> rows_near(std::size_t job, std::size_t jobs) const {
    std::vector<bool> gone(rows_.places.size(), false);
    for (const std::size_t j : neighbours(job, jobs)) gone[j] = true;
    std::vector<std::size_t> out;
    for (std::size_t a = 0; a < rows_.observations.size(); ++a) {
      const Rows::Observation& o = rows_.observations[a];
      if (gone[o.own] || gone[o.co_runner]) out.push_back(a);
    }
    return out;
  }

  LeftOut block_of(std::vector<std::size_t> rows) const {
    const std::size_t size = rows.size();
    LeftOut out{
        std::move(rows),
        Eigen::MatrixXd::Zero(static_cast<Eigen::Index>(size), static_cast<Eigen::Index>(size)),
        Eigen::VectorXd(size)};
    for (std::size_t c = 0; c < size; ++c) {
      const auto column = static_cast<Eigen::Index>(c);
      out.weights[column] = posterior_.weights()[out.rows[c]];
      for (std::size_t r = c; r < size; ++r) {
        out.precision(static_cast<Eigen::Index>(r), column) =
            precision_.at(out.rows[r], out.rows[c]);
      }
    }
    return out;
  }

  /// Adds the scores of a job's co-runs when all co-runs of the job and of its neighbours, `jobs` jobs
  /// together, are left out.
  void leave_out(std::size_t job, std::size_t jobs, Scores& scores) const {
    std::vector<std::size_t> rows = rows_near(job, jobs);
    const std::size_t size = rows.size();
    if (size == 0 || size == rows_.observations.size()) return;
    const LeftOut left_out = block_of(std::move(rows));
    const Eigen::LLT<Eigen::MatrixXd> solver(left_out.precision);
    if (solver.info() != Eigen::Success) return;
    const Eigen::VectorXd off = solver.solve(left_out.weights);
    for (std::size_t s = 0; s < size; ++s) {
      const std::size_t row = left_out.rows[s];
      const Rows::Observation& o = rows_.observations[row];
      if (o.own != job && o.co_runner != job) continue;
      // Column s of inv(L) is 0 above the row s. Whole panels of Eigen's solver are left out there: the same sums.
      constexpr std::size_t kPanel = 8;
      const auto rest = static_cast<Eigen::Index>(size - s / kPanel * kPanel);
      Eigen::VectorXd unit = Eigen::VectorXd::Zero(static_cast<Eigen::Index>(size));
      unit[static_cast<Eigen::Index>(s)] = 1;
      const auto root = solver.matrixLLT().bottomRightCorner(rest, rest);
      auto column = unit.tail(rest);
      root.triangularView<Eigen::Lower>().solveInPlace(column);
      const double variance = unit.squaredNorm();
      score(row, off[static_cast<Eigen::Index>(s)], variance, scores);
    }
  }

  const Rows& rows_;
  const Moments& target_;
  const Posterior& posterior_;
  const Panels& precision_;
};

}  // namespace

Calibration calibrate(const Rows& rows, const Moments& target, const Posterior& posterior,
                      const Panels& precision, double effort) {
  return Calibrator(rows, target, posterior, precision).run(effort);
}

}  // namespace corun::inline models::gp
