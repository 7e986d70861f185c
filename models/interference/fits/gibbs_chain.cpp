#include "models/interference/fits/gibbs_chain.hpp"

#include <algorithm>
#include <cmath>
#include <span>
#include <stdexcept>
#include <utility>

#include "models/interference/factors/product.hpp"

namespace corun::inline models {

namespace {

using Matrix = Eigen::MatrixXd;
using Vector = Eigen::VectorXd;
using factors::product;
using RowMatrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

Matrix normal_matrix(Rng& rng, Eigen::Index rows, Eigen::Index columns) {
  Matrix m(rows, columns);
  rng.normals({m.data(), static_cast<std::size_t>(m.size())});
  return m;
}

/// The Cholesky factor of a matrix that is positive definite by construction. If rounding makes it
/// indefinite, the smallest sufficient share of its largest diagonal element is added to the diagonal.
Eigen::LLT<Matrix> rooted(const Matrix& m) {
  Eigen::LLT<Matrix> root(m);
  for (double help = 1e-12; root.info() != Eigen::Success; help *= 100) {
    if (help > 1) throw std::logic_error("factor model: a matrix that is not positive definite");
    Matrix helped = m;
    helped.diagonal() += help * m.diagonal().cwiseAbs().maxCoeff() * Vector::Ones(m.rows());
    root.compute(helped);
  }
  return root;
}

std::vector<float> row_major(const Matrix& m) {
  std::vector<float> out;
  out.reserve(static_cast<std::size_t>(m.size()));
  for (Eigen::Index r = 0; r < m.rows(); ++r) {
    for (Eigen::Index c = 0; c < m.cols(); ++c) out.push_back(static_cast<float>(m(r, c)));
  }
  return out;
}

/// a + b + u . v of (a, u) and (b, v).
double fitted_of(const auto& own, const auto& co_runner) {
  double product = own(1) * co_runner(1);
  for (Eigen::Index c = 2; c < own.size(); ++c) product += own(c) * co_runner(c);
  return own(0) + co_runner(0) + product;
}

}  // namespace

Matrix draw_wishart(Rng& rng, double freedom, const Matrix& scale) {
  const Eigen::Index d = scale.rows();
  RowMatrix t = RowMatrix::Zero(d, d);
  for (Eigen::Index i = 0; i < d; ++i) {
    rng.normals({&t(i, 0), static_cast<std::size_t>(i)});
    t(i, i) = std::sqrt(2 * rng.gamma((freedom - static_cast<double>(i)) / 2));
  }
  const Matrix root = rooted(scale).matrixL() * Matrix(t);
  return root * root.transpose();
}

GibbsChain::GibbsChain(const Matrix& basis, std::vector<Observation> seen, const FactorChain& chain,
                       const FactorOptions& options, std::uint64_t number)
    : observations(std::move(seen)),
      basis_(basis),
      transposed_basis_(basis.transpose()),
      gram_(basis.transpose() * basis),
      options_(options),
      spread_(chain.spread),
      rng_(options.seed, Stream::kFactors, number),
      jobs_(basis.rows()),
      k_(chain.rank + 1),
      d_(2 * k_),
      regressions_(static_cast<std::size_t>(k_)) {
  by_slowed_.resize(static_cast<std::size_t>(jobs_));
  by_co_runner_.resize(static_cast<std::size_t>(jobs_));
  for (std::size_t o = 0; o < observations.size(); ++o) {
    by_slowed_[static_cast<std::size_t>(observations[o].of)].push_back(o);
    by_co_runner_[static_cast<std::size_t>(observations[o].beside)].push_back(o);
  }
  const auto factors = [&] {
    Matrix m = normal_matrix(rng_, jobs_, k_) * 0.5;
    m.col(0) *= 0.2;
    return m;
  };
  parameters.own = factors();
  parameters.co_runner = factors();
  parameters.beta = Matrix::Zero(basis_.cols(), d_);
  parameters.precision = Matrix::Identity(d_, d_) * 4;
}

std::vector<FactorModel::Sample> GibbsChain::run(int every) {
  std::vector<FactorModel::Sample> samples;
  const int after_burn_in = options_.sweeps - 1 - options_.burn_in;
  const int last =
      options_.burn_in + after_burn_in / every * every;  // further sweeps give no sample
  for (int done = 0; done <= last; ++done) {
    sweep();
    if (done >= options_.burn_in && (done - options_.burn_in) % every == 0) {
      samples.push_back(sample());
    }
  }
  return samples;
}

void GibbsChain::sweep() {
  const Matrix prior = product(basis_, parameters.beta);
  draw_factors(prior, true);
  draw_factors(prior, false);
  draw_noise();
  draw_prior();
}

/// Draws (a, u) of every job given all (b, v) if `slowed`, else the reverse. Each is a Bayesian linear
/// regression on the factors of the other jobs in its observations, with its prior given the job's factors in
/// the other role.
void GibbsChain::draw_factors(const Matrix& prior, bool slowed) {
  const Eigen::Index from = slowed ? 0 : k_;
  const Eigen::Index other = slowed ? k_ : 0;
  Matrix& drawn = slowed ? parameters.own : parameters.co_runner;
  const Matrix& given = slowed ? parameters.co_runner : parameters.own;
  const Matrix p = parameters.precision.block(from, from, k_, k_);
  const Matrix cross = parameters.precision.block(from, other, k_, k_);
  const Matrix shift = rooted(p).solve(cross);
  const Matrix mean =
      prior.middleCols(from, k_) - product(given - prior.middleCols(other, k_), shift.transpose());
  const auto& met = slowed ? by_slowed_ : by_co_runner_;
  // `given` does not change here: a job beside itself also has its given factors in the other role.
  // Their first factor is a level, not the coefficient of one: a regression has 1 there.
  RowMatrix rows = given;
  rows.col(0).setOnes();
  const RowMatrix means = mean;
  const auto size = static_cast<std::size_t>(k_);
  constexpr auto kTogether = static_cast<Eigen::Index>(factors::JobRegressions::kTogether);
  std::vector<double> z;
  std::vector<factors::JobRegressions::Row> observed;  // of one job
  for (Eigen::Index first = 0; first < jobs_; first += kTogether) {
    const Eigen::Index count = std::min(kTogether, jobs_ - first);
    for (Eigen::Index l = 0; l < count; ++l) {
      const auto lane = static_cast<std::size_t>(l);
      observed.clear();
      for (const std::size_t o : met[static_cast<std::size_t>(first + l)]) {
        const Observation& seen = observations[o];
        const Eigen::Index met_job = slowed ? seen.beside : seen.of;
        observed.push_back({rows.row(met_job).data(), parameters.tau * seen.weight,
                            seen.target - given(met_job, 0)});
      }
      regressions_.set(lane, p.data(), {means.row(first + l).data(), size}, observed);
    }
    z.resize(static_cast<std::size_t>(count) * size);
    rng_.normals(z);
    regressions_.draw(static_cast<std::size_t>(count), z);
    for (Eigen::Index l = 0; l < count; ++l) {
      for (Eigen::Index c = 0; c < k_; ++c) {
        drawn(first + l, c) =
            regressions_.drawn(static_cast<std::size_t>(l), static_cast<std::size_t>(c));
      }
    }
  }
}

double GibbsChain::fitted(const Observation& o) const {
  return fitted_of(parameters.own.row(o.of), parameters.co_runner.row(o.beside));
}

void GibbsChain::draw_noise() {
  const RowMatrix own = parameters.own;
  const RowMatrix co_runner = parameters.co_runner;
  std::vector<double> drawn(observations.size());
  rng_.gammas((options_.freedom + 1) / 2, drawn);
  double squares = 0;
  for (std::size_t n = 0; n < observations.size(); ++n) {
    Observation& o = observations[n];
    const double e = o.target - fitted_of(own.row(o.of), co_runner.row(o.beside));
    o.weight = drawn[n] / ((options_.freedom + parameters.tau * e * e) / 2);
    squares += o.weight * e * e;
  }
  constexpr double kShape = 1;
  constexpr double kRate = 0.05;
  parameters.tau =
      rng_.gamma(kShape + static_cast<double>(observations.size()) / 2) / (kRate + squares / 2);
}

void GibbsChain::draw_prior() {
  Matrix w(jobs_, d_);
  w << parameters.own, parameters.co_runner;
  const Eigen::Index q = basis_.cols();
  Vector ridge = Vector::Constant(q, parameters.strength);
  ridge(0) = 0.1;  // the intercept is nearly free
  Matrix inverse_covariance = gram_;
  inverse_covariance.diagonal() += ridge;
  const Eigen::LLT<Matrix> k_root = rooted(inverse_covariance);
  const Matrix mean = k_root.solve(product(transposed_basis_, w));
  const Matrix rest = w - product(basis_, mean);
  const auto freedom = static_cast<double>(d_ + 2);
  // In this form it stays positive definite, whatever rounding does.
  Matrix scatter = Matrix::Identity(d_, d_) * (spread_ * freedom / 2) +
                   product(rest.transpose(), rest) +
                   product(mean.transpose() * ridge.asDiagonal(), mean);
  scatter = ((scatter + scatter.transpose()) / 2).eval();
  const Matrix inverse = rooted(scatter).solve(Matrix::Identity(d_, d_));
  parameters.precision = draw_wishart(rng_, freedom + static_cast<double>(jobs_), inverse);
  const Matrix g = normal_matrix(rng_, q, d_);
  const Matrix precision_root = rooted(parameters.precision).matrixL();
  const Matrix columns = precision_root.triangularView<Eigen::Lower>().solve<Eigen::OnTheRight>(g);
  parameters.beta = mean + k_root.matrixU().solve(columns);
  const Matrix slopes = parameters.beta.bottomRows(q - 1);
  const double size = (slopes * parameters.precision).cwiseProduct(slopes).sum();
  parameters.strength = rng_.gamma(0.5 + static_cast<double>((q - 1) * d_) / 2) / (0.5 + size / 2);
}

FactorModel::Sample GibbsChain::sample() const {
  const Matrix covariance = rooted(parameters.precision).solve(Matrix::Identity(d_, d_));
  return {static_cast<int>(k_ - 1),
          row_major(parameters.own),
          row_major(parameters.co_runner),
          row_major(parameters.beta),
          row_major(rooted(covariance).matrixL()),
          static_cast<float>(1 / std::sqrt(parameters.tau)),
          static_cast<float>(parameters.strength)};
}

}  // namespace corun::inline models
