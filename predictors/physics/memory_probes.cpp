#include "predictors/physics/memory_probes.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <stdexcept>

#include <nlohmann/json.hpp>

#include "models/model_state.hpp"
#include "sim/base/math.hpp"

namespace corun::inline predictors {

namespace {

/// Added to V's share: the error of the context.
constexpr double kContextError = 0.05;
constexpr double kMeasuredError = 0.01;  ///< deviation of a measurement's logarithm
constexpr double kFreedom = 4;           ///< of Student's t distribution
/// Share of the variance that a model's jobs do not share, where the fit does not tell.
constexpr double kOwnShare = 0.5;
constexpr double kLeastVariance = 1e-4;  ///< of errors, in units of the scale squared
constexpr double kMostLogFactor = 2;
constexpr double kLeastMib = 1;
constexpr std::size_t kProbeFigures = 7;

// Deviations of d and f on the same software, and the last resort: numbers of another size.
constexpr double kSameContextMib = 10, kSameLogFactor = 0.002;
constexpr double kOtherSizeLogFactor = 0.4;
constexpr double kOdd = 3, kFar = 10;

// Gauss and Newton's steps: the first few with normal errors, so that a difference of all jobs is found before single
// ones are called strange.
constexpr int kNormalSteps = 4;
constexpr int kSteps = 16;

double squared(double x) { return x * x; }

}  // namespace

double MemoryParts::scale() const { return error_factor * (variable / mib() + kContextError); }

nlohmann::json save_probes(std::span<const MemoryProbe> probes) {
  std::vector<double> values;
  for (const MemoryProbe& probe : probes) {
    const ProbedJob& job = probe.job;
    values.insert(values.end(),
                  {std::bit_cast<double>(job.groups.model),
                   std::bit_cast<double>(job.groups.family), static_cast<double>(job.level),
                   job.parts.context, job.parts.variable, job.parts.error_factor, probe.value});
  }
  return model_state::packed(values);
}

std::vector<MemoryProbe> load_probes(const nlohmann::json& state) {
  const nlohmann::json map{{"probes", state}};
  const std::vector<double> values = model_state::doubles(map, "probes");
  if (values.size() % kProbeFigures != 0) throw std::invalid_argument("a probe is cut off");
  const auto plausible = [](double x, double least) { return x >= least && x <= 1e12; };
  std::vector<MemoryProbe> probes;
  for (std::size_t i = 0; i < values.size(); i += kProbeFigures) {
    MemoryProbe probe;
    probe.job.groups.model = std::bit_cast<std::uint64_t>(values[i]);
    probe.job.groups.family = std::bit_cast<std::uint64_t>(values[i + 1]);
    const double level = values[i + 2];
    if (!(level == 0 || level == 1 || level == 2)) throw std::invalid_argument("an unknown level");
    probe.job.level = static_cast<Familiarity>(static_cast<int>(level));
    probe.job.parts = {values[i + 3], values[i + 4], values[i + 5]};
    probe.value = values[i + 6];
    if (!plausible(probe.job.parts.context, 0) || !plausible(probe.job.parts.variable, 1e-9) ||
        !plausible(probe.job.parts.error_factor, 1e-3) || !plausible(probe.value, 1e-9)) {
      throw std::invalid_argument("an impossible probe");
    }
    probes.push_back(probe);
  }
  return probes;
}

MemoryErrors::MemoryErrors(const ErrorSpread& spread, double small_error_mib)
    : small_mib(small_error_mib) {
  for (std::size_t level = 0; level < kFamiliarities; ++level) {
    const double own = squared(spread.deviation(static_cast<Familiarity>(level)));
    total.at(level) = std::max({own, kLeastVariance, level > 0 ? total.at(level - 1) : 0.0});
  }
  const bool told = spread.deviation(Familiarity::kModel) < spread.deviation(Familiarity::kFamily);
  job = told ? total[0] : kOwnShare * total[0];
  model = total[1] - job;
  family = total[2] - total[1];
}

struct MemoryPosterior::Prior {
  double probability, context_mib, log_factor, times;  ///< `times`: r and e are so much larger
};

MemoryPosterior::MemoryPosterior(std::span<const MemoryProbe> probes, const MemoryErrors& errors,
                                 const PhysicsConstants& constants)
    : errors_(errors) {
  if (probes.empty()) return;
  Eigen::Index next = 2;
  for (const MemoryProbe& probe : probes) {
    const auto& [groups, level, parts] = probe.job;
    if (level == Familiarity::kNeither && groups.family != 0 &&
        families_.emplace(groups.family, next).second) {
      ++next;
    }
    if (level != Familiarity::kModel && groups.model != 0 &&
        models_.emplace(groups.model, next).second) {
      ++next;
    }
  }
  std::vector<double> logs;
  const PhysicsConstants& c = constants;
  const std::array<Prior, 5> priors{
      {{same_stack_probability(c), kSameContextMib, kSameLogFactor, 1},
       {c.stack_probability, c.stack_mib, c.stack_factor, 1},
       {kOtherSizeProbability, c.stack_mib, kOtherSizeLogFactor, 1},
       {c.odd_probability, kSameContextMib, kSameLogFactor, kOdd},
       {c.far_probability, kSameContextMib, kSameLogFactor, kFar}}};
  if (!(priors[0].probability > 0)) {
    throw std::invalid_argument("the probabilities of explanations add up to 1 or more");
  }
  for (const Prior& prior : priors) {
    explanations_.push_back(explain(probes, prior));
    logs.push_back(explanations_.back().weight);
  }
  const double most = *std::ranges::max_element(logs);
  double sum = 0;
  for (Explanation& explanation : explanations_) {
    explanation.weight = math::exp(explanation.weight - most);
    sum += explanation.weight;
  }
  for (Explanation& explanation : explanations_) explanation.weight /= sum;
}

MemoryPosterior::Line MemoryPosterior::line(const ProbedJob& job,
                                            const Eigen::VectorXd& unknowns) const {
  const double log_factor = std::clamp(unknowns[1], -kMostLogFactor, kMostLogFactor);
  MemoryParts parts = job.parts;
  parts.variable *= math::exp(log_factor);
  parts.context = std::max(0.0, parts.context + unknowns[0]);
  const double mib = std::max(parts.mib(), kLeastMib);
  Line line;
  line.scale = parts.scale();
  line.log_mib = math::log(mib);
  line.index = {0, 1, -1, -1};
  line.slope = {parts.context > 0 ? 1 / mib : 0, parts.variable / mib, line.scale, line.scale};
  const auto depends = [&](std::size_t at, const std::map<std::uint64_t, Eigen::Index>& known,
                           std::uint64_t group, double variance) {
    const auto found = known.find(group);
    if (group == 0 || found == known.end()) {
      line.unprobed += squared(line.scale) * variance;
      return;
    }
    line.index.at(at) = found->second;
    line.log_mib += line.scale * unknowns[found->second];
  };
  if (job.level == Familiarity::kNeither) {
    depends(2, families_, job.groups.family, errors_.family);
  }
  if (job.level != Familiarity::kModel) depends(3, models_, job.groups.model, errors_.model);
  return line;
}

/// The most likely unknowns, their covariance there, and as `weight` the logarithm of the evidence (Laplace's
/// approximation).
MemoryPosterior::Explanation MemoryPosterior::explain(std::span<const MemoryProbe> probes,
                                                      const Prior& prior) const {
  const auto size = static_cast<Eigen::Index>(2 + families_.size() + models_.size());
  Eigen::VectorXd precision(size);
  precision[0] = 1 / squared(prior.context_mib);
  precision[1] = 1 / squared(prior.log_factor);
  const double times = squared(prior.times);
  const auto of_groups = [&](const std::map<std::uint64_t, Eigen::Index>& groups, double variance) {
    for (const auto& [group, at] : groups) {
      precision[at] = 1 / (times * std::max(variance, kLeastVariance));
    }
  };
  of_groups(families_, errors_.family);
  of_groups(models_, errors_.model);

  const auto variance_of = [&](const MemoryProbe& probe, const Line& line) {
    return times * (squared(line.scale) * errors_.job + line.unprobed) +
           squared(errors_.small_mib / probe.job.parts.mib()) + squared(kMeasuredError);
  };
  Explanation out;
  out.mean = Eigen::VectorXd::Zero(size);
  Eigen::MatrixXd normal;
  for (int step = 0; step <= kSteps; ++step) {
    normal = precision.asDiagonal();
    Eigen::VectorXd right = -precision.cwiseProduct(out.mean);
    for (const MemoryProbe& probe : probes) {
      const Line line = this->line(probe.job, out.mean);
      const double variance = variance_of(probe, line);
      const double error = math::log(probe.value) - line.log_mib;
      double weight = 1 / variance;
      if (step >= kNormalSteps) weight *= (kFreedom + 1) / (kFreedom + squared(error) / variance);
      for (std::size_t a = 0; a < line.index.size(); ++a) {
        if (line.index.at(a) < 0) continue;
        right[line.index.at(a)] += weight * line.slope.at(a) * error;
        for (std::size_t b = 0; b < line.index.size(); ++b) {
          if (line.index.at(b) < 0) continue;
          normal(line.index.at(a), line.index.at(b)) +=
              weight * line.slope.at(a) * line.slope.at(b);
        }
      }
    }
    if (step < kSteps) out.mean += normal.ldlt().solve(right);
  }
  const Eigen::LDLT<Eigen::MatrixXd> factored(normal);
  out.covariance = factored.solve(Eigen::MatrixXd::Identity(size, size));
  double evidence = math::log(prior.probability);
  for (Eigen::Index i = 0; i < size; ++i) {
    evidence -= 0.5 * (precision[i] * squared(out.mean[i]) - math::log(precision[i]) +
                       math::log(factored.vectorD()[i]));
  }
  for (const MemoryProbe& probe : probes) {
    const Line line = this->line(probe.job, out.mean);
    const double variance = variance_of(probe, line);
    const double error = math::log(probe.value) - line.log_mib;
    evidence -= 0.5 * math::log(variance) +
                0.5 * (kFreedom + 1) * math::log1p(squared(error) / (kFreedom * variance));
  }
  out.weight = evidence;
  return out;
}

MemoryPosterior::Answer MemoryPosterior::at(const ProbedJob& job) const {
  if (explanations_.empty()) return {math::log(job.parts.mib()), job.parts.scale()};
  double log_mib = 0, squares = 0, variance = 0, scale = 0;
  bool probed = false;
  for (const Explanation& explanation : explanations_) {
    const Line line = this->line(job, explanation.mean);
    double own = line.unprobed + squared(line.scale) * errors_.job;
    for (std::size_t a = 0; a < line.index.size(); ++a) {
      if (line.index.at(a) < 0) continue;
      probed = probed || a > 1;
      for (std::size_t b = 0; b < line.index.size(); ++b) {
        if (line.index.at(b) < 0) continue;
        own += line.slope.at(a) * line.slope.at(b) *
               explanation.covariance(line.index.at(a), line.index.at(b));
      }
    }
    log_mib += explanation.weight * line.log_mib;
    squares += explanation.weight * squared(line.log_mib);
    variance += explanation.weight * own;
    scale += explanation.weight * line.scale;
  }
  variance += std::max(0.0, squares - squared(log_mib));
  // The quantiles are of errors with this deviation; a variance beyond it widens them.
  const double before = scale * std::sqrt(errors_.total.at(static_cast<std::size_t>(job.level)));
  const double ratio = std::sqrt(variance) / before;
  return {log_mib, scale * (probed ? ratio : std::max(1.0, ratio))};
}

}  // namespace corun::inline predictors
