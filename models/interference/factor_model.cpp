#include "models/interference/factor_model.hpp"

#include <algorithm>
#include <cmath>
#include <future>
#include <limits>
#include <stdexcept>

#include <Eigen/Dense>

#include "sim/rng.hpp"

namespace corun {

namespace {

using Matrix = Eigen::MatrixXd;
using Vector = Eigen::VectorXd;

/// Directions of the kernel with less weight than this say nothing.
constexpr double kLeastEigenvalue = 1e-3;
/// The most kernel features: what they cost grows with their cube.
constexpr Eigen::Index kMostKernelFeatures = 64;
/// Half-width of a 90 % interval in standard deviations: between a normal's 1.645 and 1.587 of a
/// Student t with 6 degrees, since both posterior and noise scatter.
constexpr double kReach = 1.62;

struct Observation {
  Eigen::Index of, beside;
  double target;  ///< standardised -log(speed)
  double weight;  ///< lambda of the Student t, drawn
};

Matrix normal_matrix(Rng& rng, Eigen::Index rows, Eigen::Index columns) {
  Matrix m(rows, columns);
  for (Eigen::Index c = 0; c < columns; ++c) {
    for (Eigen::Index r = 0; r < rows; ++r) m(r, c) = rng.normal();
  }
  return m;
}

/// Wishart(freedom, scale) by Bartlett's decomposition; `scale` positive definite.
Matrix wishart(Rng& rng, double freedom, const Matrix& scale) {
  const Eigen::Index d = scale.rows();
  Matrix t = Matrix::Zero(d, d);
  for (Eigen::Index i = 0; i < d; ++i) {
    for (Eigen::Index j = 0; j < i; ++j) t(i, j) = rng.normal();
    t(i, i) = std::sqrt(2 * rng.gamma((freedom - static_cast<double>(i)) / 2));
  }
  const Matrix root = scale.llt().matrixL() * t;
  return root * root.transpose();
}

std::vector<float> row_major(const Matrix& m) {
  std::vector<float> out;
  out.reserve(static_cast<std::size_t>(m.size()));
  for (Eigen::Index r = 0; r < m.rows(); ++r) {
    for (Eigen::Index c = 0; c < m.cols(); ++c) out.push_back(static_cast<float>(m(r, c)));
  }
  return out;
}

/// One chain of Gibbs sampling; see the header for the model.
class Chain {
 public:
  Chain(const Matrix& basis, std::vector<Observation> observations, const FactorChain& chain,
        const FactorOptions& options, std::uint64_t number)
      : basis_(basis),
        observations_(std::move(observations)),
        options_(options),
        spread_(chain.spread),
        rng_(options.seed, Stream::kFactors, number),
        jobs_(basis.rows()),
        k_(chain.rank + 1),
        d_(2 * k_) {
    by_own_.resize(static_cast<std::size_t>(jobs_));
    by_partner_.resize(static_cast<std::size_t>(jobs_));
    for (std::size_t o = 0; o < observations_.size(); ++o) {
      by_own_[static_cast<std::size_t>(observations_[o].of)].push_back(o);
      by_partner_[static_cast<std::size_t>(observations_[o].beside)].push_back(o);
    }
  }

  std::vector<FactorModel::Sample> run() {
    start();
    std::vector<FactorModel::Sample> samples;
    for (int sweep = 0; sweep < options_.sweeps; ++sweep) {
      const Matrix prior = basis_ * beta_;
      draw_factors(prior, true);
      draw_factors(prior, false);
      draw_noise();
      draw_prior();
      if (sweep >= options_.burn_in && (sweep - options_.burn_in) % options_.keep_every == 0) {
        samples.push_back(sample());
      }
    }
    return samples;
  }

 private:
  void start() {
    const auto factors = [&] {
      Matrix m = normal_matrix(rng_, jobs_, k_) * 0.5;
      m.col(0) *= 0.2;
      return m;
    };
    own_ = factors();
    partner_ = factors();
    beta_ = Matrix::Zero(basis_.cols(), d_);
    precision_ = Matrix::Identity(d_, d_) * 4;
    tau_ = 10;
    strength_ = 1;
  }

