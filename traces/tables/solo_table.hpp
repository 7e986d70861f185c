#pragma once

#include <cstddef>
#include <iosfwd>
#include <string>
#include <vector>

#include "sim/profile.hpp"
#include "traces/trace_builder.hpp"
#include "traces/workload_names.hpp"

/// Tables of workloads alone on GPU types: time of the same work, and memory. Three forms, recognised by
/// their headers:
///
///   corun's own, one row per workload and GPU type:
///     workload     required; its name in traces and co-run measurements
///     gpu_type     required
///     time_s       required; [s] of any work, the same on all types, 1e-9 to 9e7; "-": does not run there;
///                  empty: not measured, and then there is a memory_mib
///     memory_mib   memory demand [MiB]
///     gpu_util_pct, mem_alloc_pct, mem_time_pct
///                  profile [%], as in a job trace; the same in all rows of a workload that have it
///   Sia (training jobs on several GPU types), one row per job, GPU type and batch size:
///     job, gpu_type, local_bsz (samples), step_time_s
///                  required. The workload is "JOB (batch size N)". The largest batch size of a job on a
///                  type is the limit of that type's memory: a larger one, measured on another type, does
///                  not fit there; any other missing one is not measured. It could be interpolated between
///                  its neighbours, linear in the batch size; it is not, because steps are not linear in
///                  it (bert on dgx takes nearly as long with 6 as with 4). A job without rows of a type
///                  is not measured there.
///     sync_time_s  not read. It is the part of step_time_s in which gradients are exchanged; Sia's simulator
///                  subtracts it from steps that only add up gradients. A job on one GPU has no other to
///                  exchange them with, but its measured steps include this time, 0.01 to 4 %: the whole
///                  step is its time.
///   MISO (training jobs on slices of an A100 40 GB), one row per slice, job and batch size:
///     slice, job, batch, median_step_s
///                  required. The slice is the GPU type, the workload "JOB (batch size N)". An absent row
///                  or an empty median_step_s is a job that does not fit there.
///     miso_a100_profile.csv in the same folder, if it is there: job, batch, peak_mem_mib, sm_util_pct,
///                  mem_util_pct on the whole GPU. The peak is the demand on each slice where the job ran,
///                  but no more than the memory of a slice named for less ("1g.5gb": 4864 MiB), for the
///                  job ran in that. Profile: sm_util_pct is gpu_util_pct, mem_util_pct is mem_time_pct
///                  (means, for there are no maxima), and the peak's share of 40 GiB is mem_alloc_pct.
///
/// Other columns of the last two are ignored.
namespace corun::inline traces {

struct SoloTable {
  std::vector<std::string> types;  ///< as named in the file, by first appearance
  std::vector<std::string>
      type_places;                 ///< of their first appearances, for messages: FILE:LINE:COLUMN
  std::vector<std::string> names;  ///< of workloads, by first appearance; all different
  std::vector<WorkloadKey> keys;   ///< of names
  std::vector<Profile> profiles;   ///< of names; without memory demand
  std::vector<double> time_s;      ///< [s] names x types, row-major; only ratios of one row mean
                                   ///< something. NaN: not measured; infinity: does not run there
  std::vector<double> memory_mib;  ///< names x types; NaN: not known
  std::string source;              ///< the file's name in messages
  std::vector<std::string> files_beside;  ///< files read beside the named one

  double time(std::size_t workload, std::size_t type) const {
    return time_s[workload * types.size() + type];
  }
  double memory(std::size_t workload, std::size_t type) const {
    return memory_mib[workload * types.size() + type];
  }
};

/// InputError "FILE:LINE:COLUMN: ..." for anything that the forms above exclude, for a workload that
/// has two rows of one GPU type, for a file without rows, and for a table of more than 10 million
/// cells.
SoloTable read_solo_table(const std::string& path, WorkloadKeys& keys);
/// The same from a stream; `name` stands for the file in messages. `profile`, if not null, is MISO's
/// second file.
SoloTable read_solo_table(std::istream& in, const std::string& name, WorkloadKeys& keys,
                          std::istream* profile = nullptr);

/// Whether a file begins in one of these forms.
bool looks_like_solo_table(const TraceHead& head);

}  // namespace corun::inline traces
