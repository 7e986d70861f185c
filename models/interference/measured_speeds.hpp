#pragma once

#include <span>
#include <vector>

#include "sim/measurement.hpp"
#include "sim/speed_table.hpp"

/// Measured co-runs of jobs that have a Profile, as the table that interference models are fitted on.
namespace corun {

/// gpu_util_pct, mem_alloc_pct, mem_time_pct: all that is ever known of a job in a simulation.
std::vector<SpeedTable::Feature> profile_features();

/// What to make of a profile that nobody published (Profile::imputed).
enum class ImputedProfiles : std::uint8_t {
  kBelieved,  ///< what stands in counts: worlds
  kUnknown,   ///< a profile without any feature: beliefs
};

/// A profile as `features` ask for it, by name: those above and mem_used_mib; NaN where it is unknown
/// or of another name.
std::vector<double> feature_values(const Profile& profile,
                                   std::span<const SpeedTable::Feature> features,
                                   ImputedProfiles imputed);

/// The pairs among measured rows: jobs by workload, with the mean of their known profiles. Members of
/// an unknown workload are jobs of their own. Larger groups are passed over.
SpeedTable speed_table(std::span<const CorunMeasurement> rows, ImputedProfiles imputed);

}  // namespace corun
