#include "models/interference/factor_model.hpp"

#include <algorithm>
#include <cmath>
#include <future>
#include <limits>
#include <set>
#include <stdexcept>
#include <string>

#include <Eigen/Dense>

#include "models/interference/gibbs_chain.hpp"
#include "models/interference/model_state.hpp"
#include "models/interference/observations.hpp"
#include "sim/rng.hpp"

namespace corun {

namespace {

using Matrix = Eigen::MatrixXd;

/// Directions of the kernel with less weight than this say nothing.
constexpr double kLeastEigenvalue = 1e-3;
/// The most kernel features: what they cost grows with their cube.
constexpr Eigen::Index kMostKernelFeatures = 64;
/// Half-width of a 90 % interval in standard deviations: between a normal's 1.645 and 1.587 of a
/// Student t with 6 degrees, since both posterior and noise scatter.
constexpr double kReach = 1.62;
/// Deviation of -log(speed) before any is seen, and how many speeds that counts for.
constexpr double kPriorDeviation = 0.3;
constexpr double kPriorCount = 2;
constexpr double kLeastDeviation = 0.01;
/// Features further from the mean than this many deviations count as this far: nobody has seen what
/// is out there, and factors that grow with them multiply.
constexpr double kFarthest = 10;
/// Larger features would overflow when squared.
constexpr double kLargestFeature = 1e100;

constexpr const char* kName = "factor model";

[[noreturn]] void refuse(const std::string& what) {
  throw std::invalid_argument(std::string(kName) + ": " + what);
}

void check_options(const FactorOptions& o) {
  if (o.chains.empty()) refuse("no chains");
  for (const FactorChain& c : o.chains) {
    if (c.rank < 1 || c.rank > FactorModel::kMostRank) {
      refuse("rank " + std::to_string(c.rank) + ", expected 1 to " +
             std::to_string(FactorModel::kMostRank));
    }
    if (!(c.spread > 0) || c.spread > 1e6) refuse("spread is not above 0 and at most 1e6");
  }
  if (o.burn_in < 0 || o.sweeps <= o.burn_in) refuse("sweeps are not more than the burn-in");
  if (o.keep_every < 1) refuse("keep_every is below 1");
  if (!o.chains.front().predicts ||
      !std::is_sorted(o.chains.begin(), o.chains.end(),
                      [](const auto& a, const auto& b) { return a.predicts && !b.predicts; })) {
    refuse("chains that predict do not stand first");
  }
  if (!(o.freedom > 2) || !std::isfinite(o.freedom)) refuse("freedom is not above 2 and finite");
  if (o.copies < 0) refuse("copies are below 0");
  if (o.threads < 1) refuse("threads are below 1");
}

/// k(x, y) of two jobs' standardised features: near ones are alike, in all features or in one. 3 of a job
/// and itself.
double kernel_of(std::span<const double> x, std::span<const double> y) {
  double square = 0;
  double one_by_one = 0;
  for (std::size_t f = 0; f < x.size(); ++f) {
    const double d = x[f] - y[f];
    square += d * d;
    one_by_one += std::exp(-d * d / 2);
  }
  return std::exp(-square / 2) + std::exp(-square / 8) + one_by_one / static_cast<double>(x.size());
}
constexpr double kKernelOfItself = 3;

/// So that all chains that predict do about as much work, few rows or many.
int copies_for(std::size_t rows) {
  constexpr std::size_t kRowsOfAll = 2000;
  return static_cast<int>(std::clamp<std::size_t>(kRowsOfAll / rows, 1, 8));
}

}  // namespace

FactorModel FactorModel::fit(const SpeedTable& table, const FactorOptions& options) {
  check_options(options);
  if (table.features.size() > kMostFeatures) {
    refuse(std::to_string(table.features.size()) + " features, at most " +
           std::to_string(kMostFeatures) + " are possible");
  }
  const std::size_t given = table.features.size();
  FactorModel model;
  State& state = model.state_;
  state.features = table.features;
  state.freedom = options.freedom;

  // The jobs seen: those with a speed of their own or of a partner.
  constexpr std::size_t kNowhere = std::numeric_limits<std::size_t>::max();
  std::vector<std::size_t> place(table.jobs.size(), kNowhere);
  std::vector<std::size_t> seen;
  std::vector<GibbsChain::Observation> observations;
  const auto see = [&](std::uint32_t job) {
    if (place[job] == kNowhere) {
      place[job] = seen.size();
      seen.push_back(job);
    }
    return static_cast<Eigen::Index>(place[job]);
  };
  for (const Observation& o : observations_of(table, kName)) {
    const Eigen::Index i = see(o.of);
    observations.push_back({i, see(o.beside), o.slowness, 1});
  }

  const auto count_of = static_cast<double>(observations.size());
  double sum = 0;
  for (const GibbsChain::Observation& o : observations) sum += o.target;
  state.target_mean = sum / count_of;
  double squares = kPriorCount * kPriorDeviation * kPriorDeviation;
  for (const GibbsChain::Observation& o : observations) {
    squares += (o.target - state.target_mean) * (o.target - state.target_mean);
  }
  state.target_deviation = std::max(kLeastDeviation, std::sqrt(squares / (count_of + kPriorCount)));
  for (GibbsChain::Observation& o : observations) {
    o.target = (o.target - state.target_mean) / state.target_deviation;
  }

  // x, standardised over the jobs seen; what a job lacks is their mean.
  std::vector<std::vector<double>> raw;
  for (const std::size_t job : seen)
    raw.push_back(expand_features({table.of(job), given}, state.features, kName));
  const std::size_t width = expanded_width(state.features);
  state.mean.assign(width, 0);
  state.deviation.assign(width, 0);
  for (std::size_t f = 0; f < width; ++f) {
    double total = 0;
    double count = 0;
    // What differs by less is the same but for rounding: of a logarithm's, absolute and relative.
    const bool linear = f < given && state.features[f].scale == FeatureScale::kLinear;
    double largest = linear ? 0 : 1;
    for (const std::vector<double>& x : raw) {
      if (std::isnan(x[f])) continue;
      total += x[f];
      count += 1;
      largest = std::max(largest, std::fabs(x[f]));
    }
    if (count == 0) continue;
    state.mean[f] = total / count;
    double square = 0;
    for (const std::vector<double>& x : raw) {
      if (!std::isnan(x[f])) square += (x[f] - state.mean[f]) * (x[f] - state.mean[f]);
    }
    constexpr double kSame = 1e-9;
    const double deviation = std::sqrt(square / count);
    if (deviation > kSame * largest) state.deviation[f] = deviation;
  }
  for (const std::size_t job : seen) {
    state.keys.push_back(table.jobs[job]);
    const auto z = model.standardise({table.of(job), given});
    state.landmarks.insert(state.landmarks.end(), z.begin(), z.end());
  }

  // Kernel features: k(x, seen) V omega^(-1/2).
  const auto n = static_cast<Eigen::Index>(seen.size());
  const auto landmark = [&](Eigen::Index i) {
    return std::span<const double>(state.landmarks)
        .subspan(static_cast<std::size_t>(i) * width, width);
  };
  Matrix kernel(n, n);
  for (Eigen::Index i = 0; i < n; ++i) {
    for (Eigen::Index j = 0; j < n; ++j) {
      kernel(i, j) = width > 0 ? kernel_of(landmark(i), landmark(j)) : 0;
    }
  }
  const Eigen::SelfAdjointEigenSolver<Matrix> eigen(kernel);
  if (eigen.info() != Eigen::Success) throw std::logic_error("factor model: no eigenvectors");
  std::vector<Eigen::Index> kept;
  for (Eigen::Index e = n; e-- > 0 && std::ssize(kept) < kMostKernelFeatures;) {
    if (width > 0 && eigen.eigenvalues()(e) > kLeastEigenvalue) kept.push_back(e);
  }
  for (Eigen::Index i = 0; i < n; ++i) {
    for (const Eigen::Index e : kept) {
      // A sign of its own for every direction, or the solver's choice would reach the draws.
      Eigen::Index largest = 0;
      eigen.eigenvectors().col(e).cwiseAbs().maxCoeff(&largest);
      const double sign = eigen.eigenvectors()(largest, e) < 0 ? -1 : 1;
      state.kernel_root.push_back(sign * eigen.eigenvectors()(i, e) /
                                  std::sqrt(eigen.eigenvalues()(e)));
    }
  }

  model.index();

  Matrix basis(n, static_cast<Eigen::Index>(1 + width + model.kernel_features_));
  for (Eigen::Index i = 0; i < n; ++i) {
    const auto row = model.basis(landmark(i));
    for (Eigen::Index c = 0; c < basis.cols(); ++c) {
      basis(i, c) = row[static_cast<std::size_t>(c)];
    }
  }

  // Copies of a chain keep together as many samples as one alone would.
  const int copies = options.copies > 0 ? options.copies : copies_for(observations.size());
  std::vector<FactorChain> chains;
  for (const FactorChain& chain : options.chains) {
    chains.insert(chains.end(), chain.predicts ? static_cast<std::size_t>(copies) : 1, chain);
  }
  std::vector<std::vector<Sample>> samples(chains.size());
  const auto run = [&](std::size_t c) {
    const int every = options.keep_every * (chains[c].predicts ? copies : 1);
    samples[c] = GibbsChain(basis, observations, chains[c], options, c).run(every);
  };
  std::vector<std::future<void>> running;
  for (std::size_t c = 0; c < chains.size(); ++c) {
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
    for (Sample& s : of_chain) state.samples.push_back(std::move(s));
    const auto c = static_cast<std::size_t>(&of_chain - samples.data());
    if (chains[c].predicts) state.predicting = state.samples.size();
  }
  model.draw_deviations();
  state.residual_sigma = excess_scatter(model, table);
  return model;
}

std::vector<double> FactorModel::standardise(std::span<const double> features) const {
  std::vector<double> z = expand_features(features, state_.features, kName);
  for (std::size_t f = 0; f < z.size(); ++f) {
    const double deviation = state_.deviation[f];
    z[f] = std::isnan(z[f]) || deviation == 0
               ? 0
               : std::clamp((z[f] - state_.mean[f]) / deviation, -kFarthest, kFarthest);
  }
  return z;
}

std::vector<double> FactorModel::basis(std::span<const double> standardised) const {
  const std::size_t width = standardised.size();
  std::vector<double> phi{1};
  phi.insert(phi.end(), standardised.begin(), standardised.end());
  phi.resize(1 + width + kernel_features_, 0);
  for (std::size_t j = 0; j < state_.keys.size() && kernel_features_ > 0; ++j) {
    const double k = kernel_of(standardised, std::span(state_.landmarks).subspan(j * width, width));
    for (std::size_t e = 0; e < kernel_features_; ++e) {
      phi[1 + width + e] += k * state_.kernel_root[j * kernel_features_ + e];
    }
  }
  return phi;
}

/// What the samples know of one job.
struct FactorModel::Resolved {
  bool seen = false;
  /// (a, u, b, v) that the first sample expects, the second, and so on.
  std::vector<double> factors;
  /// Of a job never seen, by sample: the standard deviation of its factors around these, in that of a job
  /// whose kernel features say all.
  std::vector<double> reach;
};

FactorModel::Resolved FactorModel::resolve(const PairJob& job) const {
  Resolved out;
  out.factors.reserve(factors_);
  if (const auto at = position_.find(job.workload); at != position_.end()) {
    out.seen = true;
    for (const Sample& sample : state_.samples) {
      const auto k = static_cast<std::size_t>(sample.rank) + 1;
      for (const auto* half : {&sample.own, &sample.partner}) {
        const float* const row = half->data() + at->second * k;
        out.factors.insert(out.factors.end(), row, row + k);
      }
    }
    return out;
  }
  const std::vector<double> phi = basis(standardise(job.features));
  // What the kernel features leave of the process's variance, more the farther the job is from those seen.
  double left = kernel_features_ > 0 ? kKernelOfItself : 0;
  for (std::size_t q = phi.size() - kernel_features_; q < phi.size(); ++q) left -= phi[q] * phi[q];
  for (const Sample& sample : state_.samples) {
    out.reach.push_back(std::sqrt(1 + std::max(0.0, left) / sample.strength));
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

/// `copies`: of one job.
SpeedPrediction FactorModel::combine(const Resolved& of, const Resolved& beside,
                                     bool copies) const {
  static constexpr std::array<double, 2 * (kMostRank + 1)> kNone{};
  double mean = 0;   // of the expected r over the samples
  double drawn = 0;  // of r with a never seen job's own deviation drawn
  double square = 0;
  double noise = 0;
  std::size_t at = 0;
  for (std::size_t s = 0; s < state_.samples.size(); ++s) {
    const Sample& sample = state_.samples[s];
    const auto k = static_cast<std::size_t>(sample.rank) + 1;
    const double* const own = of.factors.data() + at;
    const double* const partner = beside.factors.data() + at + k;
    const double own_reach = of.seen ? 0 : of.reach[s];
    const double partner_reach = beside.seen ? 0 : beside.reach[s];
    const double* const own_off = of.seen ? kNone.data() : deviations_[0].data() + at;
    const double* const partner_off =
        beside.seen ? kNone.data() : deviations_[copies ? 0 : 1].data() + at + k;
    at += 2 * k;
    double expected = own[0] + partner[0];
    double r = expected + own_reach * own_off[0] + partner_reach * partner_off[0];
    for (std::size_t c = 1; c < k; ++c) {
      expected += own[c] * partner[c];
      r += (own[c] + own_reach * own_off[c]) * (partner[c] + partner_reach * partner_off[c]);
    }
    if (copies && !of.seen) expected += own_reach * partner_reach * affinity_[s];
    if (s < state_.predicting) mean += expected;
    drawn += r;
    square += r * r;
    noise += static_cast<double>(sample.noise) * sample.noise;
  }
  const auto n = static_cast<double>(state_.samples.size());
  mean /= static_cast<double>(state_.predicting);
  drawn /= n;
  const double off = drawn - mean;  // what the chains that do not predict see differently
  const double variance = std::max(0.0, square / n - drawn * drawn) + off * off +
                          noise / n * state_.freedom / (state_.freedom - 2);
  const double sd = state_.target_deviation * std::sqrt(variance);
  const double t = state_.target_mean + state_.target_deviation * mean;
  SpeedPrediction out;
  out.speed = std::min(speed_of(t), kFastest);
  out.sd = std::min(out.speed * sd, 1.0);
  out.lo = std::min(speed_of(t + kReach * sd), out.speed);
  out.hi = speed_of(t - kReach * sd);
  return out;
}

std::vector<SpeedPrediction> FactorModel::predict(std::span<const PairJob> jobs,
                                                  std::span<const PairQuery> pairs) const {
  std::vector<Resolved> resolved(jobs.size());
  const auto job = [&](std::size_t position) -> const Resolved& {
    if (position >= jobs.size()) refuse("a pair is of a job that is not there");
    Resolved& one = resolved[position];
    if (one.factors.empty()) one = resolve(jobs[position]);
    return one;
  };
  std::vector<SpeedPrediction> out;
  out.reserve(pairs.size());
  for (const auto& [i, j] : pairs) {
    const Resolved& of = job(i);
    const Resolved& beside = job(j);
    const bool copies =
        i == j || (jobs[i].workload == jobs[j].workload && jobs[i].workload != kUnknownWorkload);
    out.push_back(combine(of, beside, copies));
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
    if (position >= jobs.size()) refuse("a pair is of a job that is not there");
    std::vector<double>& one = factors[position];
    if (!one.empty()) return one;
    const Resolved all = resolve(jobs[position]);
    const auto first = all.factors.begin() + static_cast<std::ptrdiff_t>(at);
    one.assign(first, first + static_cast<std::ptrdiff_t>(d));
    if (all.seen) return one;
    Rng own(draw, Stream::kModelDraws, 1 + position);
    std::vector<double> z(d);
    for (double& x : z) x = own.normal();
    for (std::size_t c = 0; c < d; ++c) {
      for (std::size_t e = 0; e <= c; ++e) {
        one[c] += all.reach[chosen] * sample.scatter[c * d + e] * z[e];
      }
    }
    return one;
  };
  std::vector<double> out;
  out.reserve(pairs.size());
  for (const auto& [i, j] : pairs) {
    const std::vector<double>& own = job(i);
    const std::vector<double>& partner = job(j);
    double r = own[0] + partner[k];
    for (std::size_t c = 1; c < k; ++c) r += own[c] * partner[k + c];
    out.push_back(speed_of(state_.target_mean + state_.target_deviation * r));
  }
  return out;
}

/// What follows from the jobs of `state_`.
void FactorModel::index() {
  kernel_features_ = state_.kernel_root.size() / state_.keys.size();
  for (std::size_t i = 0; i < state_.keys.size(); ++i) {
    if (state_.keys[i] == kUnknownWorkload) continue;
    if (!position_.emplace(state_.keys[i], i).second) refuse("a workload is listed twice");
  }
}

/// What follows from the samples. The draws are the same for every job and model: the same question
/// has the same answer.
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
  const auto require = [](bool fine, const char* what) {
    if (!fine) refuse(what);
  };
  // Bounds far beyond what a fit gives, so that no prediction overflows.
  const auto bounded = [](const auto& values) {
    return std::all_of(values.begin(), values.end(),
                       [](double v) { return std::fabs(v) <= kLargestFeature; });
  };
  const auto moderate = [](const std::vector<float>& values) {
    return std::all_of(values.begin(), values.end(), [](float v) { return std::fabs(v) <= 1e12F; });
  };
  const std::size_t n = state.keys.size();
  require(state.features.size() <= kMostFeatures, "too many features");
  const std::size_t width = expanded_width(state.features);
  require(n > 0 && state.mean.size() == width && state.deviation.size() == width &&
              state.landmarks.size() == n * width && state.kernel_root.size() % n == 0,
          "sizes of features and jobs do not fit each other");
  require(state.kernel_root.size() / n <= static_cast<std::size_t>(kMostKernelFeatures),
          "too many kernel features");
  require(bounded(state.mean) && bounded(state.deviation) &&
              std::all_of(state.deviation.begin(), state.deviation.end(),
                          [](double v) { return v >= 0; }),
          "a mean or deviation of a feature is not possible");
  require(
      bounded(state.kernel_root) && std::all_of(state.landmarks.begin(), state.landmarks.end(),
                                                [](double v) { return std::fabs(v) <= kFarthest; }),
      "a feature of a job is not possible");
  require(std::fabs(state.target_mean) <= 1e3 && state.target_deviation > 0 &&
              state.target_deviation <= 1e3,
          "the mean or deviation of the speeds is not possible");
  require(state.freedom > 2 && std::isfinite(state.freedom), "freedom is not above 2 and finite");
  require(state.residual_sigma >= 0 && state.residual_sigma <= 1e3,
          "the scatter around the model is not possible");
  require(!state.samples.empty(), "no samples");
  require(state.predicting >= 1 && state.predicting <= state.samples.size(),
          "the samples that predict are not among the samples");
  const std::size_t q = 1 + width + state.kernel_root.size() / n;
  for (const Sample& s : state.samples) {
    require(s.rank >= 1 && s.rank <= kMostRank, "a rank is not possible");
    const auto k = static_cast<std::size_t>(s.rank) + 1;
    require(s.own.size() == n * k && s.partner.size() == n * k && s.beta.size() == q * 2 * k &&
                s.scatter.size() == 4 * k * k,
            "sizes of a sample do not fit");
    require(moderate(s.own) && moderate(s.partner) && moderate(s.beta) && moderate(s.scatter) &&
                s.noise > 0 && s.noise <= 1e12F && s.strength >= 1e-12F && s.strength <= 1e12F,
            "a sample has a number that is not possible");
  }
  FactorModel m;
  m.state_ = std::move(state);
  m.index();
  m.draw_deviations();
  return m;
}

nlohmann::json FactorModel::save() const {
  using model_state::packed;
  auto samples = nlohmann::json::array();
  for (const Sample& s : state_.samples) {
    samples.push_back({{"rank", s.rank},
                       {"noise", s.noise},
                       {"strength", s.strength},
                       {"own", packed(s.own)},
                       {"partner", packed(s.partner)},
                       {"beta", packed(s.beta)},
                       {"scatter", packed(s.scatter)}});
  }
  return {{"mean", packed(state_.mean)},
          {"deviation", packed(state_.deviation)},
          {"landmarks", packed(state_.landmarks)},
          {"kernel_root", packed(state_.kernel_root)},
          {"target", packed(std::vector<double>{state_.target_mean, state_.target_deviation})},
          {"freedom", state_.freedom},
          {"residual_sigma", state_.residual_sigma},
          {"predicting", state_.predicting},
          {"samples", std::move(samples)}};
}

FactorModel FactorModel::load(const nlohmann::json& saved,
                              std::vector<SpeedTable::Feature> features,
                              std::vector<WorkloadKey> workloads) {
  using namespace model_state;
  map_of(saved, 9, "the model");
  State state;
  state.features = std::move(features);
  state.keys = std::move(workloads);
  state.mean = doubles(saved, "mean");
  state.deviation = doubles(saved, "deviation");
  state.landmarks = doubles(saved, "landmarks");
  state.kernel_root = doubles(saved, "kernel_root");
  const std::vector<double> target = finite_doubles(saved, "target", 2);
  state.target_mean = target[0];
  state.target_deviation = target[1];
  state.freedom = number_of(saved.at("freedom"), "freedom");
  state.residual_sigma = number_of(saved.at("residual_sigma"), "residual_sigma");
  const nlohmann::json& samples = list_of(saved.at("samples"), "samples");
  for (const nlohmann::json& node : samples) {
    map_of(node, 7, "a sample");
    const double noise = number_of(node.at("noise"), "noise");
    const double strength = number_of(node.at("strength"), "strength");
    if (!(noise > 0 && noise <= 1e12)) refuse("the noise of a sample is not possible");
    if (!(strength >= 1e-12 && strength <= 1e12)) {
      refuse("the strength of a sample is not possible");
    }
    state.samples.push_back({static_cast<int>(whole_of(node.at("rank"), "rank", 1, kMostRank)),
                             floats(node, "own"), floats(node, "partner"), floats(node, "beta"),
                             floats(node, "scatter"), static_cast<float>(noise),
                             static_cast<float>(strength)});
  }
  state.predicting = static_cast<std::size_t>(
      whole_of(saved.at("predicting"), "predicting", 1, static_cast<std::int64_t>(samples.size())));
  return from(std::move(state));
}

}  // namespace corun
