#include "models/learners/regularised_regression.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <functional>
#include <limits>
#include <numeric>
#include <stdexcept>
#include <string>
#include <utility>

#include <Eigen/Cholesky>
#include <Eigen/Core>
#include <Eigen/Eigenvalues>

namespace corun::inline models {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

/// Tolerance of the optimality conditions of the lasso, as a share of the largest |z_j'y/n|.
constexpr double kMissedOptimality = 1e-9;
/// Sweeps of coordinate descent before the active set takes over, and how often they alternate.
constexpr int kDescentSweeps = 50;
constexpr int kRounds = 20;
/// An eigenvalue of a correlation matrix below this counts as zero: its attributes are linearly dependent.
constexpr double kDependent = 1e-11;

/// The data of both fits, divided by the number of rows: correlations of the attributes with each other and
/// covariances with the target. Their size does not depend on the number of rows.
struct NormalEquations {
  MatrixXd gram;    ///< Z'Z / n; the diagonal is 1, or 0 for a constant column
  VectorXd target;  ///< Z'y / n
};

double soft_threshold(double value, double by) {
  if (value > by) return value - by;
  if (value < -by) return value + by;
  return 0;
}

/// The largest violation of the optimality conditions. `slope`: Z'(y - Zw) / n.
double miss(const VectorXd& slope, const VectorXd& w, double penalty) {
  double worst = 0;
  for (Index j = 0; j < w.size(); ++j) {
    const double wanted = w[j] > 0 ? penalty : -penalty;
    const double m = w[j] != 0 ? std::abs(slope[j] - wanted) : std::abs(slope[j]) - penalty;
    worst = std::max(worst, m);
  }
  return worst;
}

/// Coordinate descent: sets each coefficient to its optimum given the others, and ends early once optimal. It
/// finds quickly which coefficients are zero, but converges slowly if attributes are nearly dependent.
void descend(const NormalEquations& m, double penalty, double tolerance, VectorXd& w) {
  VectorXd slope = m.target - m.gram * w;
  for (int sweep = 0; sweep < kDescentSweeps && miss(slope, w, penalty) > tolerance; ++sweep) {
    for (Index j = 0; j < w.size(); ++j) {
      const double scale = m.gram(j, j);
      if (scale <= 0) continue;
      const double next = soft_threshold(slope[j] + scale * w[j], penalty) / scale;
      if (next == w[j]) continue;
      slope -= m.gram.col(j) * (next - w[j]);
      w[j] = next;
    }
  }
}

/// The coefficients that may differ from zero, and the signs that they must keep.
struct ActiveSet {
  std::vector<Index> columns;
  VectorXd signs;  ///< +1 or -1 per entry of columns

  explicit ActiveSet(const VectorXd& w) {
    for (Index j = 0; j < w.size(); ++j) {
      if (w[j] != 0) add(j, w[j]);
    }
  }
  void add(Index column, double sign) {
    columns.push_back(column);
    signs.conservativeResize(signs.size() + 1);
    signs[signs.size() - 1] = sign > 0 ? 1 : -1;
  }
  void remove(Index entry) {
    columns.erase(columns.begin() + entry);
    const Index after = signs.size() - entry - 1;
    signs.segment(entry, after) = signs.tail(after).eval();
    signs.conservativeResize(signs.size() - 1);
  }
};

/// With fixed signs, the objective is quadratic. Moves `w` towards its minimum, but stops where the first
/// coefficient reaches zero and removes that coefficient from the set. If attributes of the set are linearly
/// dependent, one direction changes no prediction; the move then follows it downhill to the next zero.
/// Returns whether the minimum was reached.
bool step(const NormalEquations& m, double penalty, ActiveSet& active, VectorXd& w) {
  const std::vector<Index>& a = active.columns;
  if (a.empty()) return true;
  const MatrixXd gram = m.gram(a, a);
  const VectorXd from = w(a);
  const VectorXd downhill = m.target(a) - gram * from - penalty * active.signs;
  const Eigen::SelfAdjointEigenSolver<MatrixXd> eigen(gram);
  const bool dependent = eigen.eigenvalues()[0] < kDependent;
  VectorXd direction;
  if (dependent) {
    direction = eigen.eigenvectors().col(0);
    if (direction.dot(downhill) < 0) direction = -direction;
  } else {
    direction = gram.ldlt().solve(downhill);
  }
  double length = dependent ? std::numeric_limits<double>::infinity() : 1;
  Index first_zero = -1;
  for (Index i = 0; i < from.size(); ++i) {
    if (direction[i] * active.signs[i] >= 0) continue;
    const double here = std::max(0.0, -from[i] / direction[i]);
    if (here < length) {
      length = here;
      first_zero = i;
    }
  }
  if (first_zero < 0 && dependent) return true;  // reached only by rounding; the caller checks
  w(a) = from + length * direction;
  if (first_zero < 0) return true;
  w[a[static_cast<std::size_t>(first_zero)]] = 0;
  active.remove(first_zero);
  return false;
}

/// Adds and removes coefficients of the active set, one at a time, until all conditions hold. Every step
/// lowers the objective, so no set occurs twice.
void exchange(const NormalEquations& m, double penalty, double tolerance, VectorXd& w) {
  ActiveSet active(w);
  for (Index round = 0; round < 20 * w.size(); ++round) {
    if (!step(m, penalty, active, w)) continue;
    const VectorXd slope = m.target - m.gram * w;
    if (miss(slope, w, penalty) <= tolerance) return;
    Index worst = -1;
    double excess = tolerance;
    for (Index j = 0; j < w.size(); ++j) {
      if (std::ranges::find(active.columns, j) != active.columns.end()) continue;
      if (std::abs(slope[j]) - penalty > excess) {
        excess = std::abs(slope[j]) - penalty;
        worst = j;
      }
    }
    if (worst < 0) return;
    active.add(worst, slope[worst]);
  }
}

/// The lasso, from the start `w`, the solution for a neighbouring penalty.
VectorXd lasso(const NormalEquations& m, double penalty, VectorXd w) {
  const double tolerance = kMissedOptimality * m.target.cwiseAbs().maxCoeff();
  for (int round = 0; round < kRounds; ++round) {
    descend(m, penalty, tolerance, w);
    if (miss(m.target - m.gram * w, w, penalty) <= tolerance) return w;
    exchange(m, penalty, tolerance, w);
    if (miss(m.target - m.gram * w, w, penalty) <= tolerance) return w;
  }
  throw std::runtime_error("lasso: no convergence at penalty " + std::to_string(penalty));
}

}  // namespace

