#include "predictors/physics/step_time_process.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <numeric>
#include <stdexcept>

#include <nlohmann/json.hpp>

#include "models/model_state.hpp"
#include "sim/base/math.hpp"

namespace corun::inline predictors {

namespace {

constexpr std::size_t kHostTerms = kTimeTerms - kGpuTerms;
constexpr std::size_t kFirstHostTerm = StepRow::kTerms - kHostTerms;

/// Prior coefficients of training, in the order of StepRow::terms: old and middle cuDNN's Winograd, then
/// TimeTerm. Arithmetic of 3 x 3 windows at 75 % of the peak takes 4 times its forward part for a step of training
/// (forward, both gradients), and so on; launches are microseconds for both passes.
constexpr std::array<double, StepRow::kTerms> kPriorCoefficients{
    4, 4, 4, 2.5, 4, 8, 30, 1, 4, 6, 3, 4, 4, 4, 150, 100, 60, 10, 1};
constexpr double kInferenceShare = 1.0 / 3;
constexpr int kCoefficientSteps = 60;
constexpr double kConverged = 1e-10;  ///< relative decrease of the loss
/// Without a group of rows, from the coefficients of all.
constexpr int kHeldOutSteps = 20;
constexpr double kHeldOutConverged = 1e-6;
constexpr std::size_t kFewestWithout = 20;
/// Leaving rows out costs little (fit_spread()): up to so many groups are left out one at a time.
constexpr HoldOutFolds kRowFolds{.jobs = 10, .gpus = 10};

/// Prior standard deviations of the kernels of ln time, and of the noise.
constexpr std::array<double, StepTimeProcess::kKernels + 1> kPriorDeviations{
    .10, .05, .03, .10, .03, .03, .10, .05, .05, .03, .05, .05, .05, .03};
constexpr int kVarianceSteps = 25;
constexpr double kJitter = 1e-8;
constexpr double kWidthWithoutRows = 2;  ///< standard deviations, for 90 %
constexpr double kNormal90 = 1.6448536269514722;
constexpr double kNormal99 = 2.3263478740408408;  // one-sided
constexpr double kMostLogMs = 700;                ///< a time stays finite

// Generations of cuDNN, by version: Winograd's algorithm came with 5000, for all sizes with 5100.
constexpr double kFirstWinograd = 5000, kFullWinograd = 5100;

double same(std::uint64_t a, std::uint64_t b) { return a != 0 && a == b ? 1 : 0; }

template <std::size_t kSize>
double smooth(const std::array<double, kSize>& a, const std::array<double, kSize>& b) {
  double squares = 0;
  for (std::size_t i = 0; i < kSize; ++i) squares += (a[i] - b[i]) * (a[i] - b[i]);
  return math::exp(-0.5 * squares);
}

struct Sums {
  double gpu = 0, host = 0;
};

using Terms = std::array<double, StepRow::kTerms>;

/// `coefficients`: not their logarithms.
Sums sums_of(const Terms& terms, const Terms& coefficients) {
  Sums sums;
  for (std::size_t t = 0; t < StepRow::kTerms; ++t) {
    (t < kFirstHostTerm ? sums.gpu : sums.host) += terms[t] * coefficients[t];
  }
  return sums;
}

Terms exponentials(const Terms& logs) {
  Terms out{};
  for (std::size_t t = 0; t < out.size(); ++t) out[t] = math::exp(logs[t]);
  return out;
}

/// ln ms of a step by the roofline.
double log_physics(const Terms& terms, const Terms& coefficients) {
  const Sums sums = sums_of(terms, coefficients);
  return 0.5 * math::log(sums.gpu * sums.gpu + sums.host * sums.host);
}

Terms prior_coefficients(bool inference) {
  Terms prior{};
  for (std::size_t t = 0; t < prior.size(); ++t) {
    prior[t] = math::log(kPriorCoefficients[t] * (inference ? kInferenceShare : 1));
  }
  return prior;
}

/// How far the coefficients are followed.
struct Descent {
  int steps;
  double converged;
};

/// Logarithms of the coefficients that minimise the robust loss, by Levenberg and Marquardt's steps from `start` on
/// squares that are weighted anew each time.
Terms fitted_coefficients(std::span<const StepRow* const> rows, const Terms& start,
                          const Terms& prior, const PhysicsConstants& constants,
                          const Descent& descent) {
  const double soft = constants.soft, prior_weight = constants.coefficient_prior;
  const auto rho = [&](double e) {
    return 2 * soft * soft * (std::sqrt(1 + e * e / (soft * soft)) - 1);
  };
  const auto loss = [&](const Terms& logs) {
    const Terms coefficients = exponentials(logs);
    double sum = 0;
    for (const StepRow* row : rows) sum += rho(log_physics(row->terms, coefficients) - row->log_ms);
    for (std::size_t t = 0; t < prior.size(); ++t) {
      sum += rho(prior_weight * (logs[t] - prior[t]));
    }
    return sum;
  };
  constexpr auto kSize = static_cast<Eigen::Index>(StepRow::kTerms);
  Terms logs = start;
  double damping = 1e-3;
  double best = loss(logs);
  for (int step = 0; step < descent.steps; ++step) {
    const Terms coefficients = exponentials(logs);
    Eigen::MatrixXd normal = Eigen::MatrixXd::Zero(kSize, kSize);
    Eigen::VectorXd right = Eigen::VectorXd::Zero(kSize);
    const auto weight = [&](double e) { return 1 / std::sqrt(1 + e * e / (soft * soft)); };
    for (const StepRow* row : rows) {
      const Sums sums = sums_of(row->terms, coefficients);
      const double squares = sums.gpu * sums.gpu + sums.host * sums.host;
      Eigen::VectorXd slope(kSize);
      for (std::size_t t = 0; t < StepRow::kTerms; ++t) {
        const double part = row->terms[t] * coefficients[t];
        slope[static_cast<Eigen::Index>(t)] =
            part * (t < kFirstHostTerm ? sums.gpu : sums.host) / squares;
      }
      const double error = 0.5 * math::log(squares) - row->log_ms;
      normal += weight(error) * slope * slope.transpose();
      right -= weight(error) * error * slope;
    }
    for (std::size_t t = 0; t < StepRow::kTerms; ++t) {
      const auto at = static_cast<Eigen::Index>(t);
      const double error = prior_weight * (logs[t] - prior[t]);
      normal(at, at) += weight(error) * prior_weight * prior_weight;
      right[at] -= weight(error) * error * prior_weight;
    }
    bool better = false;
    for (int attempt = 0; attempt < 10 && !better; ++attempt) {
      Eigen::MatrixXd damped = normal;
      damped.diagonal() *= 1 + damping;
      const Eigen::VectorXd move = damped.ldlt().solve(right);
      Terms moved = logs;
      for (std::size_t t = 0; t < StepRow::kTerms; ++t) {
        moved[t] += move[static_cast<Eigen::Index>(t)];
      }
      const double now = loss(moved);
      better = now < best;
      if (better) {
        logs = moved;
        damping = std::max(1e-9, damping / 5);
        const bool done = best - now < descent.converged * best;
        best = now;
        if (done) return logs;
      } else {
        damping *= 5;
      }
    }
    if (!better) break;
  }
  return logs;
}

}  // namespace

std::optional<StepRow> StepRow::of(const PredictorJob& job) {
  if (!job.graph) return std::nullopt;
  const TimeTerms terms = time_terms(*job.graph, job.figures);
  if (std::isnan(terms[0])) return std::nullopt;
  StepRow row;
  row.groups = job.groups;
  const JobFigures& f = job.figures;
  const double version = f.library_version;
  row.library = version > 0 ? static_cast<std::uint64_t>(version) : 0;
  const std::size_t winograd = static_cast<std::size_t>(TimeTerm::kWinograd);
  for (std::size_t t = 0; t < kTimeTerms; ++t) row.terms[t + 2] = terms[t];
  if (version < kFullWinograd) {  // false if it is not known
    row.terms[version < kFirstWinograd ? 0 : 1] = terms[winograd];
    row.terms[winograd + 2] = 0;
  }
  double windows = 0, special = 0, elements = 0;
  const ComputationGraph& graph = *job.graph;
  const double samples = static_cast<double>(graph.samples());
  for (ComputationGraph::Node node = 0; node < graph.size(); ++node) {
    const Operation& op = graph[node];
    if (op.kind == OperationKind::kView || op.kind == OperationKind::kInput) continue;
    elements += op.repeats * static_cast<double>(graph.elements(node)) / samples;
    for (const ComputationGraph::Node input : graph.inputs(node)) {
      elements += op.repeats * static_cast<double>(graph.elements(input)) / samples;
    }
    if (op.kind != OperationKind::kConvolution) continue;
    const double in_channels =
        op.inner_length / static_cast<double>(op.window) * static_cast<double>(op.groups);
    const bool depthwise = op.groups > 1 && static_cast<double>(op.groups) == in_channels;
    if (op.window > 1 && !depthwise) windows += op.repeats * op.multiply_adds / samples;
    if (op.groups > 1) special += 1;
  }
  const double convolutions = std::max(1.0, f.convolutions);
  const double multiply_adds = std::max(1.0, f.multiply_adds);
  const GraphTotals totals = totals_of(graph);
  row.model = {math::log(multiply_adds * f.batch / 1e9) / 2,
               math::log(multiply_adds / std::max(elements, 1.0)),
               math::log(convolutions),
               math::log(std::max(f.parameters, 1.0) / 1e6) / 2,
               2 * windows / multiply_adds,
               2 * special / convolutions,
               2 * f.normalisations / convolutions,
               2.0 * totals.count(OperationKind::kConcatenation) / convolutions};
  row.gpu = {math::log(f.convolution_tflops / 10), math::log(f.bandwidth_gbs / 500),
             math::log(f.l2_mib / 4), math::log(f.sms / 40)};
  return row;
}

double StepTimeProcess::physics(const StepRow& row) const {
  return log_physics(row.terms, exponentials(log_coefficients_));
}

std::array<double, 3> StepTimeProcess::shares(const StepRow& row) const {
  const Terms coefficients = exponentials(log_coefficients_);
  const Sums sums = sums_of(row.terms, coefficients);
  double arithmetic = 0;
  // Arithmetic: both older Winograds, the six terms of convolutions, and products.
  const auto is_arithmetic = [](std::size_t t) {
    return t < 8 || t == static_cast<std::size_t>(TimeTerm::kProducts) + 2;
  };
  for (std::size_t t = 0; t < kFirstHostTerm; ++t) {
    if (is_arithmetic(t)) arithmetic += row.terms[t] * coefficients[t];
  }
  const double gpu = sums.gpu * sums.gpu / (sums.gpu * sums.gpu + sums.host * sums.host);
  const double of_arithmetic = sums.gpu > 0 ? arithmetic / sums.gpu * gpu : 0;
  return {of_arithmetic, gpu - of_arithmetic, 1 - gpu};
}

std::array<double, StepTimeProcess::kKernels> StepTimeProcess::kernels(
    const StepRow& a, const std::array<double, 3>& shares_a, const StepRow& b,
    const std::array<double, 3>& shares_b) const {
  const double alike =
      shares_a[0] * shares_b[0] + shares_a[1] * shares_b[1] + shares_a[2] * shares_b[2];
  const double gpu = same(a.groups.gpu, b.groups.gpu);
  const double host = same(a.groups.host, b.groups.host);
  const double family = same(a.groups.family, b.groups.family);
  const double model = smooth(a.model, b.model);
  const double library = libraries_ ? same(a.library, b.library) : 0;
  return {gpu * alike,
          same(a.groups.architecture, b.groups.architecture),
          host,
          host * alike,
          same(a.groups.model, b.groups.model) * alike,
          model,
          family * alike,
          family * gpu,
          model * smooth(a.gpu, b.gpu),
          model * host,
          library,
          library * alike,
          library * family};
}

void StepTimeProcess::fit_coefficients(const Coefficients& prior,
                                       const PhysicsConstants& constants) {
  std::vector<const StepRow*> rows;
  for (const StepRow& row : rows_) rows.push_back(&row);
  log_coefficients_ =
      fitted_coefficients(rows, prior, prior, constants, {kCoefficientSteps, kConverged});
}

void StepTimeProcess::fit_variances(const PhysicsConstants& constants) {
  const std::size_t n = rows_.size();
  const auto size = static_cast<Eigen::Index>(n);
  std::vector<Eigen::MatrixXd> all(kKernels, Eigen::MatrixXd(size, size));
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = 0; j <= i; ++j) {
      const auto values = kernels(rows_[i], shares_[i], rows_[j], shares_[j]);
      for (std::size_t k = 0; k < kKernels; ++k) {
        all[k](static_cast<Eigen::Index>(i), static_cast<Eigen::Index>(j)) = values[k];
        all[k](static_cast<Eigen::Index>(j), static_cast<Eigen::Index>(i)) = values[k];
      }
    }
  }
  std::array<double, kKernels + 1> prior{};
  for (std::size_t k = 0; k < prior.size(); ++k) {
    const double deviation = constants.deviation_factor * kPriorDeviations[k];
    prior[k] = deviation * deviation;
  }
  variances_ = prior;
  Eigen::VectorXd residual(size);
  for (std::size_t i = 0; i < n; ++i) {
    residual[static_cast<Eigen::Index>(i)] = rows_[i].log_ms - physics(rows_[i]);
  }
  for (int step = 0; step < kVarianceSteps; ++step) {
    Eigen::MatrixXd v = Eigen::MatrixXd::Zero(size, size);
    for (std::size_t k = 0; k < kKernels; ++k) v += variances_[k] * all[k];
    v.diagonal().array() += variances_[kKernels] + kJitter;
    const Eigen::LLT<Eigen::MatrixXd> factor(v);
    const Eigen::MatrixXd inverse = factor.solve(Eigen::MatrixXd::Identity(size, size));
    const Eigen::VectorXd a = inverse * residual;
    // Multiplicative steps towards the greatest posterior density.
    for (std::size_t k = 0; k <= kKernels; ++k) {
      const bool noise = k == kKernels;
      const double fits = noise ? a.squaredNorm() : a.dot(all[k] * a);
      const double trace = noise ? inverse.trace() : inverse.cwiseProduct(all[k]).sum();
      const double was = variances_[k];
      variances_[k] = was * std::sqrt((fits + constants.freedom * prior[k] / (was * was)) /
                                      (trace + constants.freedom / was));
    }
  }
}

