#pragma once

#include <limits>
#include <span>
#include <string_view>

/// The measured tables of the two papers that corun reproduces, compiled in:
///
/// - JRS: "Job Recommendation Service for GPU Sharing in Kubernetes", IEEE Cloud Summit 2023,
///   doi 10.1109/CloudSummit57601.2023.00008, Tables II to VII.
/// - PriRecT: the companion paper on the Futurewei mini-ML workload data set, Tables III and IV,
///   and two rows of an earlier draft of its Table IV.
///
/// Co-runs and solo runs were measured on V100 GPUs, profiles on T4 or P100. With J_a a job's
/// completion time alone and J_c its completion time with co-runners (both from start to end):
///
///     ISD(j) = (J_c(j) - J_a(j)) / J_a(j)            PS = (sum J_a - max J_c) / sum J_a
///
/// All percentages here are in percent. A solo time belongs to a *session*: the same job has other solo
/// times in other sessions, and a row's ISD refers to its own session. The papers mostly cut ISD and PS to
/// the last digit, so a recomputed value tends to lie up to one unit of that digit above the printed one.
namespace corun::inline traces {

/// The table prints no value. A quiet NaN: test with std::isnan.
inline constexpr double kNotPrinted = std::numeric_limits<double>::quiet_NaN();

/// One job of a printed row, after the corrections listed in the row's note.
struct PaperSide {
  std::string_view model;  ///< the paper's workload name, e.g. "DCGAN"
  int batch_size;
  int epochs;
  int cluster;  ///< 0, 1 or 2
  /// "Distance from cluster centre", the sum of the Euclidean distances to all three centres
  /// [percentage points]; kNotPrinted in JRS II and III and in the bins.
  double uncertainty;
  double corun_s;          ///< J_c [s]
  double solo_s;           ///< J_a of the row's session [s]
  double isd_pct_printed;  ///< individual slowdown as printed, after correction [%]
};

/// One measured pair: a row of JRS II to VII or of PriRecT III, IV and its draft.
struct PaperPair {
  std::string_view table;    ///< "JRS-II" .. "JRS-VII", "PRI-III", "PRI-IV", "PRI-draft-IV"
  int row;                   ///< row of that table, from 1; row 1 of JRS-V and JRS-VI is the bin
  std::string_view session;  ///< "JRS-KB", "JRS-perf", "JRS-perf-VI2" or "PriRecT"
  bool use;                  ///< false if the row repeats a measurement printed elsewhere
  PaperSide a, b;            ///< in the printed order
  double ps_pct_printed;     ///< packing saving as printed, after correction [%]
  double ps_pct;             ///< packing saving recomputed from the times of a and b [%]
  std::string_view note;     ///< the correction, if any
};

/// A group of more than two jobs sharing one GPU: the bins of JRS V and VI. Their times are printed
/// in whole seconds, and their ISDs were taken against solo times cut to about whole seconds.
struct PaperGroup {
  std::string_view table;  ///< "JRS-V" or "JRS-VI"
  std::string_view name;   ///< "V-bin" (filled by gpu_util) or "VI-bin" (filled by mem_alloc)
  std::string_view session;
  std::span<const PaperSide> members;
  double ps_pct_printed;  ///< packing saving of the whole group [%]
};

/// The published profile of a workload: three maxima over its run [%]. Epochs do not change it.
struct PaperProfile {
  std::string_view model;
  int batch_size;
  double gpu_util_pct;   ///< MGUP, maximum GPU utilisation [%]
  double mem_alloc_pct;  ///< MGMAP, maximum share of GPU memory reserved [%]; not the true demand
  double mem_time_pct;   ///< MaGTSAMP, maximum share of time spent accessing memory [%]
  int cluster;           ///< by the reproduced k-means; agrees with every printed cluster
  double uncertainty;    ///< sum of distances to the reproduced centres [percentage points];
                         ///< within 0.1 of the printed one, InceptionV3 BS=869 excepted
};

/// A job's completion time alone on a V100: the best estimate from all rows of its session.
struct PaperSolo {
  std::string_view session;
  std::string_view model;
  int batch_size;
  int epochs;
  double solo_s;  ///< J_a [s]; measured in PriRecT, elsewhere from J_c / (1 + ISD)
};

/// A job of the 24-job queue on which JRS compares its schedulers.
struct QueueJob {
  std::string_view id;  ///< task of JRS Table I and batch size: "J7-205"
  std::string_view model;
  int batch_size;
  int epochs;
  int cluster;         ///< as printed in JRS Table IV
  double uncertainty;  ///< as printed in JRS Table IV, corrected [percentage points]
  double solo_s;       ///< J_a in session "JRS-perf" [s]
  bool has_profile;    ///< false for the autoencoders (J8 to J10), never published
};

/// JRS Tables II to VII, all 87 rows in table order; `use` marks the unique measurements.
std::span<const PaperPair> jrs_pairs();

/// PriRecT Tables III and IV and two rows of an earlier draft of Table IV: 34 rows.
std::span<const PaperPair> prirect_pairs();

/// The bins of JRS Tables V (5 jobs) and VI (9 jobs).
std::span<const PaperGroup> jrs_groups();

/// Every (model, batch size) of the tables with a published profile, sorted by both: 52.
std::span<const PaperProfile> paper_profiles();

/// Solo times of all sessions, sorted by session, model, batch size: 69.
std::span<const PaperSolo> paper_solo_times();

/// The 24 jobs of JRS Table IV, by task number, then batch size.
std::span<const QueueJob> jrs_queue();

}  // namespace corun::inline traces