std::vector<double> LinearModel::predict(const MatrixView& predictors) const {
  const std::vector<double> z = standardiser.apply(predictors);
  std::vector<double> result(predictors.rows, intercept);
  for (std::size_t r = 0; r < predictors.rows; ++r) {
    for (std::size_t c = 0; c < predictors.columns; ++c) {
      result[r] += coefficients[c] * z[r * predictors.columns + c];
    }
  }
  return result;
}

std::vector<LinearModel> fit_path(Penalty kind, const MatrixView& predictors,
                                  std::span<const double> target,
                                  std::span<const double> penalties) {
  check_regression(predictors, target, "regression");
  for (const double p : penalties) {
    if (!(p > 0) || !std::isfinite(p)) {
      throw std::invalid_argument("regression: penalty " + std::to_string(p) +
                                  " is not a positive number");
    }
  }
  LinearModel model;
  model.standardiser = Standardiser::of(predictors);
  const auto n = static_cast<double>(target.size());
  model.intercept = std::accumulate(target.begin(), target.end(), 0.0) / n;

  const std::vector<double> standardised = model.standardiser.apply(predictors);
  using RowMajor = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
  const Eigen::Map<const RowMajor> z(standardised.data(), static_cast<Index>(predictors.rows),
                                     static_cast<Index>(predictors.columns));
  const Eigen::Map<const VectorXd> y(target.data(), static_cast<Index>(target.size()));
  const VectorXd centred = y.array() - model.intercept;
  const NormalEquations equations{z.transpose() * z / n, z.transpose() * centred / n};

  // By falling penalty: the first solution is near zero, and each solution is a start near the next.
  std::vector<std::size_t> order(penalties.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, std::greater<>(), [&](std::size_t i) { return penalties[i]; });
  std::vector<LinearModel> path(penalties.size(), model);
  VectorXd w = VectorXd::Zero(z.cols());
  for (const std::size_t i : order) {
    if (kind == Penalty::kRidge) {
      MatrixXd left = equations.gram;
      left.diagonal().array() += penalties[i] / n;
      w = left.ldlt().solve(equations.target);
    } else {
      w = lasso(equations, penalties[i], std::move(w));
    }
    path[i].coefficients.assign(w.begin(), w.end());
  }
  return path;
}

LinearModel fit_linear(Penalty kind, const MatrixView& predictors, std::span<const double> target,
                       double penalty) {
  return fit_path(kind, predictors, target, std::span(&penalty, 1)).front();
}

PenaltyChoice choose_penalty(Penalty kind, const MatrixView& predictors,
                             std::span<const double> target, std::span<const double> grid,
                             const CrossValidation& options) {
  if (grid.empty()) throw std::invalid_argument("regression: an empty grid of penalties");
  PenaltyChoice choice;
  choice.errors.assign(grid.size(), 0);
  for (const Split& s : split(predictors, target, options)) {
    const std::vector<LinearModel> path = fit_path(kind, s.train_view(), s.train_target, grid);
    for (std::size_t i = 0; i < grid.size(); ++i) {
      choice.errors[i] += squared_error(path[i].predict(s.test_view()), s.test_target);
    }
  }
  for (double& e : choice.errors) e /= static_cast<double>(target.size());

  std::size_t best = 0;
  for (std::size_t i = 1; i < grid.size(); ++i) {
    const bool better = choice.errors[i] < choice.errors[best];
    const bool simpler = choice.errors[i] == choice.errors[best] && grid[i] > grid[best];
    if (better || simpler) best = i;
  }
  choice.penalty = grid[best];
  choice.error = choice.errors[best];
  choice.model = fit_linear(kind, predictors, target, choice.penalty);
  return choice;
}

}  // namespace corun::inline models
