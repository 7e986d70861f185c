#pragma once

#include <cstddef>

#include "sim/gpu_spec.hpp"
#include "traces/trace.hpp"

/// Profiles of jobs that name a model of the zoo and a batch in place of a profile.
namespace corun::inline runner {

/// Fills what the profiles of the jobs with a TraceJob::zoo_run lack with predictions (built_in_predictor()) for a
/// training job on this GPU type: GPU utilisation, memory used, memory reserved. Returns the number of these
/// jobs. InputError at the job's place for a model that the zoo does not have.
std::size_t predict_zoo_profiles(Trace& trace, const GpuSpec& type);

}  // namespace corun::inline runner
