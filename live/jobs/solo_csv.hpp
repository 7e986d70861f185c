#pragma once

#include <span>
#include <string>
#include <vector>

#include "sim/profile.hpp"

/// The file of solo times: `corun live solo` writes it and `corun live run` reads it.
namespace corun::live {

/// Measurements of a workload alone.
struct SoloRow {
  std::string job;
  double solo_s = 0;  ///< mean over runs
  double sd_s = 0;    ///< sample standard deviation; 0 for a single run
  int runs = 0;
  Profile profile;       ///< greatest over runs
  std::string gpu_type;  ///< where it ran; empty: not told
};

/// solo.csv: job,solo_s,solo_sd_s,runs, the profile and gpu_type; a table of profiles (traces/tables/profile_csv.hpp)
/// too.
std::string solo_csv(std::span<const SoloRow> rows);
/// Throws InputError if the file is invalid, names a workload twice, or has rows of several GPU types.
std::vector<SoloRow> read_solo_csv(const std::string& path);

/// The row of this workload; null if there is none.
const SoloRow* find_solo(std::span<const SoloRow> rows, const std::string& workload);

}  // namespace corun::live
