#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "experiments/config/config.hpp"
#include "sim/cluster_view.hpp"
#include "sim/control_loop.hpp"
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

/// The jobs of a trace for a control loop, with their expected speeds on these types where run times are
/// estimated. Estimates and trace must outlive it; `on_types` may be null.
JobSource job_source(const EstimatesConfig& estimates, std::uint64_t seed, const Trace& trace,
                     const JobsOnTypes* on_types, std::span<const GpuType> types);

}  // namespace corun