  /// Rows of `own_` given `partner_`, or the other way round: each is a Bayesian linear regression on
  /// the factors of the jobs it met, with the prior that the other half of its factors leaves.
  void draw_factors(const Matrix& prior, bool own) {
    const Eigen::Index from = own ? 0 : k_;
    const Eigen::Index other = own ? k_ : 0;
    Matrix& drawn = own ? own_ : partner_;
    const Matrix& given = own ? partner_ : own_;
    const Matrix p = precision_.block(from, from, k_, k_);
    const Matrix cross = precision_.block(from, other, k_, k_);
    const Matrix shift = p.llt().solve(cross);
    const Matrix mean =
        prior.middleCols(from, k_) - (given - prior.middleCols(other, k_)) * shift.transpose();
    const auto& met = own ? by_own_ : by_partner_;
    const Matrix before = given;  // a job beside itself: its other half is held
    for (Eigen::Index i = 0; i < jobs_; ++i) {
      Matrix h = p;
      Vector g = p * mean.row(i).transpose();
      for (const std::size_t o : met[static_cast<std::size_t>(i)]) {
        const Observation& seen = observations_[o];
        const Eigen::Index j = own ? seen.beside : seen.of;
        Vector x = before.row(j).transpose();
        const double level = x(0);
        x(0) = 1;
        const double w = tau_ * seen.weight;
        h.noalias() += w * x * x.transpose();
        g += w * (seen.target - level) * x;
      }
      const Eigen::LLT<Matrix> root(h);
      const Vector z = normal_matrix(rng_, k_, 1);
      drawn.row(i) = (root.solve(g) + root.matrixU().solve(z)).transpose();
    }
  }

  double fitted(const Observation& o) const {
    return own_(o.of, 0) + partner_(o.beside, 0) +
           own_.row(o.of).tail(k_ - 1).dot(partner_.row(o.beside).tail(k_ - 1));
  }

  void draw_noise() {
    double squares = 0;
    for (Observation& o : observations_) {
      const double e = o.target - fitted(o);
      o.weight = rng_.gamma((options_.freedom + 1) / 2) / ((options_.freedom + tau_ * e * e) / 2);
      squares += o.weight * e * e;
    }
    constexpr double kShape = 1;
    constexpr double kRate = 0.05;
    tau_ =
        rng_.gamma(kShape + static_cast<double>(observations_.size()) / 2) / (kRate + squares / 2);
  }

  void draw_prior() {
    Matrix w(jobs_, d_);
    w << own_, partner_;
    const Eigen::Index q = basis_.cols();
    Vector ridge = Vector::Constant(q, strength_);
    ridge(0) = 0.1;  // the intercept is nearly free
    const Matrix k = Matrix(basis_.transpose() * basis_) + Matrix(ridge.asDiagonal());
    const Eigen::LLT<Matrix> k_root(k);
    const Matrix mean = k_root.solve(basis_.transpose() * w);
    const Matrix rest = w - basis_ * mean;
    const auto freedom = static_cast<double>(d_ + 2);
    // In this form it stays positive definite, whatever rounding does.
    Matrix scatter = Matrix::Identity(d_, d_) * (spread_ * freedom / 2) + rest.transpose() * rest +
                     mean.transpose() * ridge.asDiagonal() * mean;
    scatter = ((scatter + scatter.transpose()) / 2).eval();
    const Matrix inverse = scatter.llt().solve(Matrix::Identity(d_, d_));
    precision_ = wishart(rng_, freedom + static_cast<double>(jobs_), inverse);
    const Matrix g = normal_matrix(rng_, q, d_);
    const Matrix precision_root = precision_.llt().matrixL();
    const Matrix columns =
        precision_root.triangularView<Eigen::Lower>().solve<Eigen::OnTheRight>(g);
    beta_ = mean + k_root.matrixU().solve(columns);
    const Matrix slopes = beta_.bottomRows(q - 1);
    const double size = (slopes * precision_).cwiseProduct(slopes).sum();
    strength_ = rng_.gamma(0.5 + static_cast<double>((q - 1) * d_) / 2) / (0.5 + size / 2);
  }

