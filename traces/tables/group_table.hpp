#pragma once

#include <array>
#include <cstddef>
#include <iosfwd>
#include <span>
#include <string>
#include <vector>

#include "sim/speed_table.hpp"
#include "traces/tables/pair_table.hpp"
#include "traces/workload_names.hpp"

/// Tables of groups of jobs that share a GPU, measured or to be predicted, as a SpeedTable. Groups of two are pairs.
/// Two forms:
///
///   a row per member:      group, gpu, sharing, job; equal processes are equal rows
///   a row per group:       also k, the number of equal processes of `job` (2 to 64); each group once
///
///   group                  required; a name
///   gpu                    required; the GPU type, the same in a group; empty, unknown or not stated: not known
///   sharing                required; the words of sharing.hpp, the same in a group; empty: unknown
///   job                    required; a job that is measured in several groups has one name in all
///   norm                   optional; speed in the group relative to that alone, 0.001 to 2; empty: not measured
///   model                  optional; the family
///   bs                     optional; the batch size. With the model it tells the jobs that run the same program on other
///                          shares of a GPU (SpeedTable::programs); it is compared only
///   mig_slices             optional; compute slices of seven: feature sm_share_pct [%]
///   solo_rate              optional; feature of this name [samples/s], log
///   solo_gpu_util, solo_gmem_util, l2_util, solo_gmem_mib
///                          optional; features gpu_util_pct, mem_time_pct, l2_util_pct [%], mem_used_mib [MiB], log
///
/// Each GPU type with each sharing mode is a campaign (SpeedTable::Campaign); a job's values may differ between GPU types,
/// and the first known one stays. Feature `mps` is 1 with MPS and 0 with another known mode. A job is another one in another mode. All other columns are
/// ignored.
namespace corun::inline traces {

struct GroupTable {
  SpeedTable speeds;                  ///< groups of two are rows
  std::vector<std::string> names;     ///< of speeds.jobs: job and sharing mode
  std::vector<std::string> families;  ///< of speeds.jobs; empty text if not known
  std::string gpu;                    ///< GPU type of all rows; empty: not known, or several
  bool has_speeds = false;            ///< some speed is known

  /// Where the prediction of a line of the file stands.
  struct Line {
    std::size_t group = 0;   ///< position in speeds.groups, or in speeds.rows if is_pair
    std::size_t member = 0;  ///< of the group
    bool is_pair = false;
  };
  std::vector<Line> lines;                       ///< in file order
  std::vector<std::string> header;               ///< as read
  std::vector<std::vector<std::string>> fields;  ///< of lines, as read
  std::string source;                            ///< the file's name in messages
};

/// InputError "FILE:LINE:COLUMN: ..." for anything that the table above excludes, and for a file without groups.
GroupTable read_group_table(const std::string& path, WorkloadKeys& keys);
/// The same from a stream; `name` stands for the file in messages.
GroupTable read_group_table(std::istream& in, const std::string& name, WorkloadKeys& keys);

/// The same jobs, pairs and larger groups as a table of pairs, to be joined with others by append(); without fields.
PairTable with_groups(const GroupTable& table);

/// Whether the first line of a file has columns group, sharing and job and not those of corun's own co-runs. False for a
/// file that cannot be read.
bool has_group_header(const std::string& path);

/// The lines as read, in order, each followed by pred_norm and pred_sd, the predicted speed and its standard deviation.
/// InputError if a column of these names exists already; std::invalid_argument if there is not one prediction per line.
void write_predictions(std::ostream& out, const GroupTable& table,
                       std::span<const std::array<double, 2>> predictions);

}  // namespace corun::inline traces
