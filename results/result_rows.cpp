#include "results/result_rows.hpp"

#include <algorithm>
#include <cassert>
#include <cstdint>
#include <limits>
#include <optional>
#include <utility>

#include <hdf5.h>

#include "results/hdf5_table.hpp"
#include "results/result_columns.hpp"
#include "sim/base/nan.hpp"

namespace corun::inline results {

using hdf5::Handle;
using hdf5::Table;
using hdf5::width_of;
using hdf5::write_attribute;

namespace {

double seconds_or_nan(const std::optional<Time>& t) {
  return t ? to_seconds(*t) : std::numeric_limits<double>::quiet_NaN();
}

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
  for (const ReplicationView& r : contents.replications) {
    const std::size_t names = width_of(
        *r.names, [](const auto& n) -> const auto& { return n; });
    widths.job = std::max(widths.job, names);
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
    if (!header.measured_on.empty()) write_attribute(root, "measured_on", header.measured_on);
  }

  const std::vector<PolicyHeader>& policy_headers() const { return contents_.header.policies; }

  Table open(TableLayout layout) const {
    return {file_, layout.name, layout.description, std::move(layout.columns)};
  }

  /// Calls f(replication, policy index, run) in the order of the rows: by policy, then replication.
  template <typename F>
  void for_each_run(F f) const {
    for (std::size_t p = 0; p < policy_headers().size(); ++p) {
      for (const ReplicationView& r : contents_.replications) {
        assert(r.runs->size() == policy_headers().size());
        f(r, p, (*r.runs)[p]);
      }
    }
  }

  Table& start_row(Table& table, const ReplicationView& r, std::size_t policy) const {
    return table.integer(static_cast<std::int64_t>(policy))
        .text(policy_headers()[policy].label)
        .integer(static_cast<std::int64_t>(r.number));
  }

  void gpus() const {
    Table table = open(gpus_layout(widths_));
    for (std::size_t g = 0; g < contents_.header.gpus.size(); ++g) {
      const GpuHeader& gpu = contents_.header.gpus[g];
      table.integer(static_cast<std::int64_t>(g))
          .integer(static_cast<std::int64_t>(gpu.node))
          .integer(static_cast<std::int64_t>(gpu.gpu_of_node))
          .text(gpu.type)
          .real(gpu.memory_mib)
          .text(gpu.virtual_cluster);
    }
    table.finish();
  }

  void policies() const {
    const auto& headers = policy_headers();
    Table table = open(policies_layout(widths_));
    for (std::size_t p = 0; p < headers.size(); ++p) {
      table.integer(static_cast<std::int64_t>(p))
          .text(headers[p].label)
          .text(headers[p].name)
          .text(headers[p].parameters)
          .flag(headers[p].granted_truth);
    }
    table.finish();
  }

  void runs() const {
    Table table = open(runs_layout(widths_));
    for_each_run([&](const ReplicationView& r, std::size_t p, const PolicyRun& run) {
      put_jobs(table, r, p, run.record);
    });
    table.finish();
  }

  void put_jobs(Table& table, const ReplicationView& r, std::size_t p,
                const RunRecord& record) const {
    for (std::size_t j = 0; j < record.jobs.size(); ++j) {
      const JobRecord& job = record.jobs[j];
      const bool finished = job.end == JobEnd::kFinished;
      start_row(table, r, p)
          .integer(static_cast<std::int64_t>(j))
          .text((*r.names)[j])
          .real(to_seconds(job.submit))
          .real(seconds_or_nan(job.first_start))
          .real(to_seconds(job.last_start))
          .real(to_seconds(job.finish))
          .real(to_seconds(job.work))
          .real(to_seconds(job.solo))
          .real(finished ? to_seconds(job.corun()) : kNaN)
          .real(finished ? to_seconds(job.finish - job.submit) : kNaN)
          .real(job.first_start ? to_seconds(*job.first_start - job.submit) : kNaN)
          .real(finished ? job.isd() : kNaN)
          .integer(job.gpus)
          .integer(static_cast<std::int64_t>(job.gpu))
          .integer(job.group)
          .integer(job.ooms)
          .real(to_seconds(job.profiling))
          .flag(finished)
          .text(contents_.header.gpus.at(index(job.gpu)).type)
          .real(to_seconds(job.reference_solo))
          .real(finished ? job.isd_reference() : kNaN)
          .integer(r.clusters->empty() ? -1 : r.clusters->at(j));
    }
  }