  FactorModel::Sample sample() const {
    const Matrix covariance = precision_.llt().solve(Matrix::Identity(d_, d_));
    return {static_cast<int>(k_ - 1),
            row_major(own_),
            row_major(partner_),
            row_major(beta_),
            row_major(covariance.llt().matrixL()),
            static_cast<float>(1 / std::sqrt(tau_))};
  }

  const Matrix& basis_;
  std::vector<Observation> observations_;
  const FactorOptions& options_;
  double spread_;
  Rng rng_;
  Eigen::Index jobs_, k_, d_;
  std::vector<std::vector<std::size_t>> by_own_, by_partner_;
  Matrix own_, partner_, beta_, precision_;
  double tau_ = 1;
  double strength_ = 1;
};

void check_options(const FactorOptions& o) {
  const bool fine = !o.chains.empty() && o.sweeps > o.burn_in && o.burn_in >= 0 &&
                    o.keep_every >= 1 && o.freedom > 2 && std::isfinite(o.freedom) &&
                    o.threads >= 1 &&
                    std::all_of(o.chains.begin(), o.chains.end(), [](const FactorChain& c) {
                      return c.rank >= 1 && c.rank <= 64 && c.spread > 0 && std::isfinite(c.spread);
                    });
  if (!fine) throw std::invalid_argument("factor model: options out of bounds");
}

double scaled(double value, FeatureScale scale) {
  if (std::isnan(value)) return value;
  if (!std::isfinite(value)) throw std::invalid_argument("factor model: an infinite feature");
  if (scale == FeatureScale::kLinear) return value;
  if (!(value > 0)) {
    throw std::invalid_argument("factor model: a feature on a log scale is not above 0");
  }
  return std::log(value);
}

}  // namespace

FactorModel FactorModel::fit(const SpeedTable& table, const FactorOptions& options) {
  check_options(options);
  const std::size_t given = table.features.size();
  if (table.values.size() != table.jobs.size() * given) {
    throw std::invalid_argument("factor model: values are not jobs x features");
  }
  FactorModel model;
  model.features_ = table.features;
  model.freedom_ = options.freedom;

  // The jobs seen: those with a speed of their own or of a partner.
  constexpr std::size_t kNowhere = std::numeric_limits<std::size_t>::max();
  std::vector<std::size_t> place(table.jobs.size(), kNowhere);
  std::vector<std::size_t> seen;
  std::vector<Observation> observations;
  const auto see = [&](std::uint32_t job) {
    if (job >= table.jobs.size()) throw std::invalid_argument("factor model: no such job");
    if (place[job] == kNowhere) {
      place[job] = seen.size();
      seen.push_back(job);
    }
    return static_cast<Eigen::Index>(place[job]);
  };
  const auto add = [&](std::uint32_t of, std::uint32_t beside, double speed) {
    if (std::isnan(speed)) return;
    if (!(speed > 0) || !std::isfinite(speed)) {
      throw std::invalid_argument("factor model: a speed is not above 0 and finite");
    }
    observations.push_back({see(of), see(beside), -std::log(speed), 1});
  };
  for (const SpeedTable::Row& row : table.rows) {
    if (row.a == row.b && !std::isnan(row.speed_a) && !std::isnan(row.speed_b)) {
      add(row.a, row.b, (row.speed_a + row.speed_b) / 2);  // two copies of one job: one entry
    } else {
      add(row.a, row.b, row.speed_a);
      add(row.b, row.a, row.speed_b);
    }
  }
  if (observations.empty()) throw std::invalid_argument("factor model: no measured speed");

  double sum = 0;
  for (const Observation& o : observations) sum += o.target;
  model.target_mean_ = sum / static_cast<double>(observations.size());
  double squares = 0;
  for (const Observation& o : observations) {
    squares += (o.target - model.target_mean_) * (o.target - model.target_mean_);
  }
  constexpr double kLeastDeviation = 0.01;
  model.target_deviation_ =
      std::max(kLeastDeviation, std::sqrt(squares / static_cast<double>(observations.size())));
  for (Observation& o : observations) {
    o.target = (o.target - model.target_mean_) / model.target_deviation_;
  }

  // x, standardised over the jobs seen; what a job lacks is their mean.
  std::vector<std::vector<double>> raw;
  for (const std::size_t job : seen) raw.push_back(model.expand({table.of(job), given}));
  const std::size_t width = raw.front().size();
  model.mean_.assign(width, 0);
  model.deviation_.assign(width, 0);
  for (std::size_t f = 0; f < width; ++f) {
    double total = 0;
    double count = 0;
    for (const std::vector<double>& x : raw) {
      if (std::isnan(x[f])) continue;
      total += x[f];
      count += 1;
    }
    model.mean_[f] = count > 0 ? total / count : 0;
    double square = 0;
    for (const std::vector<double>& x : raw) {
      if (!std::isnan(x[f])) square += (x[f] - model.mean_[f]) * (x[f] - model.mean_[f]);
    }
    model.deviation_[f] = count > 0 ? std::sqrt(square / count) : 0;
  }
  for (const std::size_t job : seen) {
    model.position_.emplace(table.jobs[job], model.keys_.size());
    model.keys_.push_back(table.jobs[job]);
    const auto z = model.standardise({table.of(job), given});
    model.landmarks_.insert(model.landmarks_.end(), z.begin(), z.end());
  }

  // Kernel features: k(x, seen) V omega^(-1/2).
  const auto n = static_cast<Eigen::Index>(seen.size());
  Matrix kernel(n, n);
  for (Eigen::Index i = 0; i < n; ++i) {
    for (Eigen::Index j = 0; j < n; ++j) {
      double square = 0;
      for (std::size_t f = 0; f < width; ++f) {
        const double d = model.landmarks_[static_cast<std::size_t>(i) * width + f] -
                         model.landmarks_[static_cast<std::size_t>(j) * width + f];
        square += d * d;
      }
      kernel(i, j) = std::exp(-square / 2);
    }
  }
  const Eigen::SelfAdjointEigenSolver<Matrix> eigen(kernel);
  std::vector<Eigen::Index> kept;
  for (Eigen::Index e = n; e-- > 0 && std::ssize(kept) < kMostKernelFeatures;) {
    if (width > 0 && eigen.eigenvalues()(e) > kLeastEigenvalue) kept.push_back(e);
  }
  model.kernel_features_ = kept.size();
  for (Eigen::Index i = 0; i < n; ++i) {
    for (const Eigen::Index e : kept) {
      // A sign of its own for every direction, or the solver's choice would reach the draws.
      Eigen::Index largest = 0;
      eigen.eigenvectors().col(e).cwiseAbs().maxCoeff(&largest);
      const double sign = eigen.eigenvectors()(largest, e) < 0 ? -1 : 1;
      model.kernel_root_.push_back(sign * eigen.eigenvectors()(i, e) /
                                   std::sqrt(eigen.eigenvalues()(e)));
    }
  }

  Matrix basis(n, static_cast<Eigen::Index>(1 + width + model.kernel_features_));
  for (Eigen::Index i = 0; i < n; ++i) {
    const auto row = model.basis(
        std::span(model.landmarks_).subspan(static_cast<std::size_t>(i) * width, width));
    for (Eigen::Index c = 0; c < basis.cols(); ++c) {
      basis(i, c) = row[static_cast<std::size_t>(c)];
    }
  }

  std::vector<std::vector<Sample>> samples(options.chains.size());
  const auto run = [&](std::size_t c) {
    samples[c] = Chain(basis, observations, options.chains[c], options, c).run();
  };
  std::vector<std::future<void>> running;
  for (std::size_t c = 0; c < options.chains.size(); ++c) {
    if (options.threads == 1) {
      run(c);
      continue;
    }
    if (running.size() >= static_cast<std::size_t>(options.threads)) {
      running.front().get();
      running.erase(running.begin());
    }
    running.push_back(std::async(std::launch::async, run, c));
  }
  for (std::future<void>& one : running) one.get();
  for (std::vector<Sample>& of_chain : samples) {
    for (Sample& s : of_chain) model.samples_.push_back(std::move(s));
  }
  return model;
}

std::vector<double> FactorModel::expand(std::span<const double> features) const {
  if (features.size() != features_.size()) {
    throw std::invalid_argument("factor model: a job has " + std::to_string(features.size()) +
                                " features, the model " + std::to_string(features_.size()));
  }
  std::vector<double> x;
  std::vector<double> logs;
  for (std::size_t f = 0; f < features.size(); ++f) {
    x.push_back(scaled(features[f], features_[f].scale));
    if (features_[f].scale == FeatureScale::kLog) logs.push_back(x.back());
  }
  for (std::size_t i = 0; i < logs.size(); ++i) {
    for (std::size_t j = i + 1; j < logs.size(); ++j) x.push_back(logs[i] - logs[j]);
  }
  return x;
}

std::vector<double> FactorModel::standardise(std::span<const double> features) const {
  std::vector<double> z = expand(features);
  for (std::size_t f = 0; f < z.size(); ++f) {
    z[f] = std::isnan(z[f]) || deviation_[f] == 0 ? 0 : (z[f] - mean_[f]) / deviation_[f];
  }
  return z;
}

std::vector<double> FactorModel::basis(std::span<const double> standardised) const {
  const std::size_t width = standardised.size();
  std::vector<double> phi{1};
  phi.insert(phi.end(), standardised.begin(), standardised.end());
  phi.resize(1 + width + kernel_features_, 0);
  for (std::size_t j = 0; j < keys_.size() && kernel_features_ > 0; ++j) {
    double square = 0;
    for (std::size_t f = 0; f < width; ++f) {
      const double d = standardised[f] - landmarks_[j * width + f];
      square += d * d;
    }
    const double k = std::exp(-square / 2);
    for (std::size_t e = 0; e < kernel_features_; ++e) {
      phi[1 + width + e] += k * kernel_root_[j * kernel_features_ + e];
    }
  }
  return phi;
}

/// Where a job's factors come from.
struct FactorModel::Resolved {
  std::optional<std::size_t> position;
  std::vector<double> phi;  ///< of a job never seen
};

FactorModel::Resolved FactorModel::resolve(const PairJob& job) const {
  if (const auto at = position_.find(job.workload); at != position_.end()) {
    return {at->second, {}};
  }
  return {std::nullopt, basis(standardise(job.features))};
}

SpeedPrediction FactorModel::predict(const PairJob& of, const PairJob& beside) const {
  const Resolved i = resolve(of);
  const Resolved j = resolve(beside);
  double mean = 0;   // of the expected r over the samples
  double drawn = 0;  // of r with a never seen job's own deviation drawn
  double square = 0;
  double noise = 0;
  std::vector<double> a;
  std::vector<double> b;
  std::vector<double> scatter;
  for (std::size_t s = 0; s < samples_.size(); ++s) {
    const Sample& sample = samples_[s];
    const auto k = static_cast<std::size_t>(sample.rank) + 1;
    const std::size_t d = 2 * k;
    // Factors of one job in one role, expected; `spread` gets what it may deviate by.
    const auto factors = [&](const Resolved& job, const std::vector<float>& known, std::size_t from,
                             std::uint64_t role, std::vector<double>& out,
                             std::vector<double>& spread) {
      out.assign(k, 0);
      spread.assign(k, 0);
      if (job.position) {
        for (std::size_t c = 0; c < k; ++c) out[c] = known[*job.position * k + c];
        return;
      }
      for (std::size_t q = 0; q < job.phi.size(); ++q) {
        for (std::size_t c = 0; c < k; ++c) out[c] += job.phi[q] * sample.beta[q * d + from + c];
      }
      // Fixed draws per sample and role: the same question has the same answer.
      Rng rng(role, Stream::kFactors, s);
      scatter.assign(d, 0);
      for (double& z : scatter) z = rng.normal();
      for (std::size_t c = 0; c < k; ++c) {
        for (std::size_t e = 0; e <= from + c; ++e) {
          spread[c] += sample.scatter[(from + c) * d + e] * scatter[e];
        }
      }
    };
    std::vector<double> da;
    std::vector<double> db;
    factors(i, sample.own, 0, 1, a, da);
    factors(j, sample.partner, k, 2, b, db);
    double expected = a[0] + b[0];
    double r = a[0] + da[0] + b[0] + db[0];
    for (std::size_t c = 1; c < k; ++c) {
      expected += a[c] * b[c];
      r += (a[c] + da[c]) * (b[c] + db[c]);
    }
    mean += expected;
    drawn += r;
    square += r * r;
    noise += static_cast<double>(sample.noise) * sample.noise;
  }
  const auto n = static_cast<double>(samples_.size());
  mean /= n;
  drawn /= n;
  const double variance =
      std::max(0.0, square / n - drawn * drawn) + noise / n * freedom_ / (freedom_ - 2);
  const double sd = target_deviation_ * std::sqrt(variance);
  const double t = target_mean_ + target_deviation_ * mean;
  SpeedPrediction out;
  out.speed = std::exp(-t);
  out.sd = out.speed * sd;
  out.lo = std::exp(-(t + kReach * sd));
  out.hi = std::exp(-(t - kReach * sd));
  return out;
}

FactorModel::State FactorModel::state() const {
  return {features_,         keys_,    mean_,   deviation_, landmarks_, kernel_root_, target_mean_,
          target_deviation_, freedom_, samples_};
}

FactorModel FactorModel::from(State state) {
  FactorModel m;
  const std::size_t width = state.mean.size();
  const std::size_t n = state.keys.size();
  const auto logs = static_cast<std::size_t>(
      std::count_if(state.features.begin(), state.features.end(),
                    [](const auto& f) { return f.scale == FeatureScale::kLog; }));
  const auto require = [](bool fine, const char* what) {
    if (!fine) throw std::invalid_argument(std::string("factor model: ") + what);
  };
  require(n > 0 &&
              width == state.features.size() + logs * (logs - std::min<std::size_t>(logs, 1)) / 2 &&
              state.deviation.size() == width && state.landmarks.size() == n * width &&
              state.kernel_root.size() % n == 0,
          "sizes of features and jobs do not fit each other");
  m.kernel_features_ = state.kernel_root.size() / n;
  require(m.kernel_features_ <= static_cast<std::size_t>(kMostKernelFeatures),
          "too many kernel features");
  const std::size_t q = 1 + width + m.kernel_features_;
  require(!state.samples.empty(), "no samples");
  for (const Sample& s : state.samples) {
    const auto k = static_cast<std::size_t>(std::max(0, s.rank)) + 1;
    require(s.rank >= 1 && s.own.size() == n * k && s.partner.size() == n * k &&
                s.beta.size() == q * 2 * k && s.scatter.size() == 4 * k * k,
            "sizes of a sample do not fit");
  }
  m.features_ = std::move(state.features);
  m.keys_ = std::move(state.keys);
  for (std::size_t i = 0; i < n; ++i) {
    require(m.position_.emplace(m.keys_[i], i).second, "a job is listed twice");
  }
  m.mean_ = std::move(state.mean);
  m.deviation_ = std::move(state.deviation);
  m.landmarks_ = std::move(state.landmarks);
  m.kernel_root_ = std::move(state.kernel_root);
  m.target_mean_ = state.target_mean;
  m.target_deviation_ = state.target_deviation;
  m.freedom_ = state.freedom;
  m.samples_ = std::move(state.samples);
  return m;
}

}  // namespace corun
