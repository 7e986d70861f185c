#include "models/interference/contention.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>
#include <vector>

#include <Eigen/Dense>

#include "models/interference/overlap.hpp"

namespace corun {

namespace {

/// Non-negative least squares by trying every subset of columns: exact, and 15 small solves.
Eigen::Vector4d non_negative_least_squares(const Eigen::MatrixXd& a, const Eigen::VectorXd& b) {
  Eigen::Vector4d best = Eigen::Vector4d::Zero();
  double least = b.squaredNorm();
  for (int subset = 1; subset < (1 << a.cols()); ++subset) {
    std::vector<Eigen::Index> columns;
    for (int c = 0; c < a.cols(); ++c) {
      if ((subset >> c & 1) != 0) columns.push_back(c);
    }
    const Eigen::MatrixXd part = a(Eigen::all, columns);
    const Eigen::VectorXd x = part.colPivHouseholderQr().solve(b);
    if ((x.array() < 0).any()) continue;
    const double residual = (part * x - b).squaredNorm();
    if (residual < least) {
      least = residual;
      best.setZero();
      best(columns) = x;
    }
  }
  return best;
}

}  // namespace

ContentionModel ContentionModel::fit(std::span<const CorunMeasurement> rows) {
  ContentionModel model;
  // Means of the known values first: they stand in for what a profile lacks.
  std::array<double, 3> sum{};
  std::array<double, 3> count{};
  std::size_t pairs = 0;
  for (const CorunMeasurement& row : rows) {
    if (row.members.size() != 2) continue;
    ++pairs;
    for (const CorunMember& m : row.members) {
      const std::array values{m.profile.gpu_util_pct, m.profile.mem_alloc_pct,
                              m.profile.mem_time_pct};
      for (std::size_t f = 0; f < values.size(); ++f) {
        if (!values[f]) continue;
        sum[f] += *values[f] / 100;
        count[f] += 1;
      }
    }
  }
  if (pairs == 0) throw std::invalid_argument("the contention model needs measured pairs");
  const auto mean = [&](std::size_t f) { return count[f] > 0 ? sum[f] / count[f] : 0.5; };
  model.mean_ = {mean(0), mean(1), mean(2)};

  Eigen::MatrixXd pressure(2 * pairs, kTerms);
  Eigen::VectorXd excess(2 * pairs);
  Eigen::Index n = 0;
  for (const CorunMeasurement& row : rows) {
    if (row.members.size() != 2) continue;
    const std::vector<double> x = overlap_excess(row);
    const std::array both{model.features(row.members[0].profile),
                          model.features(row.members[1].profile)};
    for (std::size_t i = 0; i < 2; ++i, ++n) {
      const Features& other = both[1 - i];
      const auto p = pressures(both[i], (1 - other.m) * other.u, other.u, other.t);
      for (std::size_t k = 0; k < kTerms; ++k) {
        pressure(n, static_cast<Eigen::Index>(k)) = p[k];
      }
      excess(n) = x[i];
    }
  }
  const Eigen::VectorXd weight =
      (1 + excess.array()).inverse().min(1.0);  // sqrt of s^2, speeds above 1 count as 1
  Eigen::Vector4d c =
      non_negative_least_squares(weight.asDiagonal() * pressure, weight.asDiagonal() * excess);
  const double fitted_level = (pressure * c).sum();
  if (fitted_level > 0) c *= std::max(0.0, excess.sum()) / fitted_level;

  const Eigen::VectorXd predicted = pressure * c;
  const double error = (weight.array() * (excess - predicted).array()).square().sum();
  const double scale = (weight.array() * predicted.array()).square().sum();
  model.sigma_ = scale > 0 ? std::sqrt(std::log1p(error / scale)) : 0;
  for (std::size_t k = 0; k < kTerms; ++k) {
    model.coefficients_[k] = c(static_cast<Eigen::Index>(k));
  }
  return model;
}

ContentionModel::Features ContentionModel::features(const Profile& profile) const {
  const auto fraction = [](const std::optional<double>& pct, double otherwise) {
    return pct ? std::min(*pct / 100, 1.0) : otherwise;
  };
  return {fraction(profile.gpu_util_pct, mean_.u), fraction(profile.mem_alloc_pct, mean_.m),
          fraction(profile.mem_time_pct, mean_.t)};
}

std::array<double, ContentionModel::kTerms> ContentionModel::pressures(const Features& own,
                                                                       double others_free_u,
                                                                       double others_u,
                                                                       double others_t) {
  constexpr double kLight = 0.10;  // utilisation below which a job is bound by launch latency
  constexpr double kKnee = 0.5;    // share of time beyond which memory traffic collides
  return {(1 - own.m) * own.u * others_free_u, own.t * others_u,
          std::max(0.0, 1 - own.u / kLight) * others_u,
          std::max(0.0, own.t + others_t - kKnee) - std::max(0.0, own.t - kKnee)};
}

void ContentionModel::speeds(std::span<const Profile* const> residents,
                             std::span<double> out) const {
  for (std::size_t i = 0; i < residents.size(); ++i) {
    double others_free_u = 0;
    double others_u = 0;
    double others_t = 0;
    // Summed anew for each job, in order: the difference total - own would not be exactly 0 alone.
    for (std::size_t j = 0; j < residents.size(); ++j) {
      if (j == i) continue;
      const Features f = features(*residents[j]);
      others_free_u += (1 - f.m) * f.u;
      others_u += f.u;
      others_t += f.t;
    }
    const auto p = pressures(features(*residents[i]), others_free_u, others_u, others_t);
    double excess = 0;
    for (std::size_t k = 0; k < kTerms; ++k) excess += coefficients_[k] * p[k];
    out[i] = residents.size() == 1 ? 1.0 : 1 / (1 + excess);
  }
}

}  // namespace corun
