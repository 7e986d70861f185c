#include "results/result_rows.hpp"

#include <algorithm>
#include <cassert>
#include <cstdint>
#include <span>
#include <utility>

#include <hdf5.h>

#include "results/hdf5_table.hpp"
#include "results/result_columns.hpp"

namespace corun::inline results {

using hdf5::Handle;
using hdf5::TableOf;
using hdf5::width_of;
using hdf5::write_attribute;

namespace {

TextWidths widths_in(const ResultsContents& contents) {
  TextWidths widths;
  const auto& policies = contents.header.policies;
  widths.label = width_of(
      policies, [](const auto& p) -> const auto& { return p.label; });
  widths.policy_name = width_of(
      policies, [](const auto& p) -> const auto& { return p.name; });
  widths.parameters = width_of(
      policies, [](const auto& p) -> const auto& { return p.parameters; });
  widths.gpu_type = width_of(
      contents.header.gpus, [](const auto& gpu) -> const auto& { return gpu.type; });
  widths.virtual_cluster = width_of(
      contents.header.gpus, [](const auto& gpu) -> const auto& { return gpu.virtual_cluster; });
  for (const Replication* r : contents.replications) {
    const std::size_t names = width_of(
        r->trace->jobs, [](const auto& job) -> const auto& { return job.name; });
    widths.job = std::max(widths.job, names);
  }
  if (!contents.replications.empty()) {
    for (const CarriedColumn& column : contents.replications.front()->trace->carried) {
      widths.carried.push_back(width_of(
          column.texts, [](const auto& text) -> const auto& { return text; }));
    }
  }
  for (const Replication* replication : contents.replications) {
    for (const PolicyRun& run : replication->runs) {
      for (const ServiceOutcome& service : run.services) {
        widths.service = std::max(widths.service, service.name.size());
      }
    }
  }
  for (std::size_t m = 0; m < kMetricCount; ++m) {
    const MetricInfo& info = metric_info(static_cast<Metric>(m));
    widths.metric = std::max(widths.metric, info.name.size());
    widths.unit = std::max(widths.unit, info.unit.size());
  }
  return widths;
}

class ResultTables {
 public:
  ResultTables(hid_t file, const ResultsContents& contents)
      : file_(file), contents_(contents), widths_(widths_in(contents)) {}

  void write() const {
    attributes();
    gpus();
    policies();
    runs();
    episodes();
    episode_jobs();
    usage();
    metrics();
    summary();
    versus();
    coverage();
    co_runs();
    events();
    over_time();
    failures();
    if (has_services()) {
      services();
      service_intervals();
    }
    if (!contents_.header.measured_on.empty()) predicted();
  }

 private:
  void attributes() const {
    const ResultsHeader& header = contents_.header;
    const Handle root(H5Gopen2(file_, "/", H5P_DEFAULT), H5Gclose, "open the root");
    write_attribute(root, "kind", std::string("corun results"));
    write_attribute(root, "schema_version", std::int64_t{kResultsSchemaVersion});
    write_attribute(root, "corun_version", header.corun_version);
    write_attribute(root, "commit", header.commit);
    write_attribute(root, "config", header.config);
    write_attribute(root, "seed", header.seed);
    write_attribute(root, "replications", static_cast<std::int64_t>(contents_.replications.size()));
    const bool complete = contents_.result != nullptr && !contents_.result->interrupted;
    write_attribute(root, "complete", std::int64_t{complete ? 1 : 0});
    write_attribute(root, "inputs", header.inputs);
    write_attribute(root, "warnings", header.warnings);
    write_attribute(root, "real_runs", header.real_runs);
    if (!header.measured_on.empty()) write_attribute(root, "measured_on", header.measured_on);
  }

  PolicyRow row_of(std::size_t policy) const { return {policy, contents_.header.policies[policy]}; }
  RunRow row_of(const Replication& r, std::size_t policy) const {
    return {row_of(policy), r.number};
  }

  /// Calls f(replication, policy index, run) in the order of the rows: by policy, then replication.
  template <typename F>
  void for_each_run(F f) const {
    for (std::size_t p = 0; p < contents_.header.policies.size(); ++p) {
      for (const Replication* r : contents_.replications) {
        assert(r->runs.size() == contents_.header.policies.size());
        f(*r, p, r->runs[p]);
      }
    }
  }

  void gpus() const {
    TableOf<GpuRow> table(file_, "gpus",
                          "one row per GPU of the cluster; it is the index gpu of other tables",
                          gpu_columns(widths_));
    for (std::size_t g = 0; g < contents_.header.gpus.size(); ++g) {
      table.add({g, contents_.header.gpus[g]});
    }
    table.finish();
  }

  void policies() const {
    TableOf<PolicyRow> table(file_, "policies",
                             "one row per policy, in the order of the configuration",
                             policy_columns(widths_));
    for (std::size_t p = 0; p < contents_.header.policies.size(); ++p) table.add(row_of(p));
    table.finish();
  }

