#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "sim/base/nan.hpp"
#include "sim/job.hpp"
#include "sim/measurement.hpp"
#include "sim/speed_table.hpp"

/// The result of a reader or generator: the jobs, and data that are attached again on output and never
/// reach a policy (DESIGN 4.13).
namespace corun::inline traces {

inline constexpr int kUnknownCluster = -1;
inline constexpr double kUnknownUncertainty = std::numeric_limits<double>::quiet_NaN();

/// Least and greatest solo time on a GPU type [s] that a file may hold, so that ratios of two stay
/// finite; solo times that are computed from others are kept within them.
inline constexpr double kLeastSoloS = 1e-9;
inline constexpr double kLongestSoloS = 9e7;

/// Measurements of jobs alone on one GPU type, by JobId.
struct MeasuredOnType {
  std::string gpu_type;            ///< as its file names it: a name or an alias of a GPU type
  std::vector<double> solo_s;      ///< [s] above 0; NaN: not measured; infinity: does not run there
  std::vector<double> memory_mib;  ///< demand; NaN: not measured
  std::string place = {};  ///< of the name, for messages: FILE:LINE:COLUMN; empty: in no file
};

/// A job that names a model of the zoo (predictors/graph/zoo) and a batch in place of a profile.
struct ZooRun {
  std::string model;
  double batch = 1;   ///< samples of a training step
  std::string place;  ///< for messages: FILE:LINE:COLUMN
};

/// Rows of a file that are no jobs of the trace, for one reason.
struct LeftOut {
  std::string reason;          ///< "without GPUs", or with `whole` all of it: "job steps"
  std::size_t rows = 0;        ///< 1 or more
  std::size_t first_line = 0;  ///< 0: not known
  bool whole = false;
};

/// "12 jobs without GPUs (the first on line 4)".
std::string text_of(const LeftOut& left_out);

/// Rows of a file in one state, in the file's words.
struct JobsInState {
  std::string state;
  std::size_t rows = 0;
  bool chosen = true;  ///< they count as jobs
};

/// `names`, `keys`, `clusters` and `uncertainties` are indexed by JobId and as long as `workload.jobs`.
struct Trace {
  Workload workload;
  std::vector<std::string> names;     ///< in the output; all different
  std::vector<WorkloadKey> keys;      ///< kUnknownWorkload if never measured
  std::vector<int> clusters;          ///< of the profile, kUnknownCluster if not known
  std::vector<double> uncertainties;  ///< sum of distances to all centres [percentage points]; NaN
                                      ///< if not known
  /// Known features of a job alone beyond its profile: for worlds and beliefs, which ask by name. Empty if
  /// there are none.
  std::vector<SpeedTable::Feature> feature_list;
  std::vector<double> features;               ///< jobs x feature_list, row-major; NaN: not known
  std::vector<std::string> virtual_clusters;  ///< names; empty: one queue for the whole cluster
  std::vector<std::string> gpu_models;        ///< bit i of JobSpec::gpu_models, 32 at most
  /// GPU type of JobSpec::work; empty: not known. The work of a job that names one GPU model is its run time on it.
  std::string reference_type;
  std::vector<MeasuredOnType> on_types;    ///< each type once
  std::map<std::size_t, ZooRun> zoo_runs;  ///< by JobId, of the jobs that name a model
  std::vector<LeftOut> left_out;           ///< rows that are no jobs of the trace, by reason
  std::vector<JobsInState> states;  ///< rows by the state that their file says; empty: it says none
  /// What a reader assumed of the file, for the output: "times of day without a zone are taken as UTC".
  std::vector<std::string> assumptions;
  /// Columns of a job CSV that corun does not know, for the output.
  std::vector<std::string> unread_columns;
  std::vector<std::string> files_beside;  ///< files read beside the named one
  std::string source;                     ///< origin of the jobs, for the output
  std::size_t imputed_profiles = 0;       ///< jobs whose profile stands in for an unpublished one
  bool shuffled_by_default = false;       ///< default of workload.order (DESIGN 4.8)
};

/// Appends a job; its JobId is its position. Nothing is known of it on any of `on_types`.
/// order_arrivals() fills `arrivals`.
inline void add_job(Trace& trace, const JobSpec& job, std::string name, WorkloadKey key,
                    int cluster, double uncertainty) {
  trace.imputed_profiles += job.profile.imputed ? 1 : 0;
  trace.workload.jobs.push_back(job);
  trace.names.push_back(std::move(name));
  trace.keys.push_back(key);
  trace.clusters.push_back(cluster);
  trace.uncertainties.push_back(uncertainty);
  for (MeasuredOnType& type : trace.on_types) {
    type.solo_s.push_back(kNaN);
    type.memory_mib.push_back(kNaN);
  }
}

/// A trace without jobs that has the features and GPU types of `whole`, as add_job_of() needs.
inline Trace without_jobs(const Trace& whole) {
  Trace empty;
  empty.feature_list = whole.feature_list;
  empty.reference_type = whole.reference_type;
  for (const MeasuredOnType& type : whole.on_types)
    empty.on_types.push_back({type.gpu_type, {}, {}});
  empty.source = whole.source;
  return empty;
}

/// Appends job `j` of `whole` with all that is known of it, as `job`. `part` comes from
/// without_jobs(whole).
inline void add_job_of(const Trace& whole, std::size_t j, const JobSpec& job, Trace& part) {
  add_job(part, job, whole.names[j], whole.keys[j], whole.clusters[j], whole.uncertainties[j]);
  const std::size_t width = whole.feature_list.size();
  for (std::size_t f = 0; f < width; ++f) part.features.push_back(whole.features[j * width + f]);
  if (const auto run = whole.zoo_runs.find(j); run != whole.zoo_runs.end()) {
    part.zoo_runs.emplace(part.names.size() - 1, run->second);
  }
  for (std::size_t t = 0; t < whole.on_types.size(); ++t) {
    part.on_types[t].solo_s.back() = whole.on_types[t].solo_s[j];
    part.on_types[t].memory_mib.back() = whole.on_types[t].memory_mib[j];
  }
}

/// The solo time [s] `factor` times as long, within the limits above; NaN and infinity stay.
inline double scaled_solo_s(double solo_s, double factor) {
  return std::isfinite(solo_s) ? std::clamp(solo_s * factor, kLeastSoloS, kLongestSoloS) : solo_s;
}

/// Sorts arrivals by submit time; jobs of one instant in the order of their identifiers.
inline void order_arrivals(Trace& trace) {
  auto& arrivals = trace.workload.arrivals;
  arrivals.clear();
  for (std::size_t i = 0; i < trace.workload.jobs.size(); ++i) {
    arrivals.push_back(static_cast<JobId>(i));
  }
  std::ranges::stable_sort(arrivals, {},
                           [&](JobId id) { return trace.workload.jobs[index(id)].submit; });
}

}  // namespace corun::inline traces