Eigen::MatrixXd StepTimeProcess::covariance() const {
  const std::size_t n = rows_.size();
  Eigen::MatrixXd v(static_cast<Eigen::Index>(n), static_cast<Eigen::Index>(n));
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = 0; j <= i; ++j) {
      const auto values = kernels(rows_[i], shares_[i], rows_[j], shares_[j]);
      double sum = 0;
      for (std::size_t k = 0; k < kKernels; ++k) sum += variances_[k] * values[k];
      v(static_cast<Eigen::Index>(i), static_cast<Eigen::Index>(j)) = sum;
      v(static_cast<Eigen::Index>(j), static_cast<Eigen::Index>(i)) = sum;
    }
  }
  v.diagonal().array() += variances_[kKernels] + kJitter;
  return v;
}

void StepTimeProcess::solve() {
  shares_.clear();
  factor_.reset();
  std::vector<JobGroups> groups;
  for (const StepRow& row : rows_) groups.push_back(row.groups);
  seen_ = SeenGroups(groups);
  if (rows_.empty()) return;
  for (const StepRow& row : rows_) shares_.push_back(shares(row));
  factor_.emplace(covariance());
  Eigen::VectorXd residual(static_cast<Eigen::Index>(rows_.size()));
  for (std::size_t i = 0; i < rows_.size(); ++i) {
    residual[static_cast<Eigen::Index>(i)] = rows_[i].log_ms - physics(rows_[i]);
  }
  weights_ = factor_->solve(residual);
  if (factor_->info() != Eigen::Success || !weights_.allFinite()) {
    throw std::invalid_argument("the rows' covariance is singular");
  }
}

