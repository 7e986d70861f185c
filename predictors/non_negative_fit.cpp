#include "predictors/non_negative_fit.hpp"

#include <cmath>
#include <stdexcept>

#include <Eigen/Dense>

namespace corun::inline predictors {

std::vector<double> fit_non_negative(const MatrixView& terms, std::span<const double> target) {
  check_regression(terms, target, "non-negative fit");
  const auto rows = static_cast<Eigen::Index>(terms.rows);
  const auto columns = static_cast<Eigen::Index>(terms.columns);
  Eigen::MatrixXd a(rows, columns);
  for (Eigen::Index r = 0; r < rows; ++r) {
    const double y = target[static_cast<std::size_t>(r)];
    if (!(y > 0)) throw std::invalid_argument("non-negative fit: a target is not above 0");
    for (Eigen::Index c = 0; c < columns; ++c) {
      const double term = terms(static_cast<std::size_t>(r), static_cast<std::size_t>(c));
      if (term < 0) throw std::invalid_argument("non-negative fit: a term is below 0");
      a(r, c) = term / y;
    }
  }
  // Columns of equal length, so that one tolerance serves all units.
  Eigen::VectorXd length = a.colwise().norm();
  for (Eigen::Index c = 0; c < columns; ++c) {
    if (length[c] > 0) a.col(c) /= length[c];
  }
  const Eigen::MatrixXd gram = a.transpose() * a;
  const Eigen::VectorXd moment = a.colwise().sum().transpose();  // A' 1

  std::vector<bool> free(static_cast<std::size_t>(columns), false);
  Eigen::VectorXd x = Eigen::VectorXd::Zero(columns);
  /// The least squares solution with all other coefficients at 0.
  const auto solve = [&] {
    std::vector<Eigen::Index> at;
    for (Eigen::Index c = 0; c < columns; ++c) {
      if (free[static_cast<std::size_t>(c)]) at.push_back(c);
    }
    const Eigen::MatrixXd part = gram(at, at);
    const Eigen::VectorXd right = moment(at);
    const Eigen::VectorXd solution = part.ldlt().solve(right);
    Eigen::VectorXd all = Eigen::VectorXd::Zero(columns);
    for (std::size_t i = 0; i < at.size(); ++i) {
      all[at[i]] = solution[static_cast<Eigen::Index>(i)];
    }
    return all;
  };
  const double tolerance = 1e-10 * std::sqrt(static_cast<double>(rows));
  for (Eigen::Index step = 0; step < 3 * columns; ++step) {
    const Eigen::VectorXd slope = moment - gram * x;
    Eigen::Index best = -1;
    for (Eigen::Index c = 0; c < columns; ++c) {
      if (!free[static_cast<std::size_t>(c)] && length[c] > 0 && slope[c] > tolerance &&
          (best < 0 || slope[c] > slope[best])) {
        best = c;
      }
    }
    if (best < 0) break;
    free[static_cast<std::size_t>(best)] = true;
    for (Eigen::Index inner = 0; inner < 3 * columns; ++inner) {
      const Eigen::VectorXd next = solve();
      double share = 1;  // of the way to `next` on which no coefficient falls below 0
      for (Eigen::Index c = 0; c < columns; ++c) {
        if (free[static_cast<std::size_t>(c)] && next[c] <= 0) {
          share = std::min(share, x[c] / (x[c] - next[c]));
        }
      }
      if (share >= 1) {
        x = next;
        break;
      }
      x += share * (next - x);
      for (Eigen::Index c = 0; c < columns; ++c) {
        if (free[static_cast<std::size_t>(c)] && x[c] <= 1e-14) {
          free[static_cast<std::size_t>(c)] = false;
          x[c] = 0;
        }
      }
    }
  }
  std::vector<double> result(static_cast<std::size_t>(columns), 0);
  for (Eigen::Index c = 0; c < columns; ++c) {
    if (length[c] > 0) result[static_cast<std::size_t>(c)] = std::max(0.0, x[c] / length[c]);
  }
  return result;
}

}  // namespace corun::inline predictors
