#include "predictors/held_out.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <map>
#include <stdexcept>

#include <boost/math/distributions/students_t.hpp>
#include <nlohmann/json.hpp>

#include "models/learners/cross_validation.hpp"
#include "models/model_state.hpp"
#include "sim/base/math.hpp"

namespace corun::inline predictors {

namespace {

constexpr std::size_t kFewestErrors = 20;
/// The error of a job, if there are none to learn from.
constexpr double kUntoldError = 0.5;
/// So many independent errors tell the two tails of 5 %: 0.05 (19 + 1) = 1.
constexpr double kFewestOfTail = 19;
constexpr double kNormal95 = 1.6448536269514722;
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

/// The error of rank q (n + 1) of n sorted ones, between two if that is no whole number; the first or last beyond.
double conformal_quantile(std::span<const double> values, double q) {
  const auto n = static_cast<double>(values.size());
  const double at = std::clamp(q * (n + 1) - 1, 0.0, n - 1);
  return quantile_of(values, n > 1 ? at / (n - 1) : 0);
}

/// The intraclass correlation by analysis of variance, and the mean size of a group that goes with it.
struct Alike {
  double correlation = 0, size = 1;
};

Alike alike_in(std::span<const double> values, std::span<const std::size_t> group,
               std::size_t groups) {
  std::vector<double> sum(groups, 0), count(groups, 0);
  double all = 0, squares = 0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    sum[group[i]] += values[i];
    count[group[i]] += 1;
    all += values[i];
  }
  const auto n = static_cast<double>(values.size()), k = static_cast<double>(groups);
  double between = 0, within = 0;
  for (std::size_t g = 0; g < groups; ++g) {
    const double off = sum[g] / count[g] - all / n;
    between += count[g] * off * off / (k - 1);
    squares += count[g] * count[g];
  }
  for (std::size_t i = 0; i < values.size(); ++i) {
    const double off = values[i] - sum[group[i]] / count[group[i]];
    within += off * off / (n - k);
  }
  Alike alike;
  alike.size = (n - squares / n) / (k - 1);
  const double total = between + (alike.size - 1) * within;
  alike.correlation = total > 0 ? std::clamp((between - within) / total, 0.0, 1.0) : 0;
  return alike;
}

std::uint64_t group_of_job(const JobGroups& groups, Familiarity level) {
  return level == Familiarity::kModel    ? 0
         : level == Familiarity::kFamily ? groups.model
                                         : groups.family;
}

std::uint64_t group_of_gpu(const JobGroups& groups, GpuFamiliarity level) {
  return level == GpuFamiliarity::kType           ? 0
         : level == GpuFamiliarity::kArchitecture ? groups.gpu
                                                  : groups.architecture;
}

/// The fold of each job if jobs of one group stay together; jobs without a group are groups of their own. Empty for a
/// single group.
std::vector<int> folds_of(std::span<const std::uint64_t> keys, int most, std::uint64_t seed) {
  std::map<std::uint64_t, std::size_t> number;
  std::vector<std::size_t> group;
  std::size_t groups = 0;
  for (const std::uint64_t key : keys) {
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
      assign_folds(groups, {std::min(most, static_cast<int>(groups)), seed});
  std::vector<int> folds;
  for (const std::size_t g : group) folds.push_back(of_group[g]);
  return folds;
}

int count_of(const std::vector<int>& folds) {
  return folds.empty() ? 0 : *std::ranges::max_element(folds) + 1;
}

}  // namespace

SeenGroups::SeenGroups(std::span<const JobGroups> jobs) {
  for (const JobGroups& job : jobs) {
    if (job.model != 0) models_.push_back(job.model);
    if (job.family != 0) families_.push_back(job.family);
    if (job.gpu != 0) gpus_.push_back(job.gpu);
    if (job.architecture != 0) architectures_.push_back(job.architecture);
  }
  for (auto* groups : {&models_, &families_, &gpus_, &architectures_}) sort_unique(*groups);
}

SeenLevel SeenGroups::level(const JobGroups& groups) const {
  const auto has = [](const std::vector<std::uint64_t>& seen, std::uint64_t group) {
    return group != 0 && std::ranges::binary_search(seen, group);
  };
  const Familiarity job = has(models_, groups.model)      ? Familiarity::kModel
                          : has(families_, groups.family) ? Familiarity::kFamily
                                                          : Familiarity::kNeither;
  const GpuFamiliarity gpu = gpus_.empty() || has(gpus_, groups.gpu) ? GpuFamiliarity::kType
                             : has(architectures_, groups.architecture)
                                 ? GpuFamiliarity::kArchitecture
                                 : GpuFamiliarity::kNeither;
  return {job, gpu};
}

nlohmann::json SeenGroups::save() const {
  return {{"models", save_digests(models_)},
          {"families", save_digests(families_)},
          {"gpus", save_digests(gpus_)},
          {"architectures", save_digests(architectures_)}};
}

SeenGroups SeenGroups::load(const nlohmann::json& state) {
  model_state::map_of(state, 4, "groups");
  SeenGroups seen;
  seen.models_ = load_digests(state, "models");
  seen.families_ = load_digests(state, "families");
  seen.gpus_ = load_digests(state, "gpus");
  seen.architectures_ = load_digests(state, "architectures");
  return seen;
}

std::vector<HeldOutError> held_out_errors(std::span<const JobGroups> jobs, std::uint64_t seed,
                                          const HoldOutFolds& most, const HoldOut& hold_out) {
  std::vector<HeldOutError> all;
  const auto score = [&](SeenLevel together, const std::vector<std::size_t>& train,
                         std::vector<std::size_t> test) {
    std::vector<JobGroups> known;
    for (const std::size_t j : train) known.push_back(jobs[j]);
    const SeenGroups seen(known);
    // Only the jobs that have this familiarity: the others are scored where more is held out.
    std::erase_if(test, [&](std::size_t j) { return !(seen.level(jobs[j]) == together); });
    if (test.empty() || train.empty()) return;
    for (HeldOutError& error : hold_out(train, test)) {
      error.level = together;
      error.job_group = group_of_job(jobs[error.job], together.job);
      error.gpu_group = group_of_gpu(jobs[error.job], together.gpu);
      all.push_back(error);
    }
  };
  for (const GpuFamiliarity gpu :
       {GpuFamiliarity::kType, GpuFamiliarity::kArchitecture, GpuFamiliarity::kNeither}) {
    for (const Familiarity job :
         {Familiarity::kModel, Familiarity::kFamily, Familiarity::kNeither}) {
      const bool by_job = gpu == GpuFamiliarity::kType || job != Familiarity::kModel;
      const bool by_gpu = gpu != GpuFamiliarity::kType;
      std::vector<std::uint64_t> of_job, of_gpu;
      for (const JobGroups& groups : jobs) {
        of_job.push_back(group_of_job(groups, job));
        of_gpu.push_back(group_of_gpu(groups, gpu));
      }
      // A GPU type that is not known is no group.
      if (by_gpu && std::ranges::count(of_gpu, std::uint64_t{0}) > 0) continue;
      std::vector<int> jobs_folds, gpu_folds;
      if (by_job) jobs_folds = folds_of(of_job, by_gpu ? most.gpus : most.jobs, seed);
      if (by_gpu) gpu_folds = folds_of(of_gpu, most.gpus, seed);
      if ((by_job && jobs_folds.empty()) || (by_gpu && gpu_folds.empty())) continue;
      const int folds = std::max(count_of(jobs_folds), count_of(gpu_folds));
      for (int fold = 0; fold < folds; ++fold) {
        std::vector<std::size_t> train, test;
        for (std::size_t j = 0; j < jobs.size(); ++j) {
          const bool out_by_job = by_job && jobs_folds[j] == fold % count_of(jobs_folds);
          const bool out_by_gpu = by_gpu && gpu_folds[j] == fold % count_of(gpu_folds);
          if ((out_by_job || !by_job) && (out_by_gpu || !by_gpu)) test.push_back(j);
          if (!out_by_job && !out_by_gpu) train.push_back(j);
        }
        score({job, gpu}, train, std::move(test));
      }
    }
  }
  return all;
}

double independent_errors(std::span<const double> errors, std::span<const std::uint64_t> groups) {
  std::map<std::uint64_t, std::size_t> number;
  std::vector<std::size_t> group;
  std::size_t count = 0;
  for (const std::uint64_t key : groups) {
    if (key == 0) {
      group.push_back(count++);
      continue;
    }
    const auto [at, is_new] = number.emplace(key, count);
    if (is_new) ++count;
    group.push_back(at->second);
  }
  const auto n = static_cast<double>(errors.size());
  if (count == errors.size()) return n;
  if (count < 2) return 1;
  std::vector<double> sizes;
  for (const double error : errors) sizes.push_back(std::abs(error));
  double least = n;
  for (const std::span<const double> values : {errors, std::span<const double>(sizes)}) {
    const Alike alike = alike_in(values, group, count);
    least = std::min(least, n / (1 + (alike.size - 1) * alike.correlation));
  }
  return std::max(1.0, least);
}

struct ErrorSpread::Errors {
  std::vector<double> values;                       ///< error / scale
  std::vector<std::uint64_t> job_group, gpu_group;  ///< of each