  void runs() const {
    TableOf<JobRow> table(file_, "runs", "one row per job per run (a policy in a replication)",
                          job_columns(widths_, carried(), changes()));
    for_each_run([&](const Replication& r, std::size_t p, const PolicyRun& run) {
      add_jobs(table, r, p, run.record);
    });
    table.finish();
  }

  /// Columns of the log, the same in all replications.
  std::span<const CarriedColumn> carried() const {
    if (contents_.replications.empty()) return {};
    return contents_.replications.front()->trace->carried;
  }

  /// The same in all replications.
  JobChanges changes() const {
    if (contents_.replications.empty()) return {};
    const Trace& trace = *contents_.replications.front()->trace;
    const bool resizable = std::ranges::any_of(
        trace.jobs, [](const TraceJob& job) { return job.spec.gpus_min < job.spec.gpus_max; });
    return {.changing = resizable || !trace.phases.empty(),
            .elastic = resizable || trace.counts_samples};
  }

  void add_jobs(TableOf<JobRow>& table, const Replication& r, std::size_t p,
                const RunRecord& record) const {
    for (std::size_t j = 0; j < record.jobs.size(); ++j) {
      const JobRecord& job = record.jobs[j];
      table.add({row_of(r, p), j, r.trace->jobs[j].name, job,
                 contents_.header.gpus.at(index(job.gpu)).type,
                 r.clusters.empty() ? -1 : r.clusters.at(j), *r.trace});
    }
  }

  bool has_services() const {
    bool any = false;
    for_each_run([&](const Replication&, std::size_t, const PolicyRun& run) {
      any |= !run.services.empty();
    });
    return any;
  }

  void services() const {
    TableOf<ServiceTotalsRow> table(file_, "services",
                                    "one row per run and service: what its requests experienced",
                                    service_totals_columns(widths_));
    for_each_run([&](const Replication& r, std::size_t p, const PolicyRun& run) {
      for (const ServiceOutcome& outcome : run.services) table.add({row_of(r, p), outcome});
    });
    table.finish();
  }

  void service_intervals() const {
    TableOf<ServiceIntervalRow> table(
        file_, "service_intervals",
        "one row per run, service and interval of a minute: load, replicas and latency",
        service_interval_columns(widths_));
    for_each_run([&](const Replication& r, std::size_t p, const PolicyRun& run) {
      for (std::size_t s = 0; s < run.services.size(); ++s) {
        for (const ServiceInterval& interval : run.services[s].intervals) {
          table.add({row_of(r, p), s, run.services[s], interval});
        }
      }
    });
    table.finish();
  }

  void episodes() const {
    TableOf<EpisodeRow> table(
        file_, "episodes",
        "one row per episode: a maximal time during which one GPU had a resident",
        episode_columns(widths_));
    for_each_run([&](const Replication& r, std::size_t p, const PolicyRun& run) {
      for (std::size_t e = 0; e < run.record.episodes.size(); ++e) {
        table.add({row_of(r, p), e, run.record.episodes[e]});
      }
    });
    table.finish();
  }

  void episode_jobs() const {
    TableOf<EpisodeJobRow> table(
        file_, "episode_jobs",
        "one row per job of an episode, in order of start; a gang is in one episode on each of "
        "its GPUs",
        episode_job_columns(widths_));
    for_each_run([&](const Replication& r, std::size_t p, const PolicyRun& run) {
      for (std::size_t e = 0; e < run.record.episodes.size(); ++e) {
        for (const JobId job : run.record.episodes[e].jobs) {
          table.add({row_of(r, p), e, job, r.trace->jobs[index(job)].name});
        }
      }
    });
    table.finish();
  }

  void usage() const {
    TableOf<UsageRow> table(file_, "usage", "one row per run: sums over time and all GPUs",
                            usage_columns(widths_));
    for_each_run([&](const Replication& r, std::size_t p, const PolicyRun& run) {
      if (run.failure.empty()) table.add({row_of(r, p), run.record});
    });
    table.finish();
  }

  void metrics() const {
    TableOf<MetricsRow> table(file_, "metrics",
                              "one row per run; NaN where a run does not define a metric",
                              metric_columns(widths_));
    for_each_run([&](const Replication& r, std::size_t p, const PolicyRun& run) {
      table.add({row_of(r, p), run.metrics});
    });
    table.finish();
  }

  void failures() const {
    std::size_t longest = 0;
    for_each_run([&](const Replication&, std::size_t, const PolicyRun& run) {
      longest = std::max(longest, run.failure.size());
    });
    if (longest == 0) return;
    TableOf<FailureRow> table(
        file_, "failures",
        "one row per run that the policy ended by breaking a rule; the file has no other data of "
        "these runs. A file without failures lacks this table",
        failure_columns(widths_, longest));
    for_each_run([&](const Replication& r, std::size_t p, const PolicyRun& run) {
      if (!run.failure.empty()) table.add({row_of(r, p), run.failure});
    });
    table.finish();
  }

