#pragma once

#include <array>
#include <iosfwd>
#include <string>
#include <vector>

#include "sim/measurement.hpp"
#include "traces/workload_names.hpp"

/// Co-run measurements (`*.corun.csv`, written by the live mode): one row per job per group. The rows of a
/// group are adjacent, and its jobs were started together on one GPU.
///
///   group          required; names the group, unique within its session
///   gpu            required; GPU type, the same in a group
///   sharing        required; e.g. time-slicing, the same in a group
///   session        day or machine of the solo time
///   job            required; the workload, named as in workload_names.hpp
///   gpu_util_pct   profile [%], 0 to 100
///   mem_alloc_pct  profile [%], 0 to 1000
///   mem_time_pct   profile [%], 0 to 100
///   mem_used_mib   profile [MiB], 0 or more
///   solo_s         required; J_a in this session [s], above 0
///   corun_s        required; J_c [s], above 0
///   isd            (corun_s - solo_s) / solo_s, a fraction; solo_s * (1 + isd) must be within 1 %
///                  of corun_s
///   source         origin of the measurement, the same in a group
///
/// An empty field means "not measured". A group of one job is refused: it is a solo measurement.
namespace corun::inline traces {

/// Measurements in file order, with columns of the file that models do not need.
struct CorunFile {
  std::vector<CorunMeasurement> measurements;
  std::vector<std::string> groups;      ///< name of each measurement's group
  std::vector<std::string> sessions;    ///< session of each measurement, may be empty text
  std::vector<std::string> notes = {};  ///< of what is doubtful in the file, for the user
};

/// InputError for anything that the table above excludes, and for a file without rows. A measurement
/// without `source` is named "FILE group GROUP". Clusters are not part of the file: -1.
CorunFile read_corun_csv(const std::string& path, WorkloadKeys& keys);
/// The same from a stream; `name` stands for the file in messages.
CorunFile read_corun_csv(std::istream& in, const std::string& name, WorkloadKeys& keys);

/// Writes all columns, in the table's order; reading it back gives the same measurements. `groups` and
/// `sessions` may be empty vectors: groups are then numbered from 1, sessions empty. An imputed profile was
/// not measured and is written as empty fields.
void write_corun_csv(std::ostream& out, const CorunFile& file, const WorkloadKeys& keys);

/// The speeds of a pair beside each other, by its times (DESIGN section 3), not checked: times that contradict each other
/// give a speed of 0 or less.
std::array<double, 2> speeds_of_pair(const CorunMeasurement& pair);

}  // namespace corun::inline traces
