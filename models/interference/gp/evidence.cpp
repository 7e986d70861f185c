#include "models/interference/gp/evidence.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <utility>

#include "models/interference/gp/covariance.hpp"
#include "models/interference/gp/covariance_matrix.hpp"
#include "models/interference/gp/inverse_root.hpp"
#include "sim/base/math.hpp"

namespace corun::inline models::gp {

namespace {

/// Log-normal priors: logarithms of the medians, and log-deviations.
struct Prior {
  double center, width;
};
Prior prior_of(std::size_t parameter) {
  static const std::array<Prior, kLengths> kVariances{{
      {math::log(0.2), 1.5},   // effect as the slowed job
      {math::log(0.1), 1.5},   // its identity
      {math::log(0.2), 1.5},   // effect as the co-runner
      {math::log(0.1), 1.5},   // its identity
      {math::log(0.2), 1.5},   // product
      {math::log(0.3), 1.5},   // product, identity of the slowed job
      {math::log(0.3), 1.5},   // product, identity of the co-runner
      {math::log(0.5), 1.5},   // constant
      {math::log(0.1), 1.5},   // pressures
      {math::log(0.05), 1.5},  // noise
  }};
  static const Prior kLength{math::log(3.0), 1};
  return parameter < kVariances.size() ? kVariances[parameter] : kLength;
}

/// Sums up the gradient over all pairs of rows. Most derivatives of K depend on a pair of slowed jobs or on one of
/// co-runners, so W is summed over the rows of each such pair first.
class RowDerivatives {
 public:
  RowDerivatives(const Rows& rows, const Covariance& covariance, const JobKernels& kernels,
                 std::vector<double>& gradient)
      : rows_(rows),
        covariance_(covariance),
        kernels_(kernels),
        gradient_(gradient),
        sums_(rows.places.size()),
        products_(rows.places.size()) {}

  /// Adds rows a and b. `w`: W_ab, doubled if a and b differ.
  void add(std::size_t a, std::size_t b, double w) {
    const Rows::Observation& x = rows_.observations[a];
    const Rows::Observation& y = rows_.observations[b];
    const double left =
        kernels_.slowed.at(x.own, y.own) + (x.own == y.own ? covariance_[kProductOwn] : 0);
    const double right = kernels_.co_runner.at(x.co_runner, y.co_runner) +
                         (x.co_runner == y.co_runner ? covariance_[kProductCoRunner] : 0);
    sums_.slowed.at(x.own, y.own) += w;
    sums_.co_runner.at(x.co_runner, y.co_runner) += w;
    products_.slowed.at(x.own, y.own) += w * right;
    products_.co_runner.at(x.co_runner, y.co_runner) += w * left;
    pressures_ += w * dot(rows_.phi[a], rows_.phi[b]);
    if (a == b) noise_ += w;
  }

  /// After all rows: the derivatives with respect to the logarithms of variances and ratios.
  void end_variances() {
    const Covariance& s = covariance_;
    std::vector<double>& g = gradient_;
    const std::size_t n = rows_.places.size();
    for (std::size_t i = 0; i < n; ++i) {
      for (std::size_t j = 0; j < n; ++j) {
        const double k_slowed = kernels_.slowed.at(i, j);
        g[kOwn] += sums_.slowed.at(i, j) * k_slowed;
        g[kCoRunner] += sums_.co_runner.at(i, j) * kernels_.co_runner.at(i, j);
        g[kProduct] += products_.slowed.at(i, j) * (k_slowed + (i == j ? s[kProductOwn] : 0));
        g[kConstant] += sums_.slowed.at(i, j);
      }
      g[kOwnIdentity] += sums_.slowed.at(i, i);
      g[kCoRunnerIdentity] += sums_.co_runner.at(i, i);
      g[kProductOwn] += s[kProduct] * products_.slowed.at(i, i);
      g[kProductCoRunner] += s[kProduct] * products_.co_runner.at(i, i);
    }
    g[kPressures] += pressures_;
    g[kNoise] += noise_;
    for (std::size_t p = 0; p < kLengths; ++p) g[p] *= s[static_cast<Parameter>(p)];
  }