void StepTimeProcess::fit_spread(const Coefficients& prior, const PredictorOptions& options) {
  const auto size = static_cast<Eigen::Index>(rows_.size());
  const Eigen::MatrixXd inverse = factor_->solve(Eigen::MatrixXd::Identity(size, size));
  std::vector<JobGroups> groups;
  for (const StepRow& row : rows_) groups.push_back(row.groups);
  // Without some rows the coefficients are fitted anew, from those of all. The covariance stays, so that one
  // factorisation gives the errors in closed form (Rasmussen and Williams 2006, section 5.4.2, for blocks of rows):
  // with P the inverse and L the rows left out, they have the mean P_LL^-1 (P r)_L and the covariance P_LL^-1.
  spread_ = ErrorSpread(
      held_out_errors(groups, options.seed, kRowFolds,
                      [&](std::span<const std::size_t> train, std::span<const std::size_t> test) {
                        std::vector<HeldOutError> errors;
                        if (train.size() < kFewestWithout) return errors;
                        std::vector<const StepRow*> known;
                        std::vector<bool> is_known(rows_.size(), false);
                        for (const std::size_t j : train) {
                          known.push_back(&rows_[j]);
                          is_known[j] = true;
                        }
                        const Terms coefficients = exponentials(
                            fitted_coefficients(known, log_coefficients_, prior, options.constants,
                                                {kHeldOutSteps, kHeldOutConverged}));
                        Eigen::VectorXd residual(size);
                        std::vector<Eigen::Index> left_out;
                        std::vector<std::size_t> place(rows_.size(), 0);  // among those left out
                        for (std::size_t j = 0; j < rows_.size(); ++j) {
                          const auto at = static_cast<Eigen::Index>(j);
                          residual[at] =
                              rows_[j].log_ms - log_physics(rows_[j].terms, coefficients);
                          if (is_known[j]) continue;
                          place[j] = left_out.size();
                          left_out.push_back(at);
                        }
                        const auto count = static_cast<Eigen::Index>(left_out.size());
                        const Eigen::MatrixXd block = inverse(left_out, left_out);
                        const Eigen::MatrixXd covariance =
                            block.llt().solve(Eigen::MatrixXd::Identity(count, count));
                        const Eigen::VectorXd weights = (inverse * residual)(left_out);
                        const Eigen::VectorXd error = covariance * weights;
                        for (const std::size_t j : test) {
                          const auto at = static_cast<Eigen::Index>(place[j]);
                          HeldOutError one;
                          one.job = j;
                          one.error = error[at];
                          one.scale = std::sqrt(covariance(at, at));
                          if (std::isfinite(one.error) && one.scale > 0) errors.push_back(one);
                        }
                        return errors;
                      }),
      kNormal90);
}

