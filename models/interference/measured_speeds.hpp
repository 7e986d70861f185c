#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "sim/measurement.hpp"
#include "sim/speed_table.hpp"

/// Measured co-runs of jobs that have a Profile, as the table that interference models are fitted on.
namespace corun::inline models {

/// gpu_util_pct, mem_alloc_pct and mem_time_pct, in percent: the features of a job in a simulation.
std::vector<SpeedTable::Feature> profile_features();

/// Whether feature_values() knows the name: those of profile_features() and mem_used_mib.
bool is_of_profile(std::string_view name);

/// The meaning of an imputed profile (Profile::imputed).
enum class ImputedProfiles : std::uint8_t {
  kBelieved,  ///< its values count; for worlds
  kUnknown,   ///< it has no features; for beliefs
};

/// The value of a profile for a feature, by its name: profile_features() and mem_used_mib, in the unit of the
/// profile. NaN for an unknown value, another name, or a value not above 0 on a log scale.
double feature_value(const Profile& profile, const SpeedTable::Feature& feature,
                     ImputedProfiles imputed);
/// The same for several features, in their order.
std::vector<double> feature_values(const Profile& profile,
                                   std::span<const SpeedTable::Feature> features,
                                   ImputedProfiles imputed);

/// The pairs among measured rows, with profile_features(). A job is a workload, with the mean of its known
/// profiles; every member of unknown workload is a separate job. Skips rows of other sizes. InputError as
/// overlap_excess().
SpeedTable speed_table(std::span<const CorunMeasurement> rows, ImputedProfiles imputed);

}  // namespace corun::inline models
