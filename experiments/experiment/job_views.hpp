#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "experiments/config/config.hpp"
#include "sim/cluster_view.hpp"
#include "sim/jobs_on_types.hpp"
#include "traces/trace.hpp"

/// The views that policies have of the jobs of a trace (DESIGN 4.13).
namespace corun {

/// The view of one job. A drawn estimate of its run time is keyed by (seed of the replication,
/// job).
JobView job_view(const EstimatesConfig& estimates, std::uint64_t seed, const Trace& trace,
                 JobId job);

/// The views of all jobs, by JobId.
std::vector<JobView> job_views(const EstimatesConfig& estimates, std::uint64_t seed,
                               const Trace& trace);

/// What policies are told of `jobs` jobs on these types, by JobId and type: the expected speeds. Empty
/// without `on_types`.
std::vector<ViewOnType> views_on_types(const JobsOnTypes* on_types, std::span<const GpuType> types,
                                       std::size_t jobs);

}  // namespace corun