StepTimeProcess StepTimeProcess::fit(std::vector<StepRow> rows, bool inference,
                                     const PredictorOptions& options) {
  StepTimeProcess process;
  process.rows_ = std::move(rows);
  process.libraries_ =
      std::ranges::any_of(process.rows_, [](const StepRow& row) { return row.library != 0; });
  const Coefficients prior = prior_coefficients(inference);
  process.fit_coefficients(prior, options.constants);
  for (const StepRow& row : process.rows_) process.shares_.push_back(process.shares(row));
  process.fit_variances(options.constants);
  process.solve();
  if (options.intervals) process.fit_spread(prior, options);
  return process;
}

StepTimeProcess StepTimeProcess::built_in(bool inference) {
  constexpr std::array<double, StepRow::kTerms> kTraining{
      4, 4, 4.4, 1.2, 2.0, 22, 79, 0.50, 14, 7.5, 2.8, 4.7, 8.8, 4.3, 182, 126, 157, 10.5, 3.7};
  constexpr std::array<double, StepRow::kTerms> kInference{
      1.3, 1.3, 2.4, 0.42, 0.58, 3.4, 10, 0.14, 2.9, 1.9, 1.6, 1.1, 3.4, 1.3, 32, 21, 47, 3.0, 2.1};
  StepTimeProcess process;
  for (std::size_t t = 0; t < StepRow::kTerms; ++t) {
    process.log_coefficients_[t] = math::log((inference ? kInference : kTraining)[t]);
  }
  for (std::size_t k = 0; k < process.variances_.size(); ++k) {
    process.variances_[k] = kPriorDeviations[k] * kPriorDeviations[k];
  }
  process.spread_ =
      ErrorSpread(-kWidthWithoutRows, kWidthWithoutRows, kWidthWithoutRows * kNormal99 / kNormal90);
  return process;
}

