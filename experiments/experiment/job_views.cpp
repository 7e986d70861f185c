#include "experiments/experiment/job_views.hpp"

#include <algorithm>
#include <cmath>
#include <memory>
#include <utility>

#include "sim/base/math.hpp"
#include "sim/rng.hpp"

namespace corun {

JobView job_view(const EstimatesConfig& estimates, std::uint64_t seed, const Trace& trace,
                 JobId id) {
  const JobSpec& job = trace.workload.jobs[index(id)];
  JobView view = job_view_of(id, job);
  if (estimates.duration == DurationEstimates::kExact) view.estimate = job.work;
  if (estimates.duration == DurationEstimates::kLognormal) {
    Rng rng(seed, Stream::kEstimates, index(id));
    view.estimate = from_seconds(to_seconds(job.work) * math::exp(estimates.sigma * rng.normal()));
  }
  return view;
}

std::vector<JobView> job_views(const EstimatesConfig& estimates, std::uint64_t seed,
                               const Trace& trace) {
  std::vector<JobView> views;
  views.reserve(trace.names.size());
  for (std::size_t j = 0; j < trace.names.size(); ++j) {
    views.push_back(job_view(estimates, seed, trace, static_cast<JobId>(j)));
  }
  return views;
}

namespace {

/// By JobId and type; empty without `on_types`.
std::vector<ViewOnType> views_on_types(const JobsOnTypes* on_types, std::span<const GpuType> types,
                                       std::size_t jobs) {
  std::vector<ViewOnType> views;
  if (on_types == nullptr) return views;
  views.reserve(jobs * types.size());
  for (std::size_t j = 0; j < jobs; ++j) {
    const auto job = static_cast<JobId>(j);
    for (const GpuType& type : types) {
      views.push_back(
          {on_types->alone(job, type, std::nullopt).speed, on_types->memory_mib(job, type)});
    }
  }
  return views;
}

}  // namespace

JobSource job_source(const EstimatesConfig& estimates, std::uint64_t seed, const Trace& trace,
                     const JobsOnTypes* on_types, std::span<const GpuType> types) {
  int largest_gang = 1;
  bool restricted = false;
  for (const JobSpec& job : trace.workload.jobs) {
    largest_gang = std::max(largest_gang, job.gpus);
    restricted |= job.gpu_models != 0;
  }
  std::vector<ViewOnType> views;
  if (estimates.duration != DurationEstimates::kNone) {
    views = views_on_types(on_types, types, trace.names.size());
  }
  return JobSource(
      trace.names.size(), largest_gang, restricted,
      [&estimates, seed, &trace, width = types.size(),
       on = std::make_shared<const std::vector<ViewOnType>>(std::move(views))](JobId job) {
        JobView view = job_view(estimates, seed, trace, job);
        if (!on->empty()) view.on_types = std::span(*on).subspan(index(job) * width, width);
        return view;
      });
}

}  // namespace corun
