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

/// Precision of the prior of the intercept, which is nearly free.
constexpr double kIntercept = 0.1;

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

Matrix draw_wishart(Rng& rng, double freedom, const Matrix& inverse_scale) {
  const Eigen::Index d = inverse_scale.rows();
  RowMatrix t = RowMatrix::Zero(d, d);
  for (Eigen::Index i = 0; i < d; ++i) {
    rng.normals({&t(i, 0), static_cast<std::size_t>(i)});
    t(i, i) = std::sqrt(2 * rng.gamma((freedom - static_cast<double>(i)) / 2));
  }
  const Matrix root = rooted(inverse_scale).matrixU().solve(Matrix(t));
  return root * root.transpose();
}

GibbsChain::GibbsChain(const factors::Axes& axes, std::vector<Observation> seen,
                       const FactorChain& chain, const FactorOptions& options, std::uint64_t number)
    : observations(std::move(seen)),
      axes_(axes),
      transposed_scores_(axes.scores.transpose()),
      options_(options),
      spread_(chain.spread),
      rng_(options.seed, Stream::kFactors, number),
      jobs_(axes.scores.rows()),
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
  parameters.beta = Matrix::Zero(axes_.squares.size(), d_);
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
  const Matrix prior = product(axes_.scores, parameters.beta);
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
  const Matrix& scores = axes_.scores;
  const Eigen::VectorXd& squares = axes_.squares;
  Matrix w(jobs_, d_);
  w << parameters.own, parameters.co_runner;
  const Matrix along = product(transposed_scores_, w);
  Vector ridge = Vector::Constant(squares.size(), parameters.strength);
  ridge(0) = kIntercept;
  // Of the prior's and the jobs' precision together, along each axis.
  const Vector of_jobs = squares.cwiseQuotient(squares + ridge);
  const Vector of_prior = ridge.cwiseQuotient(squares + ridge);
  const auto freedom = static_cast<double>(d_ + 2);
  Matrix scatter = Matrix::Identity(d_, d_) * (spread_ * freedom / 2) +
                   product(along.transpose(), of_prior.asDiagonal() * along);
  if (scores.cols() < jobs_) {
    const Matrix rest = w - product(scores, along);
    scatter += product(rest.transpose(), rest);
  }
  scatter = ((scatter + scatter.transpose()) / 2).eval();
  parameters.precision = draw_wishart(rng_, freedom + static_cast<double>(jobs_), scatter);
  const Matrix deviation = from_precision(normal_matrix(rng_, scores.cols(), d_));
  parameters.beta = of_jobs.asDiagonal() * along + of_jobs.cwiseSqrt().asDiagonal() * deviation;
  const Eigen::Index slopes = scores.cols() - 1;
  const Matrix sloping = parameters.beta.bottomRows(slopes);
  const double size = ((sloping * parameters.precision).cwiseProduct(sloping).rowwise().sum())
                          .cwiseQuotient(squares.tail(slopes))
                          .sum();
  parameters.strength = rng_.gamma(0.5 + static_cast<double>(slopes * d_) / 2) / (0.5 + size / 2);
}

/// Rows of covariance inv(Lambda), of rows of independent standard normals.
Matrix GibbsChain::from_precision(const Matrix& normals) const {
  const Matrix root = rooted(parameters.precision).matrixL();
  return root.triangularView<Eigen::Lower>().solve<Eigen::OnTheRight>(normals);
}

FactorModel::Sample GibbsChain::sample() {
  const Matrix covariance = rooted(parameters.precision).solve(Matrix::Identity(d_, d_));
  const Matrix of_others =
      from_precision(normal_matrix(rng_, axes_.others(), d_)) / std::sqrt(parameters.strength);
  return {static_cast<int>(k_ - 1),
          row_major(parameters.own),
          row_major(parameters.co_runner),
          row_major(axes_.beta_of(parameters.beta, of_others)),
          row_major(rooted(covariance).matrixL()),
          static_cast<float>(1 / std::sqrt(parameters.tau)),
          static_cast<float>(parameters.strength)};
}

}  // namespace corun::inline models
