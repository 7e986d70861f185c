#pragma once

#include <array>
#include <span>
#include <string>

#include "live/jobs/profiling.hpp"
#include "support/json.hpp"

/// Outputs and files of a profiled command.
namespace corun::live {

/// The first attributes of kProfileAttributes, which identify the job: ID, Model, Dataset, Epoch, BS,
/// Run_Env.
using JobOrigin = std::array<std::string, kOriginColumns>;

/// The 66 attributes: one row under the header of the Futurewei mini-ML Workload Dataset. `attributes`: 60
/// values, attributes 7 to 66; a value that is not finite becomes an empty field.
std::string attributes_csv(const JobOrigin& origin, std::span<const double> attributes);

/// The three features and the memory demand, as a table of profiles (traces/tables/profile_csv.hpp) with one row.
std::string profile_csv(const std::string& job, const Profile& profile);

/// One row per sample; units in the header.
std::string samples_csv(std::span<const Sample> samples);

Json profiling_json(const ProfiledCommand& profiled, const JobOrigin& origin);
std::string profiling_table(const ProfiledCommand& profiled);

}  // namespace corun::live
