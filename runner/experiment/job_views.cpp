#include "runner/experiment/job_views.hpp"

#include <algorithm>
#include <cmath>
#include <memory>
#include <optional>
#include <utility>

#include "sim/base/math.hpp"
#include "sim/rng.hpp"

namespace corun::inline runner {

namespace {

/// What an estimate is over the truth; nothing if there is none.
std::optional<double> estimate_factor(EstimateKind kind, double sigma, std::uint64_t seed,
                                      Stream stream, JobId job) {
  switch (kind) {
    case EstimateKind::kNone:
      return std::nullopt;
    case EstimateKind::kExact:
      return 1.0;
    case EstimateKind::kLognormal:
    case EstimateKind::kShuffled:  // of run times only: told_job()
      break;
  }
  return math::exp(sigma * Rng(seed, stream, index(job)).normal());
}

/// The job whose run time policies are told in place of this one's.
JobId told_job(const JobEstimates& e, std::size_t jobs, JobId job) {
  return static_cast<JobId>(
      Rng(e.seed, Stream::kEstimates, index(job)).below(static_cast<std::uint32_t>(jobs)));
}

std::optional<double> memory_factor(const JobEstimates& e, JobId job) {
  return estimate_factor(e.config.memory, e.config.memory_sigma, e.seed, Stream::kMemoryEstimates,
                         job);
}

std::optional<double> estimated(std::optional<double> truth, std::optional<double> factor) {
  if (!truth || !factor) return std::nullopt;
  return *truth * *factor;
}

}  // namespace

JobEstimates with_measured_profiles(JobEstimates estimates) {
  estimates.config.memory = EstimateKind::kExact;
  estimates.config.utilisation = EstimateKind::kExact;
  return estimates;
}

namespace {

/// Makes the profile of a job, or of one of its phases, what policies see of it.
void estimate_profile(const JobEstimates& estimates, JobId id, Profile& profile) {
  constexpr double kMostPercent = 100;
  const EstimatesConfig& config = estimates.config;
  profile.mem_used_mib = estimated(profile.mem_used_mib, memory_factor(estimates, id));
  std::optional<double>& util = profile.gpu_util_pct;
  util = estimated(util, estimate_factor(config.utilisation, config.utilisation_sigma,
                                         estimates.seed, Stream::kUtilisationEstimates, id));
  if (util && config.utilisation == EstimateKind::kLognormal) util = std::min(*util, kMostPercent);
}

}  // namespace

JobView job_view(const JobEstimates& estimates, const Trace& trace, JobId id) {
  const EstimatesConfig& config = estimates.config;
  const JobSpec& job = trace.jobs[index(id)].spec;
  JobView view = job_view_of(id, job);
  if (config.duration == EstimateKind::kShuffled) {
    const JobId told = told_job(estimates, trace.jobs.size(), id);
    view.estimate = trace.jobs[index(told)].spec.work;
    const double told_s = to_seconds(*view.estimate);
    if (told_s > 0) view.steps_per_s = static_cast<double>(job.steps) / told_s;
  } else if (const auto factor = estimate_factor(config.duration, config.sigma, estimates.seed,
                                                 Stream::kEstimates, id)) {
    view.estimate = *factor == 1 ? job.work : from_seconds(to_seconds(job.work) * *factor);
    view.steps_per_s = job.steps_per_s / *factor;
  }
  if (view.estimate && job.steps > 0) view.steps = job.steps;
  estimate_profile(estimates, id, view.profile);
  return view;
}

std::vector<JobView> job_views(const JobEstimates& estimates, const Trace& trace) {
  std::vector<JobView> views;
  views.reserve(trace.jobs.size());
  for (std::size_t j = 0; j < trace.jobs.size(); ++j) {
    views.push_back(job_view(estimates, trace, static_cast<JobId>(j)));
  }
  return views;
}

namespace {

/// By JobId and type; empty without `on_types`.
std::vector<ViewOnType> views_on_types(const JobEstimates& estimates, const JobsOnTypes* on_types,
                                       std::span<const GpuType> types, std::size_t jobs) {
  std::vector<ViewOnType> views;
  if (on_types == nullptr) return views;
  views.reserve(jobs * types.size());
  for (std::size_t j = 0; j < jobs; ++j) {
    const auto job = static_cast<JobId>(j);
    const std::optional<double> factor = memory_factor(estimates, job);
    for (const GpuType& type : types) {
      views.push_back({on_types->alone(job, type, std::nullopt).speed,
                       estimated(on_types->memory_mib(job, type), factor)});
    }
  }
  return views;
}

}  // namespace

JobSource job_source(const JobEstimates& estimates, const Trace& trace, const JobsOnTypes* on_types,
                     std::span<const GpuType> types) {
  int largest_gang = 1;
  bool restricted = false;
  for (const TraceJob& job : trace.jobs) {
    largest_gang = std::max(largest_gang, job.spec.gpus);
    restricted |= job.spec.gpu_models != 0;
  }
  std::vector<ViewOnType> views;
  if (estimates.config.duration != EstimateKind::kNone) {
    views = views_on_types(estimates, on_types, types, trace.jobs.size());
  }
  JobSource source(
      trace.jobs.size(), largest_gang, restricted,
      [estimates, &trace, width = types.size(),
       on = std::make_shared<const std::vector<ViewOnType>>(std::move(views))](JobId job) {
        JobView view = job_view(estimates, trace, job);
        if (!on->empty()) view.on_types = std::span(*on).subspan(index(job) * width, width);
        return view;
      });
  source.profile_in = [estimates, &trace](JobId job, std::uint32_t phase) {
    const std::size_t place = trace.jobs[index(job)].spec.first_phase + phase;
    Profile profile = trace.phases[place].spec.profile;
    estimate_profile(estimates, job, profile);
    return profile;
  };
  return source;
}

}  // namespace corun::inline runner
