#include "results/result_columns.hpp"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <optional>

#include "sim/base/nan.hpp"
#include "sim/records/event_log.hpp"
#include "sim/records/metrics.hpp"

namespace corun::inline results {

namespace {

using hdf5::Columns;

double seconds_or_nan(const std::optional<Time>& t) { return t ? to_seconds(*t) : kNaN; }

bool finished(const JobRow& row) { return row.job.end == JobEnd::kFinished; }

template <typename Row>
auto policy_column() {
  return Columns<Row>::int32("policy", "index of the policy, a row of /policies",
                             [](const Row& row) { return row.policy; });
}

template <typename Row>
auto label_column(const TextWidths& widths) {
  return Columns<Row>::text("label", "label of the policy", widths.label,
                            [](const Row& row) { return row.header.label; });
}

template <typename Row>
auto replication_column() {
  return Columns<Row>::int64("replication", "number of the replication; its seed is seed + this",
                             [](const Row& row) { return row.replication; });
}

/// The columns that tables by run begin with, and then `more`.
template <typename Row>
ColumnList<Row> of_runs(const TextWidths& widths, ColumnList<Row> more) {
  ColumnList<Row> all{policy_column<Row>(), label_column<Row>(widths), replication_column<Row>()};
  all.insert(all.end(), more.begin(), more.end());
  return all;
}

template <typename Row>
auto metric_column(const TextWidths& widths) {
  return Columns<Row>::text("metric", "name of the metric, a column of /metrics", widths.metric,
                            [](const Row& row) { return metric_info(row.metric).name; });
}

template <typename Row>
auto unit_column(const TextWidths& widths) {
  return Columns<Row>::text("unit", "unit of mean, lo and hi", widths.unit,
                            [](const Row& row) { return metric_info(row.metric).unit; });
}

/// One end or the middle of the row's interval.
template <typename Row>
auto interval_column(const char* name, double Interval::*part, const char* description) {
  return Columns<Row>::real(name, "as in column unit", description,
                            [part](const Row& row) { return row.interval.*part; });
}

/// The time with co-runners whose cost had one provenance.
auto co_runner_time(const char* name, Provenance provenance, const char* description) {
  return Columns<UsageRow>::real(name, "GPU s", description, [provenance](const UsageRow& row) {
    return row.record.usage.corun_s[static_cast<std::size_t>(provenance)];
  });
}

/// The time of jobs on GPUs whose speed alone there had one source.
auto solo_time(const char* name, SoloSource source, const char* description) {
  return Columns<UsageRow>::real(name, "GPU s", description, [source](const UsageRow& row) {
    return row.record.usage.solo_s[static_cast<std::size_t>(source)];
  });
}

}  // namespace

ColumnList<GpuRow> gpu_columns(const TextWidths& widths) {
  using C = Columns<GpuRow>;
  return {
      C::int32("gpu", "index in the cluster", [](const GpuRow& row) { return row.gpu; }),
      C::int32("node", "index of its node in the cluster",
               [](const GpuRow& row) { return row.header.node; }),
      C::int32("gpu_of_node", "index within the node",
               [](const GpuRow& row) { return row.header.gpu_of_node; }),
      C::text("type", "GPU type", widths.gpu_type,
              [](const GpuRow& row) { return row.header.type; }),
      C::real("memory_mib", "MiB", "its memory",
              [](const GpuRow& row) { return row.header.memory_mib; }),
      C::text("virtual_cluster", "virtual cluster that owns the node; empty: none",
              widths.virtual_cluster, [](const GpuRow& row) { return row.header.virtual_cluster; }),
  };
}

ColumnList<PolicyRow> policy_columns(const TextWidths& widths) {
  using C = Columns<PolicyRow>;
  return {
      policy_column<PolicyRow>(),
      label_column<PolicyRow>(widths),
      C::text("name", "name of the policy in the catalogue", widths.policy_name,
              [](const PolicyRow& row) { return row.header.name; }),
      C::text("parameters", "parameters, JSON", widths.parameters,
              [](const PolicyRow& row) { return row.header.parameters; }),
      C::flag("granted_truth",
              "it decides from the true costs: a bound, not a policy one could run",
              [](const PolicyRow& row) { return row.header.granted_truth; }),
  };
}

ColumnList<JobRow> job_columns(const TextWidths& widths, std::span<const CarriedColumn> carried,
                               JobChanges changes) {
  using C = Columns<JobRow>;
  ColumnList<JobRow> columns = of_runs<JobRow>(
      widths,
      {
          C::int64("job_index", "position of the job in the workload",
                   [](const JobRow& row) { return row.index; }),
          C::text("job", "name of the job", widths.job, [](const JobRow& row) { return row.name; }),
          C::real("submit_s", "s", "submitted, from the start of the trace",
                  [](const JobRow& row) { return to_seconds(row.job.submit); }),
          C::real("first_start_s", "s", "first start of work on a GPU; NaN: never started",
                  [](const JobRow& row) { return seconds_or_nan(row.job.first_start); }),
          C::real("last_start_s", "s", "start of the last attempt",
                  [](const JobRow& row) { return to_seconds(row.job.last_start); }),
          C::real("finish_s", "s", "end of the work; of a failed job: when it was given up",
                  [](const JobRow& row) { return to_seconds(row.job.finish); }),
          C::real("work_s", "s", "solo time of all its work on the reference GPU type, as asked",
                  [](const JobRow& row) { return to_seconds(row.job.work); }),
          C::real("solo_s", "s",
                  "J_a: solo time, on the GPUs it ran on, of the work of the runs in corun_s; "
                  "failed: of what preempted runs kept",
                  [](const JobRow& row) { return to_seconds(row.job.solo); }),
          C::real(
              "corun_s", "s",
              "J_c: time on its GPUs, summed over the run that finished it and all that were "
              "preempted, not those that ended out of memory or with their probe; NaN: failed",
              [](const JobRow& row) { return finished(row) ? to_seconds(row.job.corun()) : kNaN; }),
          C::real("jct_s", "s", "completion time, finish_s - submit_s; NaN: failed",
                  [](const JobRow& row) {
                    return finished(row) ? to_seconds(row.job.finish - row.job.submit) : kNaN;
                  }),
          C::real("queue_s", "s", "queueing delay, first_start_s - submit_s; NaN: never started",
                  [](const JobRow& row) {
                    const auto& start = row.job.first_start;
                    return start ? to_seconds(*start - row.job.submit) : kNaN;
                  }),
          C::real("isd", "1", "individual slowdown (J_c - J_a) / J_a, a fraction; NaN: failed",
                  [](const JobRow& row) { return finished(row) ? row.job.isd() : kNaN; }),
          C::int32("gpus", "GPUs of the job", [](const JobRow& row) { return row.job.gpus; }),
          C::int32("gpu", "index of the (first) GPU of the last attempt",
                   [](const JobRow& row) { return row.job.gpu; }),
          C::int64("group", "number of the start; jobs started together share it",
                   [](const JobRow& row) { return row.job.group; }),
          C::int32("ooms", "attempts that ended out of memory",
                   [](const JobRow& row) { return row.job.ooms; }),
          C::real("profiling_s", "s", "time in profiling segments and probes",
                  [](const JobRow& row) { return to_seconds(row.job.profiling); }),
          C::flag("finished", "false: given up after too many attempts", finished),
          C::text("gpu_type", "type of that GPU", widths.gpu_type,
                  [](const JobRow& row) { return row.gpu_type; }),
          C::real("reference_solo_s", "s", "J_a of the same work on the reference GPU type",
                  [](const JobRow& row) { return to_seconds(row.job.reference_solo); }),
          C::real("isd_reference", "1", "individual slowdown against reference_solo_s; NaN: failed",
                  [](const JobRow& row) { return finished(row) ? row.job.isd_reference() : kNaN; }),
          C::int32("cluster",
                   "cluster of its profile in the belief's initial knowledge; -1: no profile, or "
                   "details are off",
                   [](const JobRow& row) { return row.cluster; }),
          C::int32("preemptions", "times that it was taken off its GPUs",
                   [](const JobRow& row) { return row.job.preemptions; }),
          C::real("preempted_s", "s",
                  "time on its GPUs in runs that were preempted, whatever work they kept",
                  [](const JobRow& row) { return to_seconds(row.job.ran); }),
      });
  if (changes.changing) {
    columns.push_back(C::int32("resizes", "times that it went on at once on other GPUs",
                               [](const JobRow& row) { return row.job.resizes; }));
    columns.push_back(
        C::int32("phases", "its phases; 1: it does not change", [](const JobRow& row) {
          return static_cast<std::int32_t>(std::max(row.trace.jobs[row.index].spec.phases, 1U));
        }));
  }
  if (changes.elastic) {
    columns.push_back(C::int32("restarts",
                               "times that it was taken off its GPUs to go on later, or at once "
                               "on others",
                               [](const JobRow& row) { return row.job.restarts(); }));
    columns.push_back(
        C::real("throughput_per_s", "samples/s",
                "samples that it trained on, lost work included, per second of corun_s; NaN: "
                "failed, or they are not told",
                [](const JobRow& row) { return finished(row) ? row.job.throughput() : kNaN; }));
    columns.push_back(
        C::real("goodput_per_s", "samples/s",
                "what these samples are worth in samples with the job's initial batch size, per "
                "second of corun_s; NaN: failed, or they are not told",
                [](const JobRow& row) { return finished(row) ? row.job.goodput() : kNaN; }));
  }
  for (std::size_t c = 0; c < carried.size(); ++c) {
    if (carried[c].name.empty()) continue;
    std::string name = carried[c].name;
    while (std::ranges::any_of(columns,
                               [&](const auto& other) { return other.column.name == name; })) {
      name.insert(0, "log_");
    }
    columns.push_back(C::text(name, kCarriedDescription, widths.carried[c],
                              [c](const JobRow& row) -> const std::string& {
                                const TraceJob& job = row.trace.jobs[row.index];
                                return row.trace.carried[c].texts[job.carried[c]];
                              }));
  }
  return columns;
}

ColumnList<ServiceIntervalRow> service_interval_columns(const TextWidths& widths) {
  using C = Columns<ServiceIntervalRow>;
  return of_runs<ServiceIntervalRow>(
      widths,
      {
          C::text(
              "service", "name of the service", widths.service,
              [](const ServiceIntervalRow& row) -> const std::string& { return row.outcome.name; }),
          C::real("start_s", "s", "begin of the interval",
                  [](const ServiceIntervalRow& row) { return to_seconds(row.interval.start); }),
          C::real("end_s", "s", "end of the interval",
                  [](const ServiceIntervalRow& row) { return to_seconds(row.interval.end); }),
          C::real("load_per_s", "1/s", "requests that arrived per second",
                  [](const ServiceIntervalRow& row) { return row.interval.load_per_s; }),
          C::real("replicas", "1", "mean number of replicas on GPUs",
                  [](const ServiceIntervalRow& row) { return row.interval.replicas; }),
          C::real("busy", "1", "share of the replicas' time in which they worked",
                  [](const ServiceIntervalRow& row) { return row.interval.busy; }),
          C::real("latency_s", "s", "which the goal's share of the answered requests had at most",
                  [](const ServiceIntervalRow& row) { return row.interval.latency_s; }),
          C::real("within", "1", "share of the answered requests within the latency goal",
                  [](const ServiceIntervalRow& row) { return row.interval.within; }),
      });
}

ColumnList<ServiceTotalsRow> service_totals_columns(const TextWidths& widths) {
  using C = Columns<ServiceTotalsRow>;
  const auto latency = [](double share) {
    return [share](const ServiceTotalsRow& row) {
      return row.outcome.result.latency.quantile_s(share);
    };
  };
  return of_runs<ServiceTotalsRow>(
      widths,
      {
          C::text(
              "service", "name of the service", widths.service,
              [](const ServiceTotalsRow& row) -> const std::string& { return row.outcome.name; }),
          C::real("goal_s", "s", "latency goal",
                  [](const ServiceTotalsRow& row) { return row.outcome.goal_s; }),
          C::real("goal_share", "1", "share of the requests that must be within the goal",
                  [](const ServiceTotalsRow& row) { return row.outcome.share; }),
          C::int64("requests", "requests that arrived",
                   [](const ServiceTotalsRow& row) { return row.outcome.requests; }),
          C::real("within", "1", "share of them that was answered within the goal",
                  [](const ServiceTotalsRow& row) { return row.outcome.share_within(); }),
          C::real("mean_s", "s", "mean latency of the answered requests",
                  [](const ServiceTotalsRow& row) { return row.outcome.result.latency.mean_s(); }),
          C::real("p50_s", "s", "median of their latency", latency(0.5)),
          C::real("p95_s", "s", "95th percentile of their latency", latency(0.95)),
          C::real("p99_s", "s", "99th percentile of their latency", latency(0.99)),
          C::real("goodput_per_s", "1/s", "requests within the goal per second",
                  [](const ServiceTotalsRow& row) { return row.outcome.goodput_per_s(); }),
          C::real("replicas", "1", "mean number of replicas on GPUs",
                  [](const ServiceTotalsRow& row) { return row.outcome.replicas(); }),
          C::real("busy", "1", "share of the replicas' time in which they worked",
                  [](const ServiceTotalsRow& row) { return row.outcome.busy(); }),
      });
}

ColumnList<EpisodeRow> episode_columns(const TextWidths& widths) {
  using C = Columns<EpisodeRow>;
  return of_runs<EpisodeRow>(
      widths,
      {
          C::int64("episode", "number of the episode within its run, by end",
                   [](const EpisodeRow& row) { return row.number; }),
          C::int32("gpu", "index of the GPU",
                   [](const EpisodeRow& row) { return row.episode.gpu; }),
          C::real("start_s", "s", "first resident starts",
                  [](const EpisodeRow& row) { return to_seconds(row.episode.start); }),
          C::real("end_s", "s", "last resident ends",
                  [](const EpisodeRow& row) { return to_seconds(row.episode.end); }),
          C::int32("jobs", "jobs that finished in it; they are in /episode_jobs",
                   [](const EpisodeRow& row) { return row.episode.jobs.size(); }),
          C::int32("unfinished",
                   "residents that left it otherwise: preempted, out of memory, after a probe",
                   [](const EpisodeRow& row) { return row.episode.unfinished; }),
          C::real("solo_sum_s", "s",
                  "solo time of the work done in it: of their runs in it, and what preempted runs "
                  "kept",
                  [](const EpisodeRow& row) { return to_seconds(row.episode.solo_sum); }),
          C::real("ps", "1",
                  "packing saving (solo_sum_s - length) / solo_sum_s, a fraction; NaN: no work "
                  "of it counts",
                  [](const EpisodeRow& row) { return row.episode.ps().value_or(kNaN); }),
          C::flag("together", "the jobs that finished in it started at the same instant",
                  [](const EpisodeRow& row) { return row.episode.together; }),
      });
}

ColumnList<EpisodeJobRow> episode_job_columns(const TextWidths& widths) {
  using C = Columns<EpisodeJobRow>;
  return of_runs<EpisodeJobRow>(widths,
                                {
                                    C::int64("episode", "number of the episode, as in /episodes",
                                             [](const EpisodeJobRow& row) { return row.episode; }),
                                    C::int64("job_index", "position of the job in the workload",
                                             [](const EpisodeJobRow& row) { return row.job; }),
                                    C::text("job", "name of the job", widths.job,
                                            [](const EpisodeJobRow& row) { return row.name; }),
                                });
}

ColumnList<UsageRow> usage_columns(const TextWidths& widths) {
  using C = Columns<UsageRow>;
  return of_runs<UsageRow>(
      widths,
      {
          C::int32("gpus", "GPUs of the cluster",
                   [](const UsageRow& row) { return row.record.gpu_count; }),
          C::real("busy_s", "GPU s", "with at least one resident",
                  [](const UsageRow& row) { return to_seconds(row.record.usage.busy); }),
          C::real("util_s", "GPU s", "min(1, residents' utilisation scaled by speed), integrated",
                  [](const UsageRow& row) { return row.record.usage.util_s; }),
          C::real("util_known_s", "GPU s", "busy time during which every utilisation was known",
                  [](const UsageRow& row) { return row.record.usage.util_known_s; }),
          C::real("mem_s", "GPU s",
                  "share of memory in use, where every demand is known, integrated",
                  [](const UsageRow& row) { return row.record.usage.mem_s; }),
          C::real("mem_known_s", "GPU s", "busy time during which every memory demand was known",
                  [](const UsageRow& row) { return row.record.usage.mem_known_s; }),
          co_runner_time("measured_s", Provenance::kMeasured,
                         "time with co-runners whose cost was measured"),
          co_runner_time("modelled_s", Provenance::kModelled,
                         "time with co-runners whose cost came from a model"),
          co_runner_time("extrapolated_s", Provenance::kExtrapolated,
                         "time with co-runners whose cost was extrapolated"),
          C::int64("unknown_memory_jobs",
                   "jobs whose memory demand is not known, so that they never ran out of memory",
                   [](const UsageRow& row) { return row.record.unknown_memory_jobs; }),
          C::int64("passes", "scheduling passes",
                   [](const UsageRow& row) { return row.record.passes; }),
          solo_time("solo_reference_s", SoloSource::kReference,
                    "jobs on GPUs at the solo speed of the reference type"),
          solo_time("solo_measured_s", SoloSource::kMeasured,
                    "jobs on GPUs of a type where their solo time was measured"),
          solo_time("solo_predicted_s", SoloSource::kPredicted,
                    "where a model of the job gave their speed alone"),
          solo_time("solo_scaled_s", SoloSource::kScaled,
                    "where specifications of the types gave it"),
          solo_time("solo_assumed_s", SoloSource::kAssumed,
                    "where nothing is known of the type; all 0: jobs do not differ between the GPU "
                    "types"),
      });
}

ColumnList<MetricsRow> metric_columns(const TextWidths& widths) {
  ColumnList<MetricsRow> columns;
  for (std::size_t m = 0; m < kMetricCount; ++m) {
    const MetricInfo& info = metric_info(static_cast<Metric>(m));
    columns.push_back(Columns<MetricsRow>::real(
        std::string(info.name), std::string(info.unit), std::string(info.description),
        [m](const MetricsRow& row) { return row.values[m]; }));
  }
  return of_runs<MetricsRow>(widths, std::move(columns));
}

ColumnList<FailureRow> failure_columns(const TextWidths& widths, std::size_t reason) {
  return of_runs<FailureRow>(
      widths, {Columns<FailureRow>::text("reason", "the rule, and how it was broken", reason,
                                         [](const FailureRow& row) { return row.reason; })});
}

ColumnList<SummaryRow> summary_columns(const TextWidths& widths) {
  using Row = SummaryRow;
  return {
      policy_column<Row>(),
      label_column<Row>(widths),
      metric_column<Row>(widths),
      unit_column<Row>(widths),
      interval_column<Row>("mean", &Interval::mean, "mean over replications"),
      interval_column<Row>("lo", &Interval::lo, "lower end of the interval"),
      interval_column<Row>("hi", &Interval::hi, "upper end of the interval"),
  };
}

ColumnList<VersusRow> versus_columns(const TextWidths& widths) {
  using Row = VersusRow;
  using C = Columns<Row>;
  return {
      policy_column<Row>(),
      label_column<Row>(widths),
      C::int32("other", "index of the policy it is compared with",
               [](const Row& row) { return row.other.policy; }),
      C::text("other_label", "label of the policy", widths.label,
              [](const Row& row) { return row.other.header.label; }),
      metric_column<Row>(widths),
      unit_column<Row>(widths),
      interval_column<Row>("mean", &Interval::mean, "mean difference over replications"),
      interval_column<Row>("lo", &Interval::lo, "lower end of its 95 % interval (Student's t)"),
      interval_column<Row>("hi", &Interval::hi, "upper end of its 95 % interval (Student's t)"),
  };
}

ColumnList<CoverageRow> coverage_columns(const TextWidths& widths) {
  using C = Columns<CoverageRow>;
  return {
      policy_column<CoverageRow>(),
      label_column<CoverageRow>(widths),
      C::real("measured", "1", "a measured row of exactly these jobs",
              [](const CoverageRow& row) { return row.coverage.measured; }),
      C::real("modelled", "1", "an interference model, within what it was fitted on",
              [](const CoverageRow& row) { return row.coverage.modelled; }),
      C::real("extrapolated", "1", "a GPU type or sharing mode it was not measured on",
              [](const CoverageRow& row) { return row.coverage.extrapolated; }),
  };
}

ColumnList<CoRunRow> co_run_columns() {
  using C = Columns<CoRunRow>;
  using Row = CoRunRow;
  return {
      policy_column<Row>(),
      replication_column<Row>(),
      C::int64("co_run", "number of the co-run in its run",
               [](const Row& row) { return row.co_run.co_run; }),
      C::int32("gpu", "index of the GPU", [](const Row& row) { return row.co_run.gpu; }),
      C::real("start_s", "s", "these jobs, and no others, begin to share the GPU",
              [](const Row& row) { return to_seconds(row.co_run.start); }),
      C::real("end_s", "s", "the jobs on the GPU change",
              [](const Row& row) { return to_seconds(row.co_run.end); }),
      C::int32("jobs", "jobs on the GPU; each pair of them has a row",
               [](const Row& row) { return row.co_run.jobs; }),
      C::int64("job_a", "job_index of the first job of the pair",
               [](const Row& row) { return row.co_run.pair[0]; }),
      C::int64("job_b", "job_index of the second, which is larger",
               [](const Row& row) { return row.co_run.pair[1]; }),
      C::flag("probe", "it was a probe", [](const Row& row) { return row.co_run.probe; }),
      C::int32("source", "source of the true speeds; -1: they are not known",
               [](const Row& row) {
                 const auto& source = row.co_run.source;
                 return source ? static_cast<std::int64_t>(*source) : -1;
               }),
      C::real("speed_a", "1", "true mean speed of job_a, relative to alone; NaN: not known",
              [](const Row& row) { return row.co_run.speed[0]; }),
      C::real("speed_b", "1", "true mean speed of job_b, relative to alone; NaN: not known",
              [](const Row& row) { return row.co_run.speed[1]; }),
      C::real("isd_a", "1",
              "true ISD of job_a in the episode, if exactly these two ran and finished in it; else "
              "NaN",
              [](const Row& row) { return row.co_run.isd[0]; }),
      C::real("isd_b", "1", "the same of job_b", [](const Row& row) { return row.co_run.isd[1]; }),
      C::real("ps", "1", "true packing saving of this episode; else NaN",
              [](const Row& row) { return row.co_run.ps; }),
      C::real("predicted_isd_a", "1",
              "isd_a as the policy's belief expected it when the co-run began; NaN: no belief",
              [](const Row& row) { return row.co_run.predicted_isd[0]; }),
      C::real("predicted_isd_b", "1", "the same of job_b",
              [](const Row& row) { return row.co_run.predicted_isd[1]; }),
      C::real("predicted_ps", "1", "ps as the belief expected it",
              [](const Row& row) { return row.co_run.predicted_ps; }),
      C::real("predicted_speed_a", "1", "speed_a as the belief expected it",
              [](const Row& row) { return row.co_run.predicted_speed[0]; }),
      C::real("predicted_speed_b", "1", "speed_b as the belief expected it",
              [](const Row& row) { return row.co_run.predicted_speed[1]; }),
  };
}

ColumnList<EventRow> event_columns() {
  using C = Columns<EventRow>;
  using Row = EventRow;
  return {
      policy_column<Row>(),
      replication_column<Row>(),
      C::real("time_s", "s", "when", [](const Row& row) { return to_seconds(row.event.at); }),
      C::int32("kind", "what", [](const Row& row) { return row.event.kind; }),
      C::int64("job", "job_index of the job", [](const Row& row) { return row.event.job; }),
      C::int32("gpu", "index of the GPU that it comes to or leaves; -1: none",
               [](const Row& row) {
                 return row.event.gpu == kNoGpu ? -1 : static_cast<std::int64_t>(row.event.gpu);
               }),
      C::int64("co_runner", "lowest job_index of the other jobs there after this instant; -1: none",
               [](const Row& row) {
                 const JobId other = row.event.co_runner;
                 return other == kNoJob ? -1 : static_cast<std::int64_t>(other);
               }),
      C::int32("residents", "jobs there after this instant",
               [](const Row& row) { return row.event.residents; }),
  };
}

ColumnList<SliceRow> over_time_columns() {
  using C = Columns<SliceRow>;
  using Row = SliceRow;
  return {
      policy_column<Row>(),
      replication_column<Row>(),
      C::real("start_s", "s", "start of the slice",
              [](const Row& row) { return to_seconds(row.slice.start); }),
      C::real("end_s", "s", "end of the slice",
              [](const Row& row) { return to_seconds(row.slice.end); }),
      C::real("gpus_busy", "1", "GPUs with a job",
              [](const Row& row) { return row.slice.gpus_busy; }),
      C::real("gpus_shared", "1", "GPUs with two jobs or more",
              [](const Row& row) { return row.slice.gpus_shared; }),
      C::real("gpu_util", "1", "utilisation of all GPUs, as in /metrics; NaN: not known",
              [](const Row& row) { return row.slice.gpu_util; }),
      C::real("queue", "1", "jobs that wait", [](const Row& row) { return row.slice.queue; }),
      C::real("running", "1", "jobs on GPUs", [](const Row& row) { return row.slice.running; }),
  };
}

const std::vector<std::string>& event_kind_codes() {
  static const std::vector<std::string> codes = [] {
    std::vector<std::string> names;
    for (std::size_t k = 0; k < kLogKinds; ++k) {
      names.emplace_back(name_of(static_cast<LogKind>(k)));
    }
    return names;
  }();
  return codes;
}

const std::vector<std::string>& source_codes() {
  static const std::vector<std::string> codes{"alone", "measured", "modelled", "extrapolated"};
  return codes;
}

}  // namespace corun::inline results
