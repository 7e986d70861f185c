#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "models/interference/measured_speeds.hpp"
#include "traces/trace.hpp"

/// The features of a job that interference models use.
namespace corun::inline runner {

/// The value of the feature `wanted` from the trace's features of the job, else from its profile. NaN:
/// unknown. `imputed`: whether a stand-in for an unpublished profile counts.
double feature_of(const Trace& trace, std::size_t job, const Profile& profile,
                  const SpeedTable::Feature& wanted, ImputedProfiles imputed);

/// The same for several features, in their order.
std::vector<double> features_of(const Trace& trace, std::size_t job, const Profile& profile,
                                const std::vector<SpeedTable::Feature>& wanted,
                                ImputedProfiles imputed);

/// The names of the features `wanted` that neither the trace nor a profile can have.
std::vector<std::string> missing_features(const Trace& trace,
                                          const std::vector<SpeedTable::Feature>& wanted);

}  // namespace corun::inline runner
