#include "models/interference/factors/basis.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include <Eigen/Dense>

#include "models/interference/factors/refuse.hpp"
#include "models/interference/factors/signs.hpp"
#include "models/interference/fits/moments.hpp"
#include "models/interference/fits/observations.hpp"
#include "sim/base/math.hpp"

namespace corun::inline models::factors {

namespace {

using Matrix = Eigen::MatrixXd;

/// Eigenvectors of the kernel with smaller eigenvalues are left out.
constexpr double kLeastEigenvalue = 1e-3;

/// k(x, y): large if x and y are close in all features or in single ones.
double kernel_of(std::span<const double> x, std::span<const double> y) {
  double square = 0;
  double one_by_one = 0;
  for (std::size_t f = 0; f < x.size(); ++f) {
    const double d = x[f] - y[f];
    square += d * d;
    one_by_one += math::exp(-d * d / 2);
  }
  return math::exp(-square / 2) + math::exp(-square / 8) +
         one_by_one / static_cast<double>(x.size());
}

/// x of a seen job.
std::span<const double> inducing_point(const FactorState& state, std::size_t job) {
  const std::size_t width = state.mean.size();
  return std::span(state.inducing_points).subspan(job * width, width);
}

}  // namespace

std::vector<double> standardised(const FactorState& state, std::span<const double> features) {
  std::vector<double> z = expand_features(features, state.features, kName);
  for (std::size_t f = 0; f < z.size(); ++f) {
    const double deviation = state.deviation[f];
    z[f] = std::isnan(z[f]) || deviation == 0
               ? 0
               : std::clamp((z[f] - state.mean[f]) / deviation, -kFarthest, kFarthest);
  }
  return z;
}

std::size_t kernel_features(const FactorState& state) {
  return state.kernel_root.size() / state.keys.size();
}

std::vector<double> basis_of(const FactorState& state, std::span<const double> x) {
  const std::size_t width = x.size();
  const std::size_t count = kernel_features(state);
  std::vector<double> phi{1};
  phi.insert(phi.end(), x.begin(), x.end());
  phi.resize(1 + width + count, 0);
  for (std::size_t j = 0; j < state.keys.size() && count > 0; ++j) {
    const double k = kernel_of(x, inducing_point(state, j));
    for (std::size_t e = 0; e < count; ++e) {
      phi[1 + width + e] += k * state.kernel_root[j * count + e];
    }
  }
  return phi;
}

void learn_standardisation(const std::vector<std::vector<double>>& raw, FactorState& state) {
  std::vector<double> column(raw.size());
  for (std::size_t f = 0; f < expanded_width(state.features); ++f) {
    std::transform(raw.begin(), raw.end(), column.begin(), [&](const auto& x) { return x[f]; });
    // The bound for a constant column: relative for linear features, also absolute for logarithms.
    const bool linear =
        f < state.features.size() && state.features[f].scale == FeatureScale::kLinear;
    const Moments of = moments_of(column, linear ? 0 : 1);
    state.mean.push_back(of.mean);
    state.deviation.push_back(of.deviation);
  }
}

void learn_kernel(FactorState& state) {
  const auto n = static_cast<Eigen::Index>(state.keys.size());
  const bool any = !state.mean.empty();
  Matrix kernel(n, n);
  for (Eigen::Index i = 0; i < n; ++i) {
    for (Eigen::Index j = 0; j < n; ++j) {
      kernel(i, j) = any ? kernel_of(inducing_point(state, static_cast<std::size_t>(i)),
                                     inducing_point(state, static_cast<std::size_t>(j)))
                         : 0;
    }
  }
  const Eigen::SelfAdjointEigenSolver<Matrix> eigen(kernel);
  if (eigen.info() != Eigen::Success) throw std::logic_error("factor model: no eigenvectors");
  std::vector<Eigen::Index> kept;
  for (Eigen::Index e = n; e-- > 0 && kept.size() < kMostKernelFeatures;) {
    if (any && eigen.eigenvalues()(e) > kLeastEigenvalue) kept.push_back(e);
  }
  for (Eigen::Index i = 0; i < n; ++i) {
    for (const Eigen::Index e : kept) {
      const double sign = sign_of(eigen.eigenvectors().col(e));
      state.kernel_root.push_back(sign * eigen.eigenvectors()(i, e) /
                                  std::sqrt(eigen.eigenvalues()(e)));
    }
  }
}

}  // namespace corun::inline models::factors
