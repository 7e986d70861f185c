#include "experiments/experiment/job_views.hpp"

#include <cmath>

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

}  // namespace corun