StepTimeProcess StepTimeProcess::with(std::span<const StepRow> more) const {
  StepTimeProcess process = *this;
  process.rows_.insert(process.rows_.end(), more.begin(), more.end());
  process.solve();
  return process;
}

Prediction StepTimeProcess::predict(const StepRow& row) const {
  const std::array<double, 3> own = shares(row);
  Eigen::VectorXd k(static_cast<Eigen::Index>(rows_.size()));
  for (std::size_t i = 0; i < rows_.size(); ++i) {
    const auto values = kernels(row, own, rows_[i], shares_[i]);
    double sum = 0;
    for (std::size_t c = 0; c < kKernels; ++c) sum += variances_[c] * values[c];
    k[static_cast<Eigen::Index>(i)] = sum;
  }
  // The prior variance of a row: all its groups equal themselves, known or not.
  const double alike = own[0] * own[0] + own[1] * own[1] + own[2] * own[2];
  const std::array<double, kKernels> self{alike, 1, 1, alike, alike, 1, alike,
                                          1,     1, 1, 1,     alike, 1};
  double prior = 0;
  for (std::size_t c = 0; c < kKernels; ++c) {
    if (c < 10 || libraries_) prior += variances_[c] * self[c];
  }
  double explained = 0, residual = 0;
  if (factor_) {
    const Eigen::VectorXd solved = factor_->matrixL().solve(k);
    explained = solved.squaredNorm();
    residual = k.dot(weights_);
  }
  const double variance = std::max(0.0, prior - explained) + variances_[kKernels];
  const double mean = physics(row) + residual;
  Prediction p =
      spread_.around(mean, std::sqrt(variance), seen_.level(row.groups), math::exp(kMostLogMs));
  p.median = math::exp(mean - variance);
  p.lo = std::min(p.lo, p.median);
  return p;
}

