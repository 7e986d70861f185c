#pragma once

#include <cstdint>
#include <vector>

#include "experiments/config/config.hpp"
#include "sim/cluster_view.hpp"
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

}  // namespace corun