  void episodes() const {
    Table table = open(episodes_layout(widths_));
    for_each_run([&](const ReplicationView& r, std::size_t p, const PolicyRun& run) {
      for (std::size_t e = 0; e < run.record.episodes.size(); ++e) {
        const EpisodeRecord& episode = run.record.episodes[e];
        start_row(table, r, p)
            .integer(static_cast<std::int64_t>(e))
            .integer(static_cast<std::int64_t>(episode.gpu))
            .real(to_seconds(episode.start))
            .real(to_seconds(episode.end))
            .integer(static_cast<std::int64_t>(episode.jobs.size()))
            .integer(episode.unfinished)
            .real(to_seconds(episode.solo_sum))
            .real(episode.ps().value_or(std::numeric_limits<double>::quiet_NaN()))
            .flag(episode.together);
      }
    });
    table.finish();
  }

  void episode_jobs() const {
    Table table = open(episode_jobs_layout(widths_));
    for_each_run([&](const ReplicationView& r, std::size_t p, const PolicyRun& run) {
      for (std::size_t e = 0; e < run.record.episodes.size(); ++e) {
        for (const JobId job : run.record.episodes[e].jobs) {
          start_row(table, r, p)
              .integer(static_cast<std::int64_t>(e))
              .integer(static_cast<std::int64_t>(job))
              .text((*r.names)[index(job)]);
        }
      }
    });
    table.finish();
  }

  void usage() const {
    Table table = open(usage_layout(widths_));
    for_each_run([&](const ReplicationView& r, std::size_t p, const PolicyRun& run) {
      if (!run.failure.empty()) return;
      const UsageRecord& u = run.record.usage;
      const auto co_runners = [&](Provenance how) {
        return u.corun_s[static_cast<std::size_t>(how)];
      };
      start_row(table, r, p)
          .integer(run.record.gpu_count)
          .real(to_seconds(u.busy))
          .real(u.util_s)
          .real(u.util_known_s)
          .real(u.mem_s)
          .real(u.mem_known_s)
          .real(co_runners(Provenance::kMeasured))
          .real(co_runners(Provenance::kModelled))
          .real(co_runners(Provenance::kExtrapolated))
          .integer(static_cast<std::int64_t>(run.record.unknown_memory_jobs))
          .integer(static_cast<std::int64_t>(run.record.passes));
      for (const double seconds : u.solo_s) table.real(seconds);
    });
    table.finish();
  }

  void metrics() const {
    Table table = open(metrics_layout(widths_));
    for_each_run([&](const ReplicationView& r, std::size_t p, const PolicyRun& run) {
      start_row(table, r, p);
      for (const double value : run.metrics) table.real(value);
    });
    table.finish();
  }

  void failures() const {
    std::size_t widest = 0;
    for_each_run([&](const ReplicationView&, std::size_t, const PolicyRun& run) {
      widest = std::max(widest, run.failure.size());
    });
    if (widest == 0) return;
    Table table = open(failures_layout(widths_, widest));
    for_each_run([&](const ReplicationView& r, std::size_t p, const PolicyRun& run) {
      if (!run.failure.empty()) start_row(table, r, p).text(run.failure);
    });
    table.finish();
  }

  static void put_interval(Table& table, std::size_t metric, const Interval& interval) {
    const MetricInfo& info = metric_info(static_cast<Metric>(metric));
    table.text(info.name).text(info.unit).real(interval.mean).real(interval.lo).real(interval.hi);
  }

  void summary() const {
    Table table = open(summary_layout(widths_));
    if (contents_.result != nullptr) {
      const auto& of_policy = contents_.result->comparison.policies;
      assert(of_policy.size() == policy_headers().size());
      for (std::size_t p = 0; p < of_policy.size(); ++p) {
        for (std::size_t m = 0; m < kMetricCount; ++m) {
          table.integer(static_cast<std::int64_t>(p)).text(policy_headers()[p].label);
          put_interval(table, m, of_policy[p][m]);
        }
      }
    }
    table.finish();
  }

  void versus() const {
    Table table = open(versus_layout(widths_));
    if (contents_.result != nullptr) {
      const auto& pairs = contents_.result->comparison.versus;
      for (std::size_t p = 0; p < pairs.size(); ++p) {
        for (std::size_t q = 0; q < pairs[p].size(); ++q) {
          if (p == q) continue;
          for (std::size_t m = 0; m < kMetricCount; ++m) {
            table.integer(static_cast<std::int64_t>(p))
                .text(policy_headers()[p].label)
                .integer(static_cast<std::int64_t>(q))
                .text(policy_headers()[q].label);
            put_interval(table, m, pairs[p][q][m]);
          }
        }
      }
    }
    table.finish();
  }