nlohmann::json StepTimeProcess::save() const {
  using model_state::packed;
  std::vector<double> rows, digests;
  const auto bits = [](std::uint64_t digest) { return std::bit_cast<double>(digest); };
  for (const StepRow& row : rows_) {
    rows.insert(rows.end(), row.terms.begin(), row.terms.end());
    rows.insert(rows.end(), row.model.begin(), row.model.end());
    rows.insert(rows.end(), row.gpu.begin(), row.gpu.end());
    rows.push_back(row.log_ms);
    digests.insert(digests.end(),
                   {bits(row.groups.model), bits(row.groups.family), bits(row.groups.gpu),
                    bits(row.groups.host), bits(row.groups.architecture), bits(row.library)});
  }
  return {{"rows", packed(rows)},
          {"digests", packed(digests)},
          {"coefficients", packed(std::vector(log_coefficients_.begin(), log_coefficients_.end()))},
          {"variances", packed(std::vector(variances_.begin(), variances_.end()))},
          {"spread", spread_.save()}};
}

StepTimeProcess StepTimeProcess::load(const nlohmann::json& state) {
  using namespace model_state;
  map_of(state, 5, "a process of step times");
  constexpr std::size_t kNumbers =
      StepRow::kTerms + StepRow::kModelFigures + StepRow::kGpuFigures + 1;
  constexpr std::size_t kDigests = 6;
  constexpr std::size_t kMostRows = 5000;
  StepTimeProcess process;
  const std::vector<double> digests = doubles(state, "digests");
  const std::size_t n = digests.size() / kDigests;
  if (n == 0 || n > kMostRows || digests.size() != n * kDigests) {
    throw std::invalid_argument("an impossible number of rows");
  }
  const std::vector<double> numbers = finite_doubles(state, "rows", n * kNumbers);
  for (std::size_t i = 0; i < n; ++i) {
    StepRow& row = process.rows_.emplace_back();
    const double* at = numbers.data() + i * kNumbers;
    const auto take = [&](auto& into) {
      for (double& value : into) value = *at++;
    };
    take(row.terms);
    for (const double term : row.terms) {
      if (!(term >= 0 && term < 1e12)) throw std::invalid_argument("an impossible term");
    }
    take(row.model);
    take(row.gpu);
    row.log_ms = *at;
    const auto digest = [&](std::size_t d) {
      return std::bit_cast<std::uint64_t>(digests[i * kDigests + d]);
    };
    row.groups = {digest(0), digest(1), digest(2), digest(3), digest(4)};
    row.library = digest(5);
    process.libraries_ = process.libraries_ || row.library != 0;
  }
  const auto into = [&](const char* key, auto& values) {
    std::ranges::copy(finite_doubles(state, key, values.size()), values.begin());
  };
  into("coefficients", process.log_coefficients_);
  into("variances", process.variances_);
  for (const double log : process.log_coefficients_) {
    if (std::abs(log) > 100) throw std::invalid_argument("an impossible coefficient");
  }
  for (const double variance : process.variances_) {
    constexpr double kMostVariance = 1e3;  // of logarithms
    if (!(variance > 0 && variance <= kMostVariance)) {
      throw std::invalid_argument("an impossible variance");
    }
  }
  process.spread_ = ErrorSpread::load(state.at("spread"));
  process.solve();
  return process;
}

}  // namespace corun::inline predictors
