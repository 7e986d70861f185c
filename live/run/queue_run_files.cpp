#include "live/run/queue_run_files.hpp"

#include <cmath>
#include <sstream>

#include <fmt/format.h>

#include "live/run/run_files.hpp"
#include "results/results_identity.hpp"
#include "results/results_writer.hpp"
#include "runner/config/config_yaml.hpp"
#include "runner/experiment/experiment_header.hpp"
#include "sim/base/csv_text.hpp"
#include "support/atomic_file.hpp"
#include "traces/tables/corun_csv.hpp"

namespace corun::live {

namespace {

std::string prediction_csv(const QueuePrediction& prediction) {
  std::string text = "policy,metric,predicted\n";
  for (const PredictedPolicy& p : prediction.policies) {
    for (std::size_t m = 0; m < kMetricCount; ++m) {
      const std::string value = std::isfinite(p.metrics[m]) ? csv_number(p.metrics[m]) : "";
      text += csv_text(p.label) + "," + std::string(metric_info(static_cast<Metric>(m)).name) +
              "," + value + "\n";
    }
  }
  return text;
}

std::string jobs_csv(const PolicyResult& result, const Trace& queue, const LiveConfig& config,
                     const SoloOnGpus& alone) {
  std::string text =
      "job,workload,gpu,group,deferred,end,why,submit_s,start_s,corun_s,solo_s,isd,predicted_isd,"
      "predicted_jct_s,cpu_s,temperature_max_c,sm_clock_min_mhz,mem_used_mib,steady_steps_per_s,"
      "gpu_type\n";
  for (const LiveRun& run : result.runs) {
    const std::size_t j = index(run.job);
    const bool finished = run.outcome.end == RunEnd::kFinished;
    const double corun_s = to_seconds(run.outcome.length());
    const double solo_s = to_seconds(alone.solo(run.job, run.gpu));
    const JobRecord& predicted = result.predicted.record.jobs[j];
    const bool foreseen = predicted.end == JobEnd::kFinished;
    text +=
        fmt::format("{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{}\n",
                    queue.jobs[j].name, config.workloads[config.queue[j].workload].name,
                    index(run.gpu), run.group, run.deferred ? 1 : 0, name_of(run.outcome.end),
                    csv_text(run.outcome.why), csv_number(to_seconds(queue.jobs[j].spec.submit)),
                    csv_number(to_seconds(run.start)), csv_number(corun_s), csv_number(solo_s),
                    finished ? csv_number((corun_s - solo_s) / solo_s) : "",
                    foreseen ? csv_number(predicted.isd()) : "",
                    foreseen ? csv_number(to_seconds(predicted.finish - predicted.submit)) : "",
                    csv_number(run.outcome.ending.cpu_s), csv_number(run.outcome.temperature_c.max),
                    csv_number(run.outcome.sm_clock_mhz.min),
                    // The memory in use is one job's only if the driver reports memory by process.
                    run.outcome.attributed ? csv_number(run.outcome.profile.mem_used_mib) : "",
                    csv_number(run.outcome.steady_steps_per_s), csv_text(alone.gpu_type(run.gpu)));
  }
  return text;
}

/// Co-runs of jobs that started together and all finished, as measurements; empty if there are none.
std::string coruns_csv(const PolicyResult& result, const Trace& queue, const LiveConfig& config,
                       const SoloOnGpus& alone) {
  WorkloadKeys keys;
  CorunFile file;
  for (const EpisodeRecord& e : result.record.episodes) {
    if (!e.together || e.unfinished > 0 || e.jobs.size() < 2) continue;
    CorunMeasurement m;
    m.gpu_type = alone.gpu_type(e.gpu);
    m.sharing = name_of(config.config.cluster.sharing);
    m.source = "corun live run, " + result.label();
    for (const JobId id : e.jobs) {
      const JobRecord& r = result.record.jobs[index(id)];
      CorunMember member;
      member.workload = keys.of(config.workloads[config.queue[index(id)].workload].name);
      member.profile = queue.jobs[index(id)].spec.profile;
      member.solo_s = to_seconds(r.run_solo);
      member.corun_s = to_seconds(r.finish - r.last_start);
      m.members.push_back(member);
    }
    file.measurements.push_back(std::move(m));
    file.groups.push_back(std::to_string(file.groups.size() + 1));
    file.sessions.push_back(result.label());
  }
  if (file.measurements.empty()) return "";
  std::ostringstream out;
  write_corun_csv(out, file, keys);
  return out.str();
}

/// InputError if the run would write over a file that it reads, such as the co-runs of an earlier run.
/// The queue was written for this run.
void check_inputs_stay(const Experiment& experiment, const std::string& directory) {
  std::vector<NamedFile> inputs;
  for (const std::string& file : experiment.input_files())
    inputs.push_back({"the prediction", file});
  std::vector<NamedFile> outputs;
  for (const char* name : {kReplayFile, kPredictionFile, kResultsFile}) {
    outputs.push_back({"live.output", directory + "/" + name});
  }
  for (const PolicyInstance& policy : experiment.policies()) {
    for (const char* ending : {".jobs.csv", ".events.csv", ".corun.csv"}) {
      outputs.push_back({"live.output", policy_file(directory, policy.label, ending)});
    }
  }
  check_outputs_differ(outputs, inputs);
}

}  // namespace

ResultsHeader write_prediction(const QueuePrediction& prediction, const LiveConfig& live) {
  const std::string& directory = live.output;
  ResultsHeader header = results_header(*prediction.experiment);
  header.config = dump_yaml(seen_from(prediction.experiment->config(), directory));
  header.measured_on = prediction.gpu_types;
  check_inputs_stay(*prediction.experiment, directory);
  check_replaceable(directory + "/" + kResultsFile, header, "live.output", live.existing);
  write_file_atomically(
      directory + "/" + kReplayFile,
      "# The prediction of `corun live run`: `corun replay` makes it again.\n" + header.config);
  write_file_atomically(directory + "/" + kPredictionFile, prediction_csv(prediction));
  return header;
}

void write_policy_result(const PolicyResult& result, const Trace& queue, const LiveConfig& config,
                         const SoloOnGpus& alone) {
  const auto file = [&](const char* ending) {
    return policy_file(config.output, result.label(), ending);
  };
  write_file_atomically(file(".jobs.csv"), jobs_csv(result, queue, config, alone));
  std::ostringstream log;
  write_event_log(log, result.log, [&](JobId j) { return queue.jobs[index(j)].name; });
  write_file_atomically(file(".events.csv"), log.str());
  const std::string coruns = coruns_csv(result, queue, config, alone);
  if (!coruns.empty()) write_file_atomically(file(".corun.csv"), coruns);
}

void write_results_hdf5(const std::string& directory, ResultsHeader header,
                        std::shared_ptr<const Trace> queue, std::vector<int> clusters,
                        std::span<const PolicyResult> done) {
  ReplayResult all;
  all.interrupted = done.size() < header.policies.size() || !done.back().complete;
  header.policies.resize(done.size());
  std::vector<std::vector<MetricValues>> metrics;
  Replication replication;
  replication.trace = std::move(queue);
  replication.clusters = std::move(clusters);
  for (const PolicyResult& r : done) {
    PolicyRun run;
    run.record = r.record;
    run.metrics = r.measured;
    run.details = r.details;
    replication.runs.push_back(std::move(run));
    metrics.push_back({r.measured});
    PolicyRun predicted;
    predicted.record = r.predicted.record;
    predicted.metrics = r.predicted.metrics;
    all.predicted.push_back(std::move(predicted));
  }
  all.replications.push_back(std::move(replication));
  all.comparison = compare(metrics);
  all.coverage_by_policy.resize(done.size());  // no cost came from a world
  ResultsWriter(directory + "/" + kResultsFile, std::move(header)).finish(all);
}

}  // namespace corun::live
