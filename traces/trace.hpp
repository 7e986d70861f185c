#pragma once

#include <algorithm>
#include <cstddef>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "sim/job.hpp"
#include "sim/measurement.hpp"
#include "sim/speed_table.hpp"

/// The result of a reader or generator: the jobs, and data that are attached again on output and never
/// reach a policy (DESIGN 4.13).
namespace corun {

inline constexpr int kUnknownCluster = -1;
inline constexpr double kUnknownUncertainty = std::numeric_limits<double>::quiet_NaN();

/// Measurements of jobs alone on one GPU type, by JobId.
struct MeasuredOnType {
  std::string gpu_type;            ///< as its file names it: a name or an alias of a GPU type
  std::vector<double> solo_s;      ///< [s] above 0; NaN: not measured; infinity: does not run there
  std::vector<double> memory_mib;  ///< demand; NaN: not measured
};

/// The vectors are indexed by JobId and as long as `workload.jobs`.
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
  std::string reference_type;                 ///< GPU type of JobSpec::work; empty: not known
  std::vector<MeasuredOnType> on_types;       ///< each type once
  /// Jobs that a reader left out, by reason, for the output: "12 jobs without GPUs".
  std::vector<std::string> skipped;
  /// Columns of a job CSV that corun does not know, for the output.
  std::vector<std::string> unread_columns;
  std::vector<std::string> files_beside;  ///< files read beside the named one
  std::string source;                     ///< origin of the jobs, for the output
  std::size_t imputed_profiles = 0;       ///< jobs whose profile stands in for an unpublished one
  bool shuffled_by_default = false;       ///< default of workload.order (DESIGN 4.8)
};

/// Appends a job; its JobId is its position. order_arrivals() fills `arrivals`.
inline void add_job(Trace& trace, const JobSpec& job, std::string name, WorkloadKey key,
                    int cluster, double uncertainty) {
  trace.imputed_profiles += job.profile.imputed ? 1 : 0;
  trace.workload.jobs.push_back(job);
  trace.names.push_back(std::move(name));
  trace.keys.push_back(key);
  trace.clusters.push_back(cluster);
  trace.uncertainties.push_back(uncertainty);
}

/// Copies what a trace knows of its GPU types, without jobs; then copy_on_types() for each job added to `part`.
inline void share_types(const Trace& whole, Trace& part) {
  part.reference_type = whole.reference_type;
  for (const MeasuredOnType& type : whole.on_types)
    part.on_types.push_back({type.gpu_type, {}, {}});
}
inline void copy_on_types(const Trace& whole, std::size_t job, Trace& part) {
  for (std::size_t t = 0; t < whole.on_types.size(); ++t) {
    part.on_types[t].solo_s.push_back(whole.on_types[t].solo_s[job]);
    part.on_types[t].memory_mib.push_back(whole.on_types[t].memory_mib[job]);
  }
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

}  // namespace corun
