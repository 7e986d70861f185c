#pragma once

#include <cstddef>
#include <vector>

#include "models/interference/measured_speeds.hpp"
#include "traces/trace.hpp"

/// What interference models go by of a job.
namespace corun {

/// The values of the features `wanted`, in that order: of the profile, or of what the trace knows of the
/// job beyond it. NaN: not known. `imputed`: whether a profile that stands in for an unpublished one
/// counts.
std::vector<double> features_of(const Trace& trace, std::size_t job, const Profile& profile,
                                const std::vector<SpeedTable::Feature>& wanted,
                                ImputedProfiles imputed);

}  // namespace corun
