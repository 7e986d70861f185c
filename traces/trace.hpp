#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <memory>
#include <span>
#include <string>
#include <string_view>
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

/// A GPU type on which jobs were measured alone.
struct MeasuredType {
  std::string name;        ///< as its file says it: a name or an alias of a GPU type
  std::string place = {};  ///< of the name, for messages: FILE:LINE:COLUMN; empty: in no file
};

/// What is known of a job alone on one GPU type.
struct JobOnType {
  double solo_s = kNaN;      ///< [s] above 0; NaN: not measured; infinity: does not run there
  double memory_mib = kNaN;  ///< demand; NaN: not measured
};

/// A model of the zoo (predictors/graph/zoo) and a batch, which a job may name in place of a profile.
struct ZooRun {
  std::string model;
  double batch = 1;   ///< samples of a training step
  std::string place;  ///< for messages: FILE:LINE:COLUMN
};

/// A job with its data for output, worlds and beliefs.
struct TraceJob {
  JobSpec spec = {};
  std::string name = {};  ///< in the output; the jobs of a trace have different ones
  WorkloadKey key = kUnknownWorkload;
  int cluster = kUnknownCluster;  ///< of the profile
  /// Sum of the profile's distances to all centres [percentage points].
  double uncertainty = kUnknownUncertainty;
  std::vector<double> features = {};     ///< by Trace::feature_list; NaN: not known
  std::vector<JobOnType> on_types = {};  ///< by Trace::measured_types; may end early: on_type()
  /// Share of the work that several GPUs do in parallel (Amdahl), 0 to 1: the speed of an elastic job by its number of
  /// GPUs.
  double parallel_share = 1;
  int run_nodes = 0;            ///< on which the run time was measured; 0: not told
  double message_mib = 0;       ///< that its GPUs exchange in each step; 0: not told
  double step_s = 0;            ///< mean of the measured run [s], if the message is told
  std::int64_t batch_size = 0;  ///< of a step on all its GPUs; 0: not told
  std::shared_ptr<const ZooRun> zoo_run = {};  ///< null if it names no model
  std::vector<std::uint32_t> carried = {};     ///< by Trace::carried: place of its text
};

/// A column of a log that means nothing to corun, for results.
struct CarriedColumn {
  std::string name;  ///< empty: dropped, it had too many different texts
  std::vector<std::string> texts;
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

struct Trace {
  std::vector<TraceJob> jobs;  ///< by JobId
  /// The phases of jobs that change (JobSpec::first_phase), each as a job of its own.
  std::vector<TraceJob> phases;
  Duration phase_grid{0};       ///< Workload::phase_grid
  bool counts_samples = false;  ///< the world knows how many samples jobs train on
  /// Known features of a job alone beyond its profile: for worlds and beliefs, which ask by name. Empty if
  /// there are none.
  std::vector<SpeedTable::Feature> feature_list;
  std::vector<std::string> virtual_clusters;  ///< names; empty: one queue for the whole cluster
  std::vector<std::string> gpu_model_names;   ///< of the bits of JobSpec::gpu_models, 32 at most
  /// GPU type of JobSpec::work; empty: not known. The work of a job that names one GPU model is its run time on it.
  std::string reference_type;
  std::vector<MeasuredType> measured_types;  ///< each once
  std::vector<LeftOut> left_out;             ///< rows that are no jobs of the trace, by reason
  std::vector<JobsInState> states;  ///< rows by the state that their file says; empty: it says none
  /// What a reader assumed of the file, for the output: "times of day without a zone are taken as UTC".
  std::vector<std::string> assumptions;
  /// Columns of a job CSV that corun does not know, for the output.
  std::vector<std::string> unread_columns;
  std::vector<CarriedColumn> carried;     ///< columns whose texts results have, by job
  std::vector<std::string> files_beside;  ///< files read beside the named one
  std::string source;                     ///< origin of the jobs, for the output
  std::size_t drawn_profiles = 0;         ///< jobs with the profile of a measured job, drawn
  bool shuffled_by_default = false;       ///< default of workload.order (DESIGN 4.8)
};

/// A trace without jobs that has the tables of `whole`, so that it can take jobs of it.
inline Trace without_jobs(const Trace& whole) {
  Trace empty;
  empty.phases = whole.phases;
  empty.phase_grid = whole.phase_grid;
  empty.counts_samples = whole.counts_samples;
  empty.feature_list = whole.feature_list;
  empty.virtual_clusters = whole.virtual_clusters;
  empty.gpu_model_names = whole.gpu_model_names;
  empty.reference_type = whole.reference_type;
  empty.measured_types = whole.measured_types;
  empty.carried = whole.carried;
  empty.source = whole.source;
  return empty;
}

/// The jobs as the world knows them: those of the trace, then their phases (Workload::in_phase()).
inline Trace with_phases_as_jobs(const Trace& trace) {
  Trace known = trace;
  known.jobs.insert(known.jobs.end(), trace.phases.begin(), trace.phases.end());
  known.phases.clear();
  return known;
}

/// By JobId; the trace must outlive them.
inline std::vector<std::string_view> names_of(const Trace& trace) {
  std::vector<std::string_view> names;
  names.reserve(trace.jobs.size());
  for (const TraceJob& job : trace.jobs) names.emplace_back(job.name);
  return names;
}

/// By JobId.
inline std::vector<WorkloadKey> keys_of(const Trace& trace) {
  std::vector<WorkloadKey> keys;
  keys.reserve(trace.jobs.size());
  for (const TraceJob& job : trace.jobs) keys.push_back(job.key);
  return keys;
}

/// What is known of a job on the type Trace::measured_types[t].
inline JobOnType on_type(const TraceJob& job, std::size_t t) {
  return t < job.on_types.size() ? job.on_types[t] : JobOnType{};
}

/// The solo time [s] `factor` times as long, within the limits above; NaN and infinity stay.
inline double scaled_solo_s(double solo_s, double factor) {
  return std::isfinite(solo_s) ? std::clamp(solo_s * factor, kLeastSoloS, kLongestSoloS) : solo_s;
}

/// Sorts jobs by submit time; those of one instant keep their order.
inline void sort_by_submit_time(const Trace& trace, std::vector<JobId>& jobs) {
  const auto submit = [&](JobId j) { return trace.jobs[index(j)].spec.submit; };
  if (!std::ranges::is_sorted(jobs, {}, submit)) std::ranges::stable_sort(jobs, {}, submit);
}

/// All jobs by submit time, those of one instant in the order of their identifiers.
inline std::vector<JobId> by_submit_time(const Trace& trace) {
  std::vector<JobId> jobs;
  jobs.reserve(trace.jobs.size());
  for (std::size_t j = 0; j < trace.jobs.size(); ++j) jobs.push_back(static_cast<JobId>(j));
  sort_by_submit_time(trace, jobs);
  return jobs;
}

/// The jobs in this order of arrival for the engine. Both arguments must outlive it.
inline Workload workload_of(const Trace& trace, std::span<const JobId> arrivals) {
  return {
      {trace.jobs, &TraceJob::spec}, arrivals, {trace.phases, &TraceJob::spec}, trace.phase_grid};
}

}  // namespace corun::inline traces
