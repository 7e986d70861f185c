#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sim/profile.hpp"

/// Co-run measurements as models receive them (DESIGN section 7, `*.corun.csv`).
namespace corun::inline sim {

/// Opaque key of a workload that is measured repeatedly. Readers hand out keys; models may only
/// compare them. kUnknownWorkload equals no workload, not even itself.
using WorkloadKey = std::uint32_t;
inline constexpr WorkloadKey kUnknownWorkload = 0xffffffffU;

struct CorunMember {
  WorkloadKey workload = kUnknownWorkload;
  Profile profile;
  double solo_s = 0;   ///< J_a in this session [s], > 0
  double corun_s = 0;  ///< J_c [s], > 0; all members of a measurement started together
  int cluster = -1;    ///< cluster of the profile; -1: not known
};

/// Jobs that were started together on one GPU, and the time of each.
struct CorunMeasurement {
  std::string source;                ///< e.g. "JRS-IV row 3"
  std::string gpu_type;              ///< e.g. "V100-16GB"
  std::string sharing;               ///< e.g. "time-slicing"
  std::vector<CorunMember> members;  ///< two or more
};

}  // namespace corun::inline sim