  void coverage() const {
    Table table = open(coverage_layout(widths_));
    if (contents_.result != nullptr) {
      const auto& of_policy = contents_.result->coverage_by_policy;
      for (std::size_t p = 0; p < of_policy.size(); ++p) {
        table.integer(static_cast<std::int64_t>(p))
            .text(policy_headers()[p].label)
            .real(of_policy[p].measured)
            .real(of_policy[p].modelled)
            .real(of_policy[p].extrapolated);
      }
    }
    table.finish();
    if (contents_.result != nullptr) {
      const Coverage& all = contents_.result->coverage;
      write_attribute(table.id(), "all_measured", all.measured);
      write_attribute(table.id(), "all_modelled", all.modelled);
      write_attribute(table.id(), "all_extrapolated", all.extrapolated);
    }
  }

  /// The start of a row of details, which have no labels.
  static Table& start_detail(Table& table, const ReplicationView& r, std::size_t policy) {
    return table.integer(static_cast<std::int64_t>(policy))
        .integer(static_cast<std::int64_t>(r.number));
  }

  static void write_left_out(const Table& table, std::size_t left_out) {
    write_attribute(table.id(), "left_out", static_cast<std::int64_t>(left_out));
  }

  void co_runs() const {
    Table table = open(co_runs_layout());
    std::size_t left_out = 0;
    for_each_run([&](const ReplicationView& r, std::size_t p, const PolicyRun& run) {
      left_out += run.details.co_runs_left_out;
      for (const CoRunRecord& c : run.details.co_runs) {
        start_detail(table, r, p)
            .integer(c.co_run)
            .integer(static_cast<std::int64_t>(c.gpu))
            .real(to_seconds(c.start))
            .real(to_seconds(c.end))
            .integer(c.jobs)
            .integer(static_cast<std::int64_t>(c.pair[0]))
            .integer(static_cast<std::int64_t>(c.pair[1]))
            .flag(c.probe)
            .integer(c.source ? static_cast<std::int64_t>(*c.source) : -1)
            .real(c.speed[0])
            .real(c.speed[1])
            .real(c.isd[0])
            .real(c.isd[1])
            .real(c.ps)
            .real(c.predicted_isd[0])
            .real(c.predicted_isd[1])
            .real(c.predicted_ps)
            .real(c.predicted_speed[0])
            .real(c.predicted_speed[1]);
      }
    });
    table.finish();
    write_left_out(table, left_out);
    write_attribute(table.id(), "source_codes", source_codes());
  }

  void events() const {
    Table table = open(events_layout());
    std::size_t left_out = 0;
    for_each_run([&](const ReplicationView& r, std::size_t p, const PolicyRun& run) {
      left_out += run.details.events_left_out;
      for (const EventRecord& e : run.details.events) {
        start_detail(table, r, p)
            .real(to_seconds(e.at))
            .integer(static_cast<std::int64_t>(e.kind))
            .integer(static_cast<std::int64_t>(e.job))
            .integer(e.gpu == kNoGpu ? -1 : static_cast<std::int64_t>(e.gpu))
            .integer(e.co_runner == kNoJob ? -1 : static_cast<std::int64_t>(e.co_runner))
            .integer(e.residents);
      }
    });
    table.finish();
    write_left_out(table, left_out);
    write_attribute(table.id(), "kind_codes", event_kind_codes());
  }

  void over_time() const {
    Table table = open(over_time_layout());
    for_each_run([&](const ReplicationView& r, std::size_t p, const PolicyRun& run) {
      for (const SliceRecord& s : run.details.slices) {
        start_detail(table, r, p)
            .real(to_seconds(s.start))
            .real(to_seconds(s.end))
            .real(s.gpus_busy)
            .real(s.gpus_shared)
            .real(s.gpu_util)
            .real(s.queue)
            .real(s.running);
      }
    });
    table.finish();
    write_left_out(table, 0);
  }

  /// What the simulator predicted of a live run, which has one replication.
  void predicted() const {
    Table metrics = open(predicted_layout(widths_));
    Table runs = open(predicted_runs_layout(widths_));
    if (contents_.result != nullptr && !contents_.replications.empty()) {
      const ReplicationView& r = contents_.replications.front();
      const std::vector<PolicyRun>& all = contents_.result->predicted;
      for (std::size_t p = 0; p < all.size(); ++p) {
        start_row(metrics, r, p);
        for (const double value : all[p].metrics) metrics.real(value);
        put_jobs(runs, r, p, all[p].record);
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
