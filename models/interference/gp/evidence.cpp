#include "models/interference/gp/evidence.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "models/interference/gp/covariance.hpp"
#include "models/interference/gp/inverse_root.hpp"
#include "models/interference/gp/vector_view.hpp"
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

/// jobs x jobs numbers.
class JobPairs {
 public:
  explicit JobPairs(std::size_t jobs) : jobs_(jobs), values_(jobs * jobs, 0) {}
  double& at(std::size_t i, std::size_t j) { return values_[i * jobs_ + j]; }
  double at(std::size_t i, std::size_t j) const { return values_[i * jobs_ + j]; }

 private:
  std::size_t jobs_;
  std::vector<double> values_;
};

/// A and B between the jobs, or the derivatives of the evidence with respect to them.
struct JobKernels {
  JobPairs slowed, co_runner;
  explicit JobKernels(std::size_t jobs) : slowed(jobs), co_runner(jobs) {}
};

JobKernels kernels_between(const std::vector<Place>& places, const Covariance& covariance) {
  JobKernels out(places.size());
  for (std::size_t i = 0; i < places.size(); ++i) {
    for (std::size_t j = 0; j <= i; ++j) {
      out.slowed.at(i, j) = out.slowed.at(j, i) = covariance.own(places[i], places[j]);
      out.co_runner.at(i, j) = out.co_runner.at(j, i) = covariance.co_runner(places[i], places[j]);
    }
  }
  return out;
}

/// K factored, and the targets solved for.
struct Solution {
  InverseRoot root;
  std::vector<double> weights;  ///< inv(K) y
  double value = 0;             ///< y' inv(K) y / 2 + log det L
};

Solution solve(const Rows& rows, const Covariance& covariance, const JobKernels& kernels) {
  const std::size_t count = rows.observations.size();
  Solution out;
  out.weights.assign(count, 0);
  std::vector<double> covariances(count);
  for (std::size_t a = 0; a < count; ++a) {
    const Rows::Observation& x = rows.observations[a];
    for (std::size_t b = 0; b <= a; ++b) {
      const Rows::Observation& y = rows.observations[b];
      covariances[b] = covariance.of({kernels.slowed.at(x.own, y.own), x.own == y.own,
                                      kernels.co_runner.at(x.co_runner, y.co_runner),
                                      x.co_runner == y.co_runner, dot(rows.phi[a], rows.phi[b])});
    }
    out.root.append(covariances.data(), covariances[a] + covariance[kNoise] + kLeastNoise);
    const double* const row = out.root.row(a);
    double sum = 0;
    for (std::size_t b = 0; b <= a; ++b) sum += row[b] * rows.observations[b].target;
    view(out.weights.data(), a + 1) += sum * view(row, a + 1);
    out.value += sum * sum / 2 - math::log(row[a]);
  }
  return out;
}

/// The lower triangle of inv(K), row by row.
std::vector<double> inverse_of(const InverseRoot& root) {
  const std::size_t count = root.size();
  std::vector<double> inverse(count * (count + 1) / 2, 0);
  for (std::size_t r = 0; r < count; ++r) {
    const double* const row = root.row(r);
    for (std::size_t a = 0; a <= r; ++a) {
      view(inverse.data() + a * (a + 1) / 2, a + 1) += row[a] * view(row, a + 1);
    }
  }
  return inverse;
}

/// Sums up the gradient over all pairs of rows.
class RowDerivatives {
 public:
  RowDerivatives(const Rows& rows, const Covariance& covariance, const JobKernels& kernels,
                 std::vector<double>& gradient)
      : rows_(rows),
        covariance_(covariance),
        kernels_(kernels),
        gradient_(gradient),
        of_kernels_(rows.places.size()) {}

