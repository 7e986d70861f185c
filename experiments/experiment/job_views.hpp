#pragma once

#include <cstdint>
#include <vector>

#include "experiments/config/config.hpp"
#include "sim/cluster_view.hpp"
#include "traces/trace.hpp"

/// What policies may see of the jobs of a trace (DESIGN 4.13).
namespace corun {

/// One job. A drawn estimate of its run time is keyed by (seed of the replication, job).
JobView job_view(const EstimatesConfig& estimates, std::uint64_t seed, const Trace& trace,
                 JobId job);

/// All of them, by JobId.
std::vector<JobView> job_views(const EstimatesConfig& estimates, std::uint64_t seed,
                               const Trace& trace);

}  // namespace corun