  void summary() const {
    TableOf<SummaryRow> table(file_, "summary",
                              "one row per policy and metric: mean over replications and its 95 % "
                              "interval (Student's t)",
                              summary_columns(widths_));
    if (contents_.result != nullptr) {
      const auto& of_policy = contents_.result->comparison.policies;
      assert(of_policy.size() == contents_.header.policies.size());
      for (std::size_t p = 0; p < of_policy.size(); ++p) {
        for (std::size_t m = 0; m < kMetricCount; ++m) {
          table.add({row_of(p), static_cast<Metric>(m), of_policy[p][m]});
        }
      }
    }
    table.finish();
  }

  void versus() const {
    TableOf<VersusRow> table(file_, "versus",
                             "one row per ordered pair of policies and metric: policy minus other, "
                             "paired by replication",
                             versus_columns(widths_));
    if (contents_.result != nullptr) {
      const auto& pairs = contents_.result->comparison.versus;
      for (std::size_t p = 0; p < pairs.size(); ++p) {
        for (std::size_t q = 0; q < pairs[p].size(); ++q) {
          if (p == q) continue;
          for (std::size_t m = 0; m < kMetricCount; ++m) {
            table.add({{row_of(p), static_cast<Metric>(m), pairs[p][q][m]}, row_of(q)});
          }
        }
      }
    }
    table.finish();
  }

  void coverage() const {
    TableOf<CoverageRow> table(
        file_, "coverage",
        "one row per policy: share of the time with co-runners by where its cost came from; all "
        "0 when nothing ran together",
        coverage_columns(widths_));
    const ReplayResult* const result = contents_.result;
    if (result != nullptr) {
      for (std::size_t p = 0; p < result->coverage_by_policy.size(); ++p) {
        table.add({row_of(p), result->coverage_by_policy[p]});
      }
    }
    table.finish();
    if (result == nullptr) return;
    write_attribute(table.id(), "all_measured", result->coverage.measured);
    write_attribute(table.id(), "all_modelled", result->coverage.modelled);
    write_attribute(table.id(), "all_extrapolated", result->coverage.extrapolated);
  }

  static void write_left_out(hid_t table, std::size_t left_out) {
    write_attribute(table, "left_out", static_cast<std::int64_t>(left_out));
  }

  void co_runs() const {
    TableOf<CoRunRow> table(
        file_, "co_runs",
        "one row per pair of jobs and co-run, in order of start; replications 0 to 19, bounded: "
        "left_out rows are not here",
        co_run_columns());
    std::size_t left_out = 0;
    for_each_run([&](const Replication& r, std::size_t p, const PolicyRun& run) {
      left_out += run.details.co_runs_left_out;
      for (const CoRunRecord& c : run.details.co_runs) table.add({row_of(r, p), c});
    });
    table.finish();
    write_left_out(table.id(), left_out);
    write_attribute(table.id(), "source_codes", source_codes());
  }

  void events() const {
    TableOf<EventRow> table(
        file_, "events",
        "one row per event and GPU of replication 0, in order of time; bounded: left_out rows "
        "are not here",
        event_columns());
    std::size_t left_out = 0;
    for_each_run([&](const Replication& r, std::size_t p, const PolicyRun& run) {
      left_out += run.details.events_left_out;
      for (const EventRecord& e : run.details.events) table.add({row_of(r, p), e});
    });
    table.finish();
    write_left_out(table.id(), left_out);
    write_attribute(table.id(), "kind_codes", event_kind_codes());
  }

  void over_time() const {
    TableOf<SliceRow> table(
        file_, "over_time",
        "one row per slice of the time from first submission to last end, replication 0: means "
        "over the slice",
        over_time_columns());
    for_each_run([&](const Replication& r, std::size_t p, const PolicyRun& run) {
      for (const SliceRecord& s : run.details.slices) table.add({row_of(r, p), s});
    });
    table.finish();
    write_left_out(table.id(), 0);
  }

  /// What the simulator predicted of a live run, which has one replication.
  void predicted() const {
    TableOf<MetricsRow> metrics(file_, "predicted",
                                "one row per policy: the prediction before the run, as in /metrics",
                                metric_columns(widths_));
    TableOf<JobRow> runs(file_, "predicted_runs",
                         "one row per job and policy: the prediction before the run, as in /runs",
                         job_columns(widths_, carried(), changes()));
    if (contents_.result != nullptr && !contents_.replications.empty()) {
      const Replication& r = *contents_.replications.front();
      const std::vector<PolicyRun>& all = contents_.result->predicted;
      for (std::size_t p = 0; p < all.size(); ++p) {
        metrics.add({row_of(r, p), all[p].metrics});
        add_jobs(runs, r, p, all[p].record);
      }
    }
    metrics.finish();
    runs.finish();
  }

  hid_t file_;
  const ResultsContents& contents_;
  TextWidths widths_;
};

}  // namespace

std::string results_image(const ResultsContents& contents) {
  return hdf5::file_image([&](hid_t file) { ResultTables(file, contents).write(); });
}

}  // namespace corun::inline results
