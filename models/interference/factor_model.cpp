#include "models/interference/factor_model.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include <nlohmann/json.hpp>

#include "models/interference/factors/basis.hpp"
#include "models/interference/factors/fit.hpp"
#include "models/interference/factors/refuse.hpp"
#include "models/interference/fits/observations.hpp"
#include "sim/rng.hpp"

namespace corun::inline models {

namespace {

/// Half-width of a 90 % interval in standard deviations: between 1.645 of a normal (the posterior) and 1.587
/// of a Student t with 6 degrees of freedom (the noise).
constexpr double kHalfWidth = 1.62;

}  // namespace

FactorModel FactorModel::fit(const SpeedTable& table, const FactorOptions& options) {
  FactorModel model(factors::fit(table, options));
  model.state_.residual_sigma = excess_scatter(model, table);
  model.set_effort(options.effort);
  return model;
}

FactorModel FactorModel::fit(const SpeedTable& table, const FitOptions& options) {
  FactorOptions factors;
  factors.seed = options.seed;
  factors.threads = options.threads;
  factors.effort = options.effort;
  return fit(table, factors);
}

/// The factors of one job in all samples.
struct FactorModel::Resolved {
  bool seen = false;
  /// Expected (a, u, b, v) of the first sample, then of the second, and so on.
  std::vector<double> factors;
  /// Only for an unseen job, by sample: the standard deviation of its factors, over that of a job whose
  /// kernel features leave no variance.
  std::vector<double> deviation_scale;
};

FactorModel::Resolved FactorModel::resolve(const PairJob& job) const {
  Resolved out;
  out.factors.reserve(factors_);
  if (const auto at = position_.find(job.workload); at != position_.end()) {
    out.seen = true;
    for (const Sample& sample : state_.samples) {
      const auto k = static_cast<std::size_t>(sample.rank) + 1;
      for (const auto* role : {&sample.job, &sample.co_runner}) {
        const float* const row = role->data() + at->second * k;
        out.factors.insert(out.factors.end(), row, row + k);
      }
    }
    return out;
  }
  const std::vector<double> phi =
      factors::basis_of(state_, factors::standardised(state_, job.features));
  const std::size_t kernel_features = factors::kernel_features(state_);
  // The variance of the process that the kernel features leave; it grows with the distance from the seen
  // jobs.
  double left = kernel_features > 0 ? factors::kKernelOfItself : 0;
  for (std::size_t q = phi.size() - kernel_features; q < phi.size(); ++q) left -= phi[q] * phi[q];
  for (const Sample& sample : state_.samples) {
    out.deviation_scale.push_back(std::sqrt(1 + std::max(0.0, left) / sample.strength));
    const std::size_t d = 2 * (static_cast<std::size_t>(sample.rank) + 1);
    out.factors.resize(out.factors.size() + d, 0);
    double* const expected = out.factors.data() + out.factors.size() - d;
    for (std::size_t q = 0; q < phi.size(); ++q) {
      const float* const row = sample.beta.data() + q * d;
      for (std::size_t c = 0; c < d; ++c) expected[c] += phi[q] * row[c];
    }
  }
  return out;
}

/// `same_job`: both have the same workload.
SpeedPrediction FactorModel::combine(const Resolved& of, const Resolved& beside,
                                     bool same_job) const {
  static constexpr std::array<double, 2 * (kMostRank + 1)> kNone{};
  double mean = 0;   // of the expected r over the samples
  double drawn = 0;  // mean of r with drawn deviations for unseen jobs
  double square = 0;
  double noise = 0;
  std::size_t at = 0;
  for (std::size_t s = 0; s < state_.samples.size(); ++s) {
    const Sample& sample = state_.samples[s];
    const auto k = static_cast<std::size_t>(sample.rank) + 1;
    const double* const job = of.factors.data() + at;
    const double* const co_runner = beside.factors.data() + at + k;
    const double job_scale = of.seen ? 0 : of.deviation_scale[s];
    const double co_runner_scale = beside.seen ? 0 : beside.deviation_scale[s];
    const double* const job_off = of.seen ? kNone.data() : deviations_[0].data() + at;
    const double* const co_runner_off =
        beside.seen ? kNone.data() : deviations_[same_job ? 0 : 1].data() + at + k;
    at += 2 * k;
    double expected = job[0] + co_runner[0];
    double r = expected + job_scale * job_off[0] + co_runner_scale * co_runner_off[0];
    for (std::size_t c = 1; c < k; ++c) {
      expected += job[c] * co_runner[c];
      r += (job[c] + job_scale * job_off[c]) * (co_runner[c] + co_runner_scale * co_runner_off[c]);
    }
    if (same_job && !of.seen) expected += job_scale * co_runner_scale * affinity_[s];
    if (s < state_.predicting) mean += expected;
    drawn += r;
    square += r * r;
    noise += static_cast<double>(sample.noise) * sample.noise;
  }
  const auto n = static_cast<double>(state_.samples.size());
  mean /= static_cast<double>(state_.predicting);
  drawn /= n;
  const double off = drawn - mean;  // the offset of all samples from those that predict
  const double variance = std::max(0.0, square / n - drawn * drawn) + off * off +
                          noise / n * state_.freedom / (state_.freedom - 2);
  const double sd = state_.target_deviation * std::sqrt(variance);
  const double t = state_.target_mean + state_.target_deviation * mean;
  SpeedPrediction out;
  out.speed = std::min(speed_of(t), kFastest);
  out.sd = std::min(out.speed * sd, 1.0);
  out.lo = std::min(speed_of(t + kHalfWidth * sd), out.speed);
  out.hi = speed_of(t - kHalfWidth * sd);
  return out;
}

std::vector<SpeedPrediction> FactorModel::predict(std::span<const PairJob> jobs,
                                                  std::span<const PairQuery> pairs) const {
  std::vector<Resolved> resolved(jobs.size());
  const auto job = [&](std::size_t position) -> const Resolved& {
    if (position >= jobs.size()) factors::refuse("a pair is of a job that is not there");
    Resolved& one = resolved[position];
    if (one.factors.empty()) one = resolve(jobs[position]);
    return one;
  };
  std::vector<SpeedPrediction> out;
  out.reserve(pairs.size());
  for (const auto& [i, j] : pairs) {
    const Resolved& of = job(i);
    const Resolved& beside = job(j);
    const bool same_job =
        i == j || (jobs[i].workload == jobs[j].workload && jobs[i].workload != kUnknownWorkload);
    out.push_back(combine(of, beside, same_job));
  }
  return out;
}

std::vector<double> FactorModel::sample(std::span<const PairJob> jobs,
                                        std::span<const PairQuery> pairs,
                                        std::uint64_t draw) const {
  Rng rng(draw, Stream::kModelDraws);
  const std::size_t chosen = rng.below(static_cast<std::uint32_t>(state_.predicting));
  const Sample& sample = state_.samples[chosen];
  std::size_t at = 0;
  for (std::size_t s = 0; s < chosen; ++s) at += 2 * (std::size_t(state_.samples[s].rank) + 1);
  const std::size_t k = static_cast<std::size_t>(sample.rank) + 1;
  const std::size_t d = 2 * k;
  std::vector<std::vector<double>> factors(jobs.size());
  const auto job = [&](std::size_t position) -> const std::vector<double>& {
    if (position >= jobs.size()) factors::refuse("a pair is of a job that is not there");
    std::vector<double>& one = factors[position];
    if (!one.empty()) return one;
    const Resolved all = resolve(jobs[position]);
    const auto first = all.factors.begin() + static_cast<std::ptrdiff_t>(at);
    one.assign(first, first + static_cast<std::ptrdiff_t>(d));
    if (all.seen) return one;
    Rng rng_of_job(draw, Stream::kModelDraws, 1 + position);
    std::vector<double> z(d);
    for (double& x : z) x = rng_of_job.normal();
    for (std::size_t c = 0; c < d; ++c) {
      for (std::size_t e = 0; e <= c; ++e) {
        one[c] += all.deviation_scale[chosen] * sample.scatter[c * d + e] * z[e];
      }
    }
    return one;
  };
  std::vector<double> out;
  out.reserve(pairs.size());
  for (const auto& [i, j] : pairs) {
    const std::vector<double>& slowed = job(i);
    const std::vector<double>& co_runner = job(j);
    double r = slowed[0] + co_runner[k];
    for (std::size_t c = 1; c < k; ++c) r += slowed[c] * co_runner[k + c];
    out.push_back(speed_of(state_.target_mean + state_.target_deviation * r));
  }
  return out;
}

FactorModel::FactorModel(State state) : state_(std::move(state)) {
  index();
  draw_deviations();
}

/// Sets the members that follow from the jobs of the state.
void FactorModel::index() {
  for (std::size_t i = 0; i < state_.keys.size(); ++i) {
    if (state_.keys[i] == kUnknownWorkload) continue;
    if (!position_.emplace(state_.keys[i], i).second) factors::refuse("a workload is listed twice");
  }
}

/// Sets the members that follow from the samples. The random streams are the same for every job and model, so
/// equal questions have equal answers.
void FactorModel::draw_deviations() {
  std::vector<double> z;
  for (std::size_t s = 0; s < state_.samples.size(); ++s) {
    const Sample& sample = state_.samples[s];
    const auto k = static_cast<std::size_t>(sample.rank) + 1;
    const std::size_t d = 2 * k;
    for (std::size_t role = 0; role < deviations_.size(); ++role) {
      Rng rng(role, Stream::kFactorDraws, s);
      z.resize(d);
      for (double& one : z) one = rng.normal();
      for (std::size_t c = 0; c < d; ++c) {
        double sum = 0;
        for (std::size_t e = 0; e <= c; ++e) sum += sample.scatter[c * d + e] * z[e];
        deviations_[role].push_back(sum);
      }
    }
    double trace = 0;
    for (std::size_t c = 1; c < k; ++c) {
      for (std::size_t e = 0; e <= c; ++e) {
        trace += static_cast<double>(sample.scatter[c * d + e]) * sample.scatter[(k + c) * d + e];
      }
    }
    affinity_.push_back(trace);
    factors_ += d;
  }
}

FactorModel FactorModel::from(State state) {
  factors::check(state);
  return FactorModel(std::move(state));
}

nlohmann::json FactorModel::save() const { return factors::save(state_); }

FactorModel FactorModel::load(const nlohmann::json& saved,
                              std::vector<SpeedTable::Feature> features,
                              std::vector<WorkloadKey> workloads) {
  return from(factors::load(saved, std::move(features), std::move(workloads)));
}

}  // namespace corun::inline models