  /// After all rows: adds the derivatives with respect to the logarithms of the lengths, dA / dlog l = A (d /
  /// l)^2.
  void end_lengths() {
    const Covariance& s = covariance_;
    const std::size_t n = rows_.places.size();
    const std::size_t width = covariance_.width();
    const std::span<const double> slowed_rates = covariance_.own_rates();
    const std::span<const double> co_runner_rates = covariance_.co_runner_rates();
    for (std::size_t i = 0; i < n; ++i) {
      for (std::size_t j = 0; j < n; ++j) {
        const double by_slowed =
            (s[kOwn] * sums_.slowed.at(i, j) + s[kProduct] * products_.slowed.at(i, j)) *
            kernels_.slowed.at(i, j);
        const double by_co_runner =
            (s[kCoRunner] * sums_.co_runner.at(i, j) + s[kProduct] * products_.co_runner.at(i, j)) *
            kernels_.co_runner.at(i, j);
        if (by_slowed == 0 && by_co_runner == 0) continue;
        for (std::size_t f = 0; f < width; ++f) {
          const double d = rows_.places[i].x[f] - rows_.places[j].x[f];
          gradient_[kLengths + f] += by_slowed * d * d * slowed_rates[f] * slowed_rates[f];
          gradient_[kLengths + width + f] +=
              by_co_runner * d * d * co_runner_rates[f] * co_runner_rates[f];
        }
      }
    }
  }

 private:
  const Rows& rows_;
  const Covariance& covariance_;
  const JobKernels& kernels_;
  std::vector<double>& gradient_;
  JobKernels sums_;      ///< of W over the rows of each pair of slowed jobs, and of co-runners
  JobKernels products_;  ///< likewise, of W times the other factor of the product
  double pressures_ = 0;
  double noise_ = 0;
};

/// `root`: the inverse Cholesky factor of K; `weights`: inv(K) y.
void add_gradient(const Rows& rows, const Covariance& covariance, const JobKernels& kernels,
                  const Panels& root, const std::vector<double>& weights,
                  std::vector<double>& gradient) {
  const Panels inverse = precision_of(root, rows.observations.size());
  RowDerivatives derivatives(rows, covariance, kernels, gradient);
  for (std::size_t a = 0; a < rows.observations.size(); ++a) {
    for (std::size_t b = 0; b <= a; ++b) {
      const double once = (inverse.at(a, b) - weights[a] * weights[b]) / 2;
      derivatives.add(a, b, a == b ? once : 2 * once);
    }
  }
  derivatives.end_variances();
  derivatives.end_lengths();
}

}  // namespace

std::vector<double> prior_medians(std::size_t parameters) {
  std::vector<double> out;
  for (std::size_t p = 0; p < parameters; ++p) out.push_back(prior_of(p).center);
  return out;
}

Evidence::Evidence(const Rows& rows, std::span<const double> parameters)
    : rows_(rows), parameters_(parameters.begin(), parameters.end()) {
  const auto possible = [](double p) { return std::fabs(p) <= kLargestParameter; };
  if (!std::all_of(parameters.begin(), parameters.end(), possible)) {
    value_ = std::numeric_limits<double>::infinity();
    return;
  }
  const std::size_t count = rows.observations.size();
  const Covariance covariance(parameters);
  JobKernels kernels = kernels_between(rows.places, covariance);
  Panels root = inverse_root_of(covariance_matrix(rows, covariance, kernels), count);
  std::vector<double> weights(count, 0);
  for (std::size_t a = 0; a < count; ++a) {
    double sum = 0;
    for (std::size_t b = 0; b <= a; ++b) sum += root.at(a, b) * rows.observations[b].target;
    for (std::size_t b = 0; b <= a; ++b) weights[b] += sum * root.at(a, b);
    value_ += sum * sum / 2 - math::log(root.at(a, a));
  }
  for (std::size_t p = 0; p < parameters.size(); ++p) {
    const Prior prior = prior_of(p);
    const double off = (parameters[p] - prior.center) / prior.width;
    value_ += off * off / 2;
  }
  solution_ = Solution{covariance, std::move(kernels), std::move(root), std::move(weights)};
}

std::vector<double> Evidence::gradient() const {
  std::vector<double> out(parameters_.size(), 0);
  if (!solution_) return out;
  add_gradient(rows_, solution_->covariance, solution_->kernels, solution_->root,
               solution_->weights, out);
  for (std::size_t p = 0; p < parameters_.size(); ++p) {
    const Prior prior = prior_of(p);
    out[p] += (parameters_[p] - prior.center) / prior.width / prior.width;
  }
  return out;
}

}  // namespace corun::inline models::gp
