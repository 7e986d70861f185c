#pragma once

#include <string>
#include <string_view>

#include "traces/csv_reader.hpp"
#include "traces/tables/measurements.hpp"
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

/// The feature of a job's sharing mode: 1 with MPS, 0 with another known one.
inline constexpr std::string_view kMpsFeature = "mps";

/// The part of read_measurements() for this form. Speeds of groups of two are rows; names are those of job and sharing
/// mode, as "solver (MPS)", in the mode `plain` those of the job alone. InputError as read_measurements().
Measurements read_group_table(CsvReader& csv, std::string source, WorkloadKeys& keys,
                              Sharing plain);

}  // namespace corun::inline traces
