#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "results/hdf5_table.hpp"
#include "results/replay_result.hpp"
#include "results/results_header.hpp"

/// The columns of a results file in their order: name, unit, description (docs/results.md) and value of each. To add
/// a column, add its line.
namespace corun::inline results {

/// Bytes of the longest text of each kind in the file, at least 1.
struct TextWidths {
  std::size_t label = 1;
  std::size_t policy_name = 1;
  std::size_t parameters = 1;
  std::size_t job = 1;
  std::size_t gpu_type = 1;
  std::size_t virtual_cluster = 1;
  std::size_t service = 1;
  std::size_t metric = 1;
  std::size_t unit = 1;
  std::vector<std::size_t> carried;  ///< by Trace::carried
};

// Rows refer to the results that they show.

struct GpuRow {
  std::size_t gpu;
  const GpuHeader& header;
};

struct PolicyRow {
  std::size_t policy;
  const PolicyHeader& header;
};

/// A run: a policy in a replication.
struct RunRow : PolicyRow {
  std::size_t replication;
};

struct JobRow : RunRow {
  std::size_t index;  ///< in the workload
  const std::string& name;
  const JobRecord& job;
  const std::string& gpu_type;  ///< of the job's GPU
  int cluster;                  ///< -1: none
  const Trace& trace;           ///< the job is jobs[index]
};

struct EpisodeRow : RunRow {
  std::size_t number;
  const EpisodeRecord& episode;
};

struct ServiceIntervalRow : RunRow {
  std::size_t service;
  const ServiceOutcome& outcome;
  const ServiceInterval& interval;
};

/// A service over a whole run.
struct ServiceTotalsRow : RunRow {
  const ServiceOutcome& outcome;
};

struct EpisodeJobRow : RunRow {
  std::size_t episode;
  JobId job;
  const std::string& name;
};

struct UsageRow : RunRow {
  const RunRecord& record;
};

struct MetricsRow : RunRow {
  const MetricValues& values;
};

/// A run that its policy ended by breaking a rule.
struct FailureRow : RunRow {
  const std::string& reason;
};

struct SummaryRow : PolicyRow {
  Metric metric;
  const Interval& interval;
};

struct VersusRow : SummaryRow {
  PolicyRow other;
};

struct CoverageRow : PolicyRow {
  const Coverage& coverage;
};

struct CoRunRow : RunRow {
  const CoRunRecord& co_run;
};

struct EventRow : RunRow {
  const EventRecord& event;
};

struct SliceRow : RunRow {
  const SliceRecord& slice;
};

template <typename Row>
using ColumnList = std::vector<hdf5::ColumnOf<Row>>;

ColumnList<GpuRow> gpu_columns(const TextWidths& widths);
ColumnList<PolicyRow> policy_columns(const TextWidths& widths);
/// Of the columns of a log in /runs.
inline constexpr const char* kCarriedDescription = "column of the log, as it says";

/// With a column for each of `carried` (Trace::carried) that has a name, which gets "log_" before it if a column before
/// has that name.
/// The columns of `changes` are there only where the workload has such jobs.
struct JobChanges {
  bool changing = false;  ///< some may change their GPUs or have phases
  bool elastic =
      false;  ///< some may change their number of GPUs, or tell how many samples they train on
};
ColumnList<JobRow> job_columns(const TextWidths& widths, std::span<const CarriedColumn> carried,
                               JobChanges changes);
ColumnList<EpisodeRow> episode_columns(const TextWidths& widths);
ColumnList<ServiceIntervalRow> service_interval_columns(const TextWidths& widths);
ColumnList<ServiceTotalsRow> service_totals_columns(const TextWidths& widths);
ColumnList<EpisodeJobRow> episode_job_columns(const TextWidths& widths);
ColumnList<UsageRow> usage_columns(const TextWidths& widths);
ColumnList<MetricsRow> metric_columns(const TextWidths& widths);
/// `reason`: the length of the longest one.
ColumnList<FailureRow> failure_columns(const TextWidths& widths, std::size_t reason);
ColumnList<SummaryRow> summary_columns(const TextWidths& widths);
ColumnList<VersusRow> versus_columns(const TextWidths& widths);
ColumnList<CoverageRow> coverage_columns(const TextWidths& widths);
ColumnList<CoRunRow> co_run_columns();
ColumnList<EventRow> event_columns();
ColumnList<SliceRow> over_time_columns();

/// Names by code, of the columns kind of /events and source of /co_runs.
const std::vector<std::string>& event_kind_codes();
const std::vector<std::string>& source_codes();

}  // namespace corun::inline results
