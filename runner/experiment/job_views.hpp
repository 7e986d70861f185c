#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "runner/config/config.hpp"
#include "sim/cluster_view.hpp"
#include "sim/engine/control_loop.hpp"
#include "sim/jobs_on_types.hpp"
#include "traces/trace.hpp"

/// The views that policies have of the jobs of a trace (DESIGN 4.13).
namespace corun::inline runner {

/// What policies see of the jobs of a replication. A drawn estimate is keyed by (seed of the replication, job), so all
/// policies see the same.
struct JobEstimates {
  EstimatesConfig config;
  std::uint64_t seed = 0;
};

/// The same for a policy whose jobs run alone first: their memory and utilisation are measured, not estimated.
JobEstimates with_measured_profiles(JobEstimates estimates);

/// The view of one job.
JobView job_view(const JobEstimates& estimates, const Trace& trace, JobId job);

/// The views of all jobs, by JobId.
std::vector<JobView> job_views(const JobEstimates& estimates, const Trace& trace);

/// The jobs of a trace for a control loop, with their expected speeds on these types where run times are
/// estimated. The trace must outlive it; `on_types` may be null.
JobSource job_source(const JobEstimates& estimates, const Trace& trace, const JobsOnTypes* on_types,
                     std::span<const GpuType> types);

}  // namespace corun::inline runner