  /// Adds rows a and b. `w`: W_ab, doubled if a and b differ.
  void add(std::size_t a, std::size_t b, double w) {
    const Rows::Observation& x = rows_.observations[a];
    const Rows::Observation& y = rows_.observations[b];
    const Covariance& s = covariance_;
    std::vector<double>& g = gradient_;
    const double k_slowed = kernels_.slowed.at(x.own, y.own);
    const double k_co_runner = kernels_.co_runner.at(x.co_runner, y.co_runner);
    const double same_slowed = x.own == y.own ? 1 : 0;
    const double same_co_runner = x.co_runner == y.co_runner ? 1 : 0;
    const double left = k_slowed + s[kProductOwn] * same_slowed;
    const double right = k_co_runner + s[kProductCoRunner] * same_co_runner;
    g[kOwn] += w * k_slowed;
    g[kOwnIdentity] += w * same_slowed;
    g[kCoRunner] += w * k_co_runner;
    g[kCoRunnerIdentity] += w * same_co_runner;
    g[kProduct] += w * left * right;
    g[kProductOwn] += w * same_slowed * right;
    g[kProductCoRunner] += w * same_co_runner * left;
    g[kConstant] += w;
    g[kPressures] += w * dot(rows_.phi[a], rows_.phi[b]);
    if (a == b) g[kNoise] += w;
    of_kernels_.slowed.at(x.own, y.own) += w * (s[kOwn] + s[kProduct] * right);
    of_kernels_.co_runner.at(x.co_runner, y.co_runner) += w * (s[kCoRunner] + s[kProduct] * left);
  }

  /// After all rows: converts derivatives with respect to variances and ratios to those of their logarithms.
  void end_variances() {
    gradient_[kProductOwn] *= covariance_[kProduct];
    gradient_[kProductCoRunner] *= covariance_[kProduct];
    for (std::size_t p = 0; p < kLengths; ++p) {
      gradient_[p] *= covariance_[static_cast<Parameter>(p)];
    }
  }

  /// After all rows: adds the derivatives with respect to the logarithms of the lengths, dA / dlog l = A (d /
  /// l)^2.
  void end_lengths() {
    const std::size_t n = rows_.places.size();
    const std::size_t width = covariance_.width();
    const std::span<const double> slowed_rates = covariance_.own_rates();
    const std::span<const double> co_runner_rates = covariance_.co_runner_rates();
    for (std::size_t i = 0; i < n; ++i) {
      for (std::size_t j = 0; j < n; ++j) {
        const double by_slowed = of_kernels_.slowed.at(i, j) * kernels_.slowed.at(i, j);
        const double by_co_runner = of_kernels_.co_runner.at(i, j) * kernels_.co_runner.at(i, j);
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
  JobKernels of_kernels_;  ///< derivatives with respect to A and B, summed over the rows
};

void add_gradient(const Rows& rows, const Covariance& covariance, const JobKernels& kernels,
                  const Solution& solution, std::vector<double>& gradient) {
  const std::vector<double> inverse = inverse_of(solution.root);
  const std::vector<double>& weights = solution.weights;
  RowDerivatives derivatives(rows, covariance, kernels, gradient);
  for (std::size_t a = 0; a < rows.observations.size(); ++a) {
    for (std::size_t b = 0; b <= a; ++b) {
      const double once = (inverse[a * (a + 1) / 2 + b] - weights[a] * weights[b]) / 2;
      derivatives.add(a, b, a == b ? once : 2 * once);
    }
  }
  derivatives.end_variances();
  derivatives.end_lengths();
}

void add_priors(std::span<const double> parameters, Evidence& out) {
  for (std::size_t p = 0; p < parameters.size(); ++p) {
    const Prior prior = prior_of(p);
    const double off = (parameters[p] - prior.center) / prior.width;
    out.value += off * off / 2;
    out.gradient[p] += off / prior.width;
  }
}

}  // namespace

std::vector<double> prior_medians(std::size_t parameters) {
  std::vector<double> out;
  for (std::size_t p = 0; p < parameters; ++p) out.push_back(prior_of(p).center);
  return out;
}

Evidence evidence_of(const Rows& rows, std::span<const double> parameters) {
  Evidence out;
  out.gradient.assign(parameters.size(), 0);
  const auto possible = [](double p) { return std::fabs(p) <= kLargestParameter; };
  if (!std::all_of(parameters.begin(), parameters.end(), possible)) {
    out.value = std::numeric_limits<double>::infinity();
    return out;
  }
  const Covariance covariance(parameters);
  const JobKernels kernels = kernels_between(rows.places, covariance);
  const Solution solution = solve(rows, covariance, kernels);
  out.value = solution.value;
  add_gradient(rows, covariance, kernels, solution, out.gradient);
  add_priors(parameters, out);
  return out;
}

}  // namespace corun::inline models::gp
