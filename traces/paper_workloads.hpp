#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sim/measurement.hpp"
#include "traces/measured/paper_tables.hpp"
#include "traces/trace.hpp"
#include "traces/workload_names.hpp"

/// The papers' tables as jobs and measurements, for the embedded worlds, beliefs and queues.
///
/// All measurements are from "V100-16GB" under "time-slicing". Profiles are the published maxima (measured
/// on T4 and P100). The autoencoders have no published profile: they get the centre of their cluster,
/// marked Profile::imputed. The memory demand was not published for any job.
namespace corun::inline traces {

inline constexpr std::string_view kPaperGpuType = "V100-16GB";
inline constexpr std::string_view kPaperSharing = "time-slicing";

/// The tables that paper_measurements() takes.
struct PaperFilter {
  bool jrs_knowledge_base = false;  ///< JRS II and III: its authors' knowledge at the start; 46
  bool jrs_schedules = false;       ///< JRS IV to VII: the schedules of the queue; 36 pairs
  bool jrs_bins = false;            ///< the bins of JRS V and VI; 2 groups
  bool prirect = false;             ///< PriRecT III and IV, without the draft's rows; 32

  bool operator==(const PaperFilter&) const = default;
};

inline constexpr PaperFilter kJrsKnowledgeBase{true, false, false, false};
inline constexpr PaperFilter kPrirectKnowledgeBase{false, false, false, true};
inline constexpr PaperFilter kAllJrs{true, true, true, false};
inline constexpr PaperFilter kAllPapers{true, true, true, true};

/// The unique measurements of those tables in table order, bins in their place (row 1 of V and VI); JRS
/// before PriRecT. Solo times are those of the row's own session. `source` is like "JRS-IV row 3".
std::vector<CorunMeasurement> paper_measurements(WorkloadKeys& keys,
                                                 const PaperFilter& filter = kAllPapers);

/// The 24 jobs on which JRS compares its schedulers, in the order of their task numbers, all submitted at
/// 0, named like "J7-205". Solo times are those of session JRS-perf, clusters and uncertainties those of
/// Table IV; an epoch lasts the solo time over the number of epochs.
Trace jrs_queue_trace(WorkloadKeys& keys);

/// `jobs` jobs drawn uniformly, with replacement, from the 50 distinct jobs that JRS ran: the 31 of its
/// knowledge base and the 24 of its queue, 5 of them the same. If both were timed the queue's solo time
/// counts. They are named like "DCGAN-205#17" after workload and JobId. With a mean, arrivals are a Poisson
/// process from time 0 with that mean between arrivals [s]; without, all are submitted at 0. InputError if
/// jobs < 1, the mean is not above 0 or the last arrival lies beyond 4e9 s.
Trace jrs_resampled_trace(WorkloadKeys& keys, int jobs, std::optional<double> interarrival_mean_s,
                          std::uint64_t seed);

/// Expected solo time of a job of jrs_resampled_trace() [s], to convert a load into a mean time between
/// arrivals.
double jrs_resampled_mean_solo_s();

/// The published profiles of these jobs in a fixed order, without imputed ones.
const std::vector<Profile>& jrs_profiles();

/// The jobs of one measured row, all submitted at 0, with the solo times of the row's own session: a replay
/// of them against the row must give the row's times. Jobs of the JRS queue are named like "J7-205", others
/// like "DCGAN-230".
Trace paper_row_trace(WorkloadKeys& keys, const PaperPair& pair);
Trace paper_row_trace(WorkloadKeys& keys, const PaperGroup& group);

/// One GPU's jobs in a schedule of the paper.
struct PaperScheduleGroup {
  std::vector<std::string> jobs;        ///< named as by jrs_queue_trace()
  std::vector<double> isd_pct_printed;  ///< of each job, after correction [%]
  double ps_pct_printed = 0;            ///< of the group, after correction [%]
};

/// A table of JRS as a schedule. Each job of the queue is in one group or in `alone`.
struct PaperSchedule {
  std::string_view table;    ///< "JRS-IV" .. "JRS-VII"
  std::string_view policy;   ///< corun's name of the policy
  std::string_view fill_by;  ///< max-packing: resource of its bin, "utilisation" or "memory"
  std::vector<PaperScheduleGroup> groups;  ///< in the printed order; a bin is the first group
  std::vector<std::string> alone;  ///< jobs in no row: V and VI have bins of odd size and do not
                                   ///< print the one job that is left without a co-runner
};

/// Means of the printed figures of one schedule [%].
struct PaperReported {
  double isd_pct = 0;           ///< over the jobs that ran in pairs
  double ps_pct = 0;            ///< over the pairs
  double isd_with_bin_pct = 0;  ///< over all printed jobs; isd_pct if there is no bin
  double ps_with_bin_pct = 0;   ///< the bin counts as one group; ps_pct if there is none
};

/// InputError, with the names of the tables, for any other than JRS-IV to JRS-VII.
PaperSchedule paper_schedule(std::string_view table);
PaperReported paper_reported(std::string_view table);

}  // namespace corun::inline traces