  void add(const HeldOutError& error) {
    values.push_back(error.error / error.scale);
    job_group.push_back(error.job_group);
    gpu_group.push_back(error.gpu_group);
  }
  bool enough() const {
    const auto several = [](const std::vector<std::uint64_t>& groups) {
      return groups[0] == 0 ||
             std::ranges::any_of(groups, [&](std::uint64_t group) { return group != groups[0]; });
    };
    return values.size() >= kFewestErrors && several(job_group) && several(gpu_group);
  }
  /// How many independent errors tell as much.
  double independent() const {
    return std::min(independent_errors(values, job_group), independent_errors(values, gpu_group));
  }
};

ErrorSpread::Quantiles ErrorSpread::quantiles_of(const Errors& errors, double claimed) {
  std::vector<double> values = errors.values;
  std::ranges::sort(values);
  const double independent = errors.independent();
  Quantiles q;
  q.low = conformal_quantile(values, 0.05);
  q.high = conformal_quantile(values, 0.95);
  q.safe = conformal_quantile(values, 0.99);
  const boost::math::students_t_distribution<double> of_few(independent);
  q.stretch = boost::math::quantile(of_few, 0.95) / kNormal95;
  if (independent < kFewestOfTail) {
    for (double& value : values) value = std::abs(value);
    std::ranges::sort(values);
    q.high = std::max(conformal_quantile(values, 0.9), claimed / q.stretch);
    q.low = -q.high;
    q.safe = std::max(q.safe, q.high);
  }
  return q;
}

ErrorSpread::ErrorSpread(double low, double high, double safe) {
  levels_.fill({low, high, safe, 1});
}

ErrorSpread::ErrorSpread(std::span<const HeldOutError> errors, double claimed) {
  constexpr std::size_t kJobs = kFamiliarities, kGpus = kGpuFamiliarities;
  std::array<std::array<Errors, kGpus>, kJobs> by_level;
  Errors all;
  for (const HeldOutError& error : errors) {
    if (error.at_least) continue;
    by_level.at(static_cast<std::size_t>(error.level.job))
        .at(static_cast<std::size_t>(error.level.gpu))
        .add(error);
    all.add(error);
  }
  std::array<std::array<Quantiles, kGpus>, kJobs> own;
  for (std::size_t job = 0; job < kJobs; ++job) {
    for (std::size_t gpu = 0; gpu < kGpus; ++gpu) {
      if (by_level.at(job).at(gpu).enough())
        own.at(job).at(gpu) = quantiles_of(by_level.at(job).at(gpu), claimed);
    }
  }
  Quantiles of_all{-kUntoldError, kUntoldError, kUntoldError, 1};
  if (!all.values.empty()) {
    of_all = quantiles_of(all, claimed);
    of_all.stretch = 1;
  }
  for (std::size_t job = 0; job < kJobs; ++job) {
    for (std::size_t gpu = 0; gpu < kGpus; ++gpu) {
      Quantiles& chosen = at(job, gpu);
      chosen = of_all;
      // The nearest level of which as little or less is known.
      std::size_t nearest = kJobs + kGpus;
      for (std::size_t j = job; j < kJobs; ++j) {
        for (std::size_t g = gpu; g < kGpus; ++g) {
          const std::size_t distance = (j - job) + (g - gpu);
          if (!by_level.at(j).at(g).enough() || distance >= nearest) continue;
          nearest = distance;
          chosen = own.at(j).at(g);
        }
      }
      if (nearest == kJobs + kGpus && gpu > 0) chosen = at(job, gpu - 1);
    }
  }
}

double ErrorSpread::deviation(Familiarity level) const {
  const Quantiles& q = levels_.at(kGpuFamiliarities * static_cast<std::size_t>(level));
  return (std::max(q.high, 0.0) - std::min(q.low, 0.0)) / kNormalRange;
}

Prediction ErrorSpread::around(double log_median, double scale, SeenLevel level,
                               double most) const {
  const Quantiles& q = levels_.at(kGpuFamiliarities * static_cast<std::size_t>(level.job) +
                                  static_cast<std::size_t>(level.gpu));
  const auto at = [&](double z) {
    return std::min(math::exp(log_median + z * q.stretch * scale), most);
  };
  return {at(0), at(std::min(q.low, 0.0)), at(std::max(q.high, 0.0)), at(std::max(q.safe, 0.0))};
}

nlohmann::json ErrorSpread::save() const {
  std::vector<double> values;
  for (const Quantiles& q : levels_) {
    values.insert(values.end(), {q.low, q.high, q.safe, q.stretch});
  }
  return model_state::packed(values);
}

ErrorSpread ErrorSpread::load(const nlohmann::json& state) {
  const nlohmann::json map{{"spread", state}};
  ErrorSpread spread;
  const std::vector<double> values =
      model_state::finite_doubles(map, "spread", 4 * spread.levels_.size());
  for (std::size_t level = 0; level < spread.levels_.size(); ++level) {
    const double* at = values.data() + 4 * level;
    spread.levels_.at(level) = {at[0], at[1], at[2], at[3]};
  }
  return spread;
}

MemoryLimits::MemoryLimits(std::span<const HeldOutError> errors, const PhysicsConstants& constants)
    : constants_(constants) {
  for (const HeldOutError& error : errors) {
    if (error.level.gpu != GpuFamiliarity::kType) continue;
    levels_.at(static_cast<std::size_t>(error.level.job))
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
