#include "predictors/held_out.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <map>
#include <stdexcept>

#include <nlohmann/json.hpp>

#include "models/learners/cross_validation.hpp"
#include "models/model_state.hpp"
#include "sim/base/math.hpp"

namespace corun::inline predictors {

namespace {

constexpr int kHoldOutFolds = 5;
constexpr std::size_t kFewestErrors = 20;
constexpr double kPriorError = 0.5;
/// From the 5 % to the 95 % quantile of a normal distribution, in standard deviations.
constexpr double kNormalRange = 3.29;
/// A normal distribution's standard deviation over its median absolute deviation.
constexpr double kDeviationOfMedian = 1.4826;

nlohmann::json save_digests(const std::vector<std::uint64_t>& digests) {
  std::vector<double> bits;
  for (const std::uint64_t digest : digests) bits.push_back(std::bit_cast<double>(digest));
  return model_state::packed(bits);
}

std::vector<std::uint64_t> load_digests(const nlohmann::json& state, const char* key) {
  std::vector<std::uint64_t> digests;
  for (const double bits : model_state::doubles(state, key)) {
    digests.push_back(std::bit_cast<std::uint64_t>(bits));
  }
  if (!std::ranges::is_sorted(digests)) throw std::invalid_argument("digests out of order");
  return digests;
}

void sort_unique(std::vector<std::uint64_t>& values) {
  std::ranges::sort(values);
  values.erase(std::unique(values.begin(), values.end()), values.end());
}

/// The value below which a share `q` lies; `values` are sorted and not empty.
double quantile_of(std::span<const double> values, double q) {
  const double at = q * static_cast<double>(values.size() - 1);
  const auto below = static_cast<std::size_t>(at);
  const std::size_t above = std::min(below + 1, values.size() - 1);
  return values[below] + (at - static_cast<double>(below)) * (values[above] - values[below]);
}

/// The fold of each job if jobs of one group stay together; jobs without a group are groups of their own.
std::vector<int> folds_by(std::span<const PredictorJob* const> jobs, Familiarity together,
                          std::uint64_t seed) {
  std::map<std::uint64_t, std::size_t> number;
  std::vector<std::size_t> group;
  std::size_t groups = 0;
  for (const PredictorJob* job : jobs) {
    const std::uint64_t key = together == Familiarity::kModel    ? 0
                              : together == Familiarity::kFamily ? job->groups.model
                                                                 : job->groups.family;
    if (key == 0) {
      group.push_back(groups++);
      continue;
    }
    const auto [at, is_new] = number.emplace(key, groups);
    if (is_new) ++groups;
    group.push_back(at->second);
  }
  if (groups < 2) return {};
  const std::vector<int> of_group =
      assign_folds(groups, {std::min(kHoldOutFolds, static_cast<int>(groups)), seed});
  std::vector<int> folds;
  for (const std::size_t g : group) folds.push_back(of_group[g]);
  return folds;
}

}  // namespace

SeenGroups::SeenGroups(std::span<const PredictorJob* const> jobs) {
  for (const PredictorJob* job : jobs) {
    if (job->groups.model != 0) models_.push_back(job->groups.model);
    if (job->groups.family != 0) families_.push_back(job->groups.family);
  }
  sort_unique(models_);
  sort_unique(families_);
}

Familiarity SeenGroups::familiarity(const JobGroups& groups) const {
  if (groups.model != 0 && std::ranges::binary_search(models_, groups.model)) {
    return Familiarity::kModel;
  }
  if (groups.family != 0 && std::ranges::binary_search(families_, groups.family)) {
    return Familiarity::kFamily;
  }
  return Familiarity::kNeither;
}

nlohmann::json SeenGroups::save() const {
  return {{"models", save_digests(models_)}, {"families", save_digests(families_)}};
}

SeenGroups SeenGroups::load(const nlohmann::json& state) {
  model_state::map_of(state, 2, "groups");
  SeenGroups seen;
  seen.models_ = load_digests(state, "models");
  seen.families_ = load_digests(state, "families");
  return seen;
}

std::vector<HeldOutError> held_out_errors(std::span<const PredictorJob* const> jobs,
                                          std::uint64_t seed, const HoldOut& hold_out) {
  std::vector<HeldOutError> all;
  for (const Familiarity together :
       {Familiarity::kModel, Familiarity::kFamily, Familiarity::kNeither}) {
    const std::vector<int> folds = folds_by(jobs, together, seed);
    if (folds.empty()) continue;
    for (int fold = 0; fold <= *std::ranges::max_element(folds); ++fold) {
      std::vector<std::size_t> train, test;
      for (std::size_t j = 0; j < jobs.size(); ++j) (folds[j] == fold ? test : train).push_back(j);
      std::vector<const PredictorJob*> known;
      for (const std::size_t j : train) known.push_back(jobs[j]);
      const SeenGroups seen(known);
      // Only the jobs that have this familiarity: the others are scored where whole groups are held out.
      std::erase_if(test,
                    [&](std::size_t j) { return seen.familiarity(jobs[j]->groups) != together; });
      if (test.empty() || train.empty()) continue;
      std::vector<HeldOutError> errors = hold_out(train, test);
      for (HeldOutError& error : errors) error.level = together;
      all.insert(all.end(), errors.begin(), errors.end());
    }
  }
  return all;
}

ErrorSpread::ErrorSpread(std::span<const HeldOutError> errors) {
  std::array<std::vector<double>, kFamiliarities> by_level;
  std::vector<double> all;
  for (const HeldOutError& error : errors) {
    if (error.at_least) continue;
    by_level.at(static_cast<std::size_t>(error.level)).push_back(error.error / error.scale);
    all.push_back(error.error / error.scale);
  }
  for (std::size_t level = 0; level < kFamiliarities; ++level) {
    std::vector<double> values = all;
    for (std::size_t l = level; l < kFamiliarities; ++l) {
      if (by_level.at(l).size() < kFewestErrors) continue;
      values = by_level.at(l);
      break;
    }
    values.push_back(-kPriorError);
    values.push_back(kPriorError);
    std::ranges::sort(values);
    levels_.at(level) = {quantile_of(values, 0.05), quantile_of(values, 0.95),
                         quantile_of(values, 0.99)};
  }
}

double ErrorSpread::deviation(Familiarity level) const {
  const Quantiles& q = levels_.at(static_cast<std::size_t>(level));
  return (std::max(q.high, 0.0) - std::min(q.low, 0.0)) / kNormalRange;
}

Prediction ErrorSpread::around(double log_median, double scale, Familiarity level,
                               double most) const {
  const Quantiles& q = levels_.at(static_cast<std::size_t>(level));
  const auto at = [&](double z) { return std::min(math::exp(log_median + z * scale), most); };
  return {at(0), at(std::min(q.low, 0.0)), at(std::max(q.high, 0.0)), at(std::max(q.safe, 0.0))};
}

nlohmann::json ErrorSpread::save() const {
  std::vector<double> values;
  for (const Quantiles& q : levels_) values.insert(values.end(), {q.low, q.high, q.safe});
  return model_state::packed(values);
}

ErrorSpread ErrorSpread::load(const nlohmann::json& state) {
  const nlohmann::json map{{"spread", state}};
  const std::vector<double> values =
      model_state::finite_doubles(map, "spread", 3 * std::size_t{kFamiliarities});
  ErrorSpread spread;
  for (std::size_t level = 0; level < kFamiliarities; ++level) {
    spread.levels_.at(level) = {values[3 * level], values[3 * level + 1], values[3 * level + 2]};
  }
  return spread;
}

MemoryLimits::MemoryLimits(std::span<const HeldOutError> errors, const PhysicsConstants& constants)
    : constants_(constants) {
  for (const HeldOutError& error : errors) {
    levels_.at(static_cast<std::size_t>(error.level))
        .push_back({error.log_value, error.log_value - error.error});
  }
}

bool MemoryLimits::empty() const {
  return std::ranges::all_of(levels_, [](const std::vector<Job>& jobs) { return jobs.empty(); });
}

double MemoryLimits::limit_mib(double capacity_mib, Familiarity level) const {
  const double log_capacity = math::log(capacity_mib);
  for (auto l = static_cast<std::size_t>(level); l < kFamiliarities; ++l) {
    std::vector<double> above, below;  // predictions of jobs above the capacity, and of the others
    for (const Job& job : levels_.at(l)) {
      (job.log_value >= log_capacity ? above : below).push_back(job.log_predicted);
    }
    if (above.size() < kFewestErrors) continue;
    std::ranges::sort(above);
    const auto at =
        static_cast<std::size_t>(constants_.missed_share * static_cast<double>(above.size()));
    double limit = (at == 0 ? constants_.margin_of_few : 1) * math::exp(above[at]);
    if (below.size() >= kFewestErrors) {
      std::ranges::sort(below);
      limit = std::max(limit, math::exp(quantile_of(below, 1 - constants_.most_false_alarms)));
    }
    return std::min(capacity_mib, limit);
  }
  return capacity_mib;
}

double MemoryLimits::small_error_mib() const {
  for (const std::vector<Job>& level : levels_) {
    std::vector<Job> jobs = level;
    if (jobs.size() < kFewestErrors) continue;
    std::ranges::sort(jobs, {}, &Job::log_predicted);
    jobs.resize(std::max(kFewestErrors, jobs.size() / 4));
    std::vector<double> errors;
    for (const Job& job : jobs) {
      errors.push_back(std::abs(math::exp(job.log_value) - math::exp(job.log_predicted)));
    }
    std::ranges::sort(errors);
    return kDeviationOfMedian * quantile_of(errors, 0.5);
  }
  return 0;
}

nlohmann::json MemoryLimits::save() const {
  nlohmann::json levels = nlohmann::json::array();
  for (const std::vector<Job>& jobs : levels_) {
    std::vector<double> values;
    for (const Job& job : jobs) values.insert(values.end(), {job.log_value, job.log_predicted});
    levels.push_back(model_state::packed(values));
  }
  return levels;
}

MemoryLimits MemoryLimits::load(const nlohmann::json& state) {
  MemoryLimits limits;
  if (model_state::list_of(state, "limits").size() != kFamiliarities) {
    throw std::invalid_argument("limits of other levels");
  }
  for (std::size_t level = 0; level < kFamiliarities; ++level) {
    const nlohmann::json map{{"limits", state.at(level)}};
    const std::vector<double> values = model_state::doubles(map, "limits");
    for (std::size_t i = 0; i + 1 < values.size(); i += 2) {
      if (!std::isfinite(values[i]) || !std::isfinite(values[i + 1])) {
        throw std::invalid_argument("an impossible limit");
      }
      limits.levels_.at(level).push_back({values[i], values[i + 1]});
    }
  }
  return limits;
}

}  // namespace corun::inline predictors
