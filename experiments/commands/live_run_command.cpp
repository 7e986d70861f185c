#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <iostream>
#include <sstream>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "experiments/base/atomic_file.hpp"
#include "experiments/base/json.hpp"
#include "experiments/commands/live_command.hpp"
#include "experiments/config/config_yaml.hpp"
#include "experiments/experiment/experiment.hpp"
#include "experiments/live/gpu/gpu_box.hpp"
#include "sim/control_loop.hpp"
#include "experiments/live/run/live_backend.hpp"
#include "experiments/live/run/live_config.hpp"
#include "experiments/live/run/measurement.hpp"
#include "experiments/live/run/recorded_backend.hpp"
#include "experiments/live/run/run_files.hpp"
#include "experiments/replay/replay_output.hpp"
#include "experiments/results/results_hdf5.hpp"
#include "experiments/statistics/bootstrap.hpp"
#include "sim/base/text.hpp"
#include "sim/error.hpp"
#include "traces/corun_csv.hpp"
#include "traces/csv_reader.hpp"
#include "traces/job_csv.hpp"

/// `corun live run`: one queue of real jobs under each policy of a configuration.
namespace corun::live {

namespace {

namespace po = boost::program_options;
/// One policy's run, beside what the simulator said of it before.
struct PolicyResult {
  std::string label;
  MetricValues predicted{};
  RunRecord predicted_record;
  MetricValues measured{};
  RunRecord record;
  std::vector<LiveRun> runs;
  EventLog log;
  bool complete = false;
  /// Played back from its record, the policy decided the same again; empty where that was not tried.
  std::optional<bool> repeats;
};

/// Measured minus predicted over the jobs that finished, with 95 % bootstrap intervals over jobs; empty where
/// none finished.
struct PredictionError {
  std::size_t jobs = 0;
  Interval isd;
  Interval jct_s;
};

std::optional<PredictionError> error_of(const PolicyResult& result) {
  std::vector<double> isd;
  std::vector<double> jct_s;
  for (std::size_t j = 0; j < result.record.jobs.size(); ++j) {
    const JobRecord& measured = result.record.jobs[j];
    const JobRecord& predicted = result.predicted_record.jobs[j];
    if (measured.end != JobEnd::kFinished || predicted.end != JobEnd::kFinished) continue;
    isd.push_back(measured.isd() - predicted.isd());
    jct_s.push_back(to_seconds(measured.finish - measured.submit) -
                    to_seconds(predicted.finish - predicted.submit));
  }
  if (isd.empty()) return std::nullopt;
  constexpr std::uint64_t kSeed = 1;
  return PredictionError{isd.size(), bootstrap_mean(isd, kSeed), bootstrap_mean(jct_s, kSeed)};
}

/// policy,metric,predicted: to be on the disk before the first job starts.
std::string prediction_csv(const std::vector<PolicyResult>& results) {
  std::string text = "policy,metric,predicted\n";
  for (const PolicyResult& r : results) {
    for (std::size_t m = 0; m < kMetricCount; ++m) {
      const std::string value = std::isfinite(r.predicted[m]) ? csv_number(r.predicted[m]) : "";
      text += csv_text(r.label) + "," + std::string(metric_info(static_cast<Metric>(m)).name) +
              "," + value + "\n";
    }
  }
  return text;
}

/// The queue as a trace: what the simulator replays, too.
Trace make_queue(const LiveConfig& config, const std::vector<SoloRow>& alone,
                 const std::string& solo_file, WorkloadKeys& keys) {
  Trace trace;
  for (const QueueEntry& entry : config.queue) {
    const std::string& name = config.workloads[entry.workload].name;
    const auto row =
        std::find_if(alone.begin(), alone.end(), [&](const SoloRow& r) { return r.job == name; });
    if (row == alone.end()) {
      throw InputError(config.queue_place, "no solo time of '" + name + "' in " +
                                               printable(solo_file) +
                                               "; measure it: corun live solo CONFIG");
    }
    JobSpec job;
    job.submit = entry.submit;
    job.work = from_seconds(row->solo_s);
    job.profile = row->profile;
    add_job(trace, job, entry.name, keys.of(name), kUnknownCluster, kUnknownUncertainty);
  }
  order_arrivals(trace);
  return trace;
}

/// A live cluster is what is there, and does not do what a command cannot.
void check_config(const Config& config) {
  for (const char* key : {"cluster.nodes", "cluster.gpus_per_node", "cluster.gpu_type",
                          "cluster.gpu_memory_mib", "cluster.gpu_speed", "cluster.path",
                          "cluster.virtual_clusters", "workload.source", "workload.path"}) {
    if (config.places.contains(key)) {
      throw InputError(config.place(key), std::string(key) +
                                              " is what is there in live work (live.gpus, queue); "
                                              "leave it out");
    }
  }
  const auto refuse = [&](const char* key, const std::string& why) {
    throw InputError(config.place(key), why);
  };
  if (config.profiling.mode != ProfilingMode::kNone) {
    refuse("profiling.mode",
           "a live queue does not profile on its own: run corun live solo before "
           "and leave it out");
  }
  if (config.probing.probes > 0) {
    refuse("probing.probes",
           "a command cannot be probed and go on: leave it out, and measure pairs "
           "with corun live corun");
  }
  if (config.control.mode == ControlMode::kRounds) {
    refuse("control.mode", "rounds need jobs that can be stopped and go on; leave it out");
  }
}

[[noreturn]] void refuse_preemption(const PolicyInstance& policy) {
  throw InputError(policy.place, "policy '" + policy.label +
                                     "' moves running jobs, and a command cannot be taken up "
                                     "again; leave it out");
}

std::string jobs_csv(const PolicyResult& result, const Trace& trace, const LiveConfig& config) {
  std::string text =
      "job,workload,gpu,group,deferred,end,why,submit_s,start_s,corun_s,solo_s,isd,predicted_isd,"
      "predicted_jct_s,cpu_s,temperature_max_c,sm_clock_min_mhz,mem_used_mib,steady_steps_per_s\n";
  const auto field = [](const std::optional<double>& v) { return v ? csv_number(*v) : ""; };
  for (const LiveRun& run : result.runs) {
    const std::size_t j = index(run.job);
    const bool finished = run.outcome.end == RunEnd::kFinished;
    const double corun_s = to_seconds(run.outcome.length());
    const double solo_s = to_seconds(trace.workload.jobs[j].work);
    const JobRecord& predicted = result.predicted_record.jobs[j];
    const bool foreseen = predicted.end == JobEnd::kFinished;
    text +=
        fmt::format("{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{}\n", trace.names[j],
                    config.workloads[config.queue[j].workload].name, index(run.gpu), run.group,
                    run.deferred ? 1 : 0, name_of(run.outcome.end), csv_text(run.outcome.why),
                    csv_number(to_seconds(trace.workload.jobs[j].submit)),
                    csv_number(to_seconds(run.start)), csv_number(corun_s), csv_number(solo_s),
                    finished ? csv_number((corun_s - solo_s) / solo_s) : "",
                    foreseen ? csv_number(predicted.isd()) : "",
                    foreseen ? csv_number(to_seconds(predicted.finish - predicted.submit)) : "",
                    csv_number(run.outcome.ending.cpu_s), field(run.outcome.temperature_c.max),
                    field(run.outcome.sm_clock_mhz.min),
                    // What the GPU held is one job's only where the driver says whose it is.
                    run.outcome.attributed ? field(run.outcome.profile.mem_used_mib) : "",
                    field(run.outcome.steady_steps_per_s));
  }
  return text;
}

/// Co-runs of jobs that started together and all finished, as measurements.
std::string coruns_csv(const PolicyResult& result, const Trace& trace, const LiveConfig& config,
                       const std::string& gpu_name) {
  WorkloadKeys keys;
  CorunFile file;
  for (const EpisodeRecord& e : result.record.episodes) {
    if (!e.together || e.jobs.size() < 2) continue;
    CorunMeasurement m;
    m.gpu_type = gpu_name;
    m.sharing = name_of(config.config.cluster.sharing);
    m.source = "corun live run, " + result.label;
    for (const JobId id : e.jobs) {
      const JobRecord& r = result.record.jobs[index(id)];
      CorunMember member;
      member.workload = keys.of(config.workloads[config.queue[index(id)].workload].name);
      member.profile = trace.workload.jobs[index(id)].profile;
      member.solo_s = to_seconds(r.run_solo);
      member.corun_s = to_seconds(r.finish - r.last_start);
      m.members.push_back(member);
    }
    file.measurements.push_back(std::move(m));
    file.groups.push_back(std::to_string(file.groups.size() + 1));
    file.sessions.push_back(result.label);
  }
  if (file.measurements.empty()) return "";
  std::ostringstream out;
  write_corun_csv(out, file, keys);
  return out.str();
}

void write_results(const PolicyResult& result, const Trace& trace, const LiveConfig& config,
                   const std::string& gpu_name) {
  const auto file = [&](const char* ending) {
    return policy_file(config.output, result.label, ending);
  };
  write_file_atomically(file(".jobs.csv"), jobs_csv(result, trace, config));
  std::ostringstream log;
  write_event_log(log, result.log, [&](JobId j) { return trace.names[index(j)]; });
  write_file_atomically(file(".events.csv"), log.str());
  const std::string coruns = coruns_csv(result, trace, config, gpu_name);
  if (!coruns.empty()) write_file_atomically(file(".corun.csv"), coruns);
}

/// What was measured so far, in the tables in which `corun replay --output` gives what was simulated.
void write_results_hdf5(const std::string& path, ResultsHeader header,
                        std::shared_ptr<const Trace> trace, std::span<const PolicyResult> done) {
  ReplayResult all;
  all.interrupted = done.size() < header.policies.size() || !done.back().complete;
  header.policies.resize(done.size());
  std::vector<std::vector<MetricValues>> metrics;
  Replication replication;
  replication.trace = std::move(trace);
  for (const PolicyResult& r : done) {
    PolicyRun run;
    run.record = r.record;
    run.metrics = r.measured;
    replication.runs.push_back(std::move(run));
    metrics.push_back({r.measured});
  }
  all.replications.push_back(std::move(replication));
  all.comparison = compare(metrics, header.seed);
  all.coverage_by_policy.resize(done.size());  // no cost came from a world
  ResultsWriter(path, std::move(header)).finish(all);
}

std::string report(const std::vector<PolicyResult>& results, Format format,
                   const std::string& gpu_name, std::size_t gpus) {
  std::ostringstream out;
  const auto number = [](double x) { return std::isfinite(x) ? csv_number(x) : ""; };
  if (format == Format::kJson) {
    const auto or_null = [](double x) { return std::isfinite(x) ? Json(x) : Json(nullptr); };
    Json json{{"gpu", gpu_name}, {"gpus", gpus}, {"policies", Json::array()}};
    for (const PolicyResult& r : results) {
      Json metrics = Json::object();
      for (std::size_t m = 0; m < kMetricCount; ++m) {
        metrics[std::string(metric_info(static_cast<Metric>(m)).name)] = {
            {"measured", or_null(r.measured[m])}, {"predicted", or_null(r.predicted[m])}};
      }
      Json errors = nullptr;
      if (const auto error = error_of(r)) {
        const auto interval = [](const Interval& x) {
          return Json{{"mean", x.mean}, {"lo", x.lo}, {"hi", x.hi}};
        };
        errors = {{"jobs", error->jobs},
                  {"isd", interval(error->isd)},
                  {"jct_s", interval(error->jct_s)}};
      }
      json["policies"].push_back(
          {{"policy", r.label},
           {"complete", r.complete},
           {"decisions_repeat", r.repeats ? Json(*r.repeats) : Json(nullptr)},
           {"metrics", std::move(metrics)},
           {"measured_minus_predicted", std::move(errors)}});
    }
    out << json.dump(2, ' ', false, Json::error_handler_t::replace) << "\n";
  } else if (format == Format::kCsv) {
    out << "policy,metric,measured,predicted\n";
    for (const PolicyResult& r : results) {
      for (std::size_t m = 0; m < kMetricCount; ++m) {
        out << csv_text(r.label) << ',' << metric_info(static_cast<Metric>(m)).name << ','
            << number(r.measured[m]) << ',' << number(r.predicted[m]) << '\n';
      }
    }
  } else {
    std::vector<std::vector<std::string>> rows{
        {"measured (predicted)", "jobs", "failed", "ISD %", "PS %", "JCT s", "makespan s"}};
    for (const PolicyResult& r : results) {
      const auto both = [&](Metric m, double scale) {
        const auto one = [&](double x) {
          return std::isfinite(x) ? fmt::format("{:.1f}", scale * x) : std::string("-");
        };
        return one(at(r.measured, m)) + " (" + one(at(r.predicted, m)) + ")";
      };
      rows.push_back({r.label + (r.complete ? "" : " (cut short)"),
                      fmt::format("{:.0f}", at(r.measured, Metric::kJobs)),
                      fmt::format("{:.0f}", at(r.measured, Metric::kFailed)),
                      both(Metric::kIsd, 100), both(Metric::kPs, 100), both(Metric::kJctS, 1),
                      both(Metric::kMakespanS, 1)});
    }
    out << gpu_name << ", " << gpus << (gpus == 1 ? " GPU\n\n" : " GPUs\n\n") << aligned(rows);
    rows = {{"measured - predicted", "jobs", "ISD points [95 %]", "JCT s [95 %]"}};
    for (const PolicyResult& r : results) {
      const auto error = error_of(r);
      if (!error) continue;
      const auto shown_as = [](const Interval& x, double scale) {
        return fmt::format("{:.1f} [{:.1f}, {:.1f}]", scale * x.mean, scale * x.lo, scale * x.hi);
      };
      rows.push_back({r.label, std::to_string(error->jobs), shown_as(error->isd, 100),
                      shown_as(error->jct_s, 1)});
    }
    if (rows.size() > 1) out << "\n" << aligned(rows);
  }
  return out.str();
}

}  // namespace

int run_command(const std::vector<std::string>& arguments) {
  CommandLine command;
  command.name = "live run";
  command.usage = "corun live run CONFIG [options]";
  command.summary =
      "Runs the queue of a configuration on the GPUs of this machine, once under each of its\n"
      "policies: the policies and the control loop of `corun replay`, with real jobs and the real\n"
      "clock. The simulator's prediction is made before the first job starts. Writes to\n"
      "live.output (or the directory --output), for each policy: POLICY.jobs.csv,\n"
      "POLICY.events.csv and POLICY.corun.csv; of all: results.h5, with the tables of\n"
      "`corun replay --output`. Ctrl-C stops all jobs and keeps what was finished. Then\n"
      "`corun live validate` sets it all beside the simulator, job by job.";
  command.examples =
      "  corun live solo my-box.yaml && corun live run my-box.yaml\n"
      "  corun live run my-box.yaml --set 'policies=[{name: fcfs}]' --format json\n";
  command.positional = "CONFIG";
  add_live_options(command, true);
  command.own.add_options()("solo", po::value<std::string>(),
                            "solo times, as `corun live solo` wrote them; else solo.csv in "
                            "live.output");
  CommonOptions common;
  const auto parsed = parse_command_line(command, arguments, common);
  if (!parsed) return kDone;
  const auto& values = *parsed;
  if (values.count("CONFIG") == 0) {
    throw InputError("corun live run", "no configuration given; see docs/live.md for one");
  }
  LiveConfig config = read_live_config(values["CONFIG"].as<std::string>(), common.overrides);
  if (common.output) config.output = *common.output;
  check_config(config.config);
  if (config.queue.empty()) {
    throw InputError(values["CONFIG"].as<std::string>(),
                     "no queue; add queue: [WORKLOAD, ...] with the jobs to run");
  }
  const std::string solo_file =
      values.count("solo") != 0
          ? find_input_file(values["solo"].as<std::string>(), common, "--solo")
          : config.output + "/solo.csv";
  std::error_code error;
  if (!std::filesystem::exists(solo_file, error)) {
    throw InputError("corun live run", "no file '" + printable(solo_file) +
                                           "' with solo times; measure them: corun live solo "
                                           "CONFIG, or name one by --solo");
  }
  const std::vector<SoloRow> alone = read_solo_csv(solo_file);
  std::filesystem::create_directories(config.output, error);
  if (error) {
    throw InputError(common.output ? "--output" : "live.output",
                     "'" + config.output + "' cannot be made: " + error.message());
  }
  const std::atomic<bool>& stop = interrupted();

  const Nvml nvml = open_nvml(values, {}, config.output);
  const bool mps = config.config.cluster.sharing == SharingMode::kMps;
  const std::vector<std::size_t> gpus = choose_gpus(
      nvml, config.gpus, {true, mps, values.count("allow-others") != 0}, config.gpus_place);
  const GpuFacts& kind = nvml.gpus()[gpus.front()];
  for (const std::size_t gpu : gpus) {
    if (nvml.gpus()[gpu].name != kind.name) {
      throw DeviceError("GPUs of two types, " + kind.name + " and " + nvml.gpus()[gpu].name +
                        ": solo times hold for one; choose by live.gpus");
    }
  }

  // The queue as a file of its own: `corun replay` can be given it as well.
  WorkloadKeys keys;
  double mean_solo_s = 0;
  {
    const Trace queue = make_queue(config, alone, solo_file, keys);
    for (const JobSpec& job : queue.workload.jobs) {
      mean_solo_s += to_seconds(job.work) / static_cast<double>(queue.workload.jobs.size());
    }
    std::ostringstream text;
    write_job_csv(text, queue, keys);
    write_file_atomically(config.output + "/" + kQueueFile, text.str());
  }
  Config simulated = config.config;
  simulated.workload.source = "csv";
  simulated.workload.path =
      std::filesystem::absolute(config.output + "/" + kQueueFile).lexically_normal().string();
  simulated.replications = 1;  // what happens really happens once
  simulated.cluster.nodes = 1;
  simulated.cluster.gpus_per_node = static_cast<std::int64_t>(gpus.size());
  simulated.cluster.gpu_type = kind.name;
  simulated.cluster.gpu_memory_mib = kind.memory_mib;
  // Here a job that does not fit waits until somebody has gone. The simulator lets it fail and start anew,
  // which costs it the ramp: let that be about as long as such a wait.
  if (!simulated.places.contains("cluster.oom.ramp_s")) simulated.cluster.oom.ramp_s = mean_solo_s;
  const std::string measured = config.output + "/measured.corun.csv";
  if (!simulated.places.contains("world.path") && std::filesystem::exists(measured, error)) {
    simulated.world.path = std::filesystem::absolute(measured).lexically_normal().string();
  }
  if (!simulated.places.contains("policies")) {
    std::erase_if(simulated.policies, [](const PolicyConfig& p) { return p.name == "oracle"; });
  }
  const Experiment experiment(simulated, common.data);
  const std::shared_ptr<const Trace> trace = experiment.make_trace(0);
  const std::unique_ptr<World> world = experiment.make_world(*trace);
  std::vector<PolicyResult> results;
  for (const PolicyInstance& policy : experiment.policies()) {
    if (policy.granted_truth) {
      throw InputError(
          policy.place,
          "policy '" + policy.label + "' knows true costs, which nobody does here; leave it out");
    }
    PolicyResult result;
    result.label = policy.label;
    PolicyRun predicted = experiment.run_policy(*trace, 0, policy, {});
    result.predicted = predicted.metrics;
    result.predicted_record = std::move(predicted.record);
    const auto moved = [](const JobRecord& r) { return r.preemptions > 0; };
    if (std::ranges::any_of(result.predicted_record.jobs, moved)) refuse_preemption(policy);
    results.push_back(std::move(result));
  }

  if (!common.quiet) {
    for (const std::string& warning : experiment.warnings()) {
      std::fputs(("note: " + warning + "\n").c_str(), stderr);
    }
  }

  ResultsHeader header = results_header(experiment);
  header.config = dump_yaml(seen_from(simulated, config.output));
  header.measured_on = kind.name;
  write_file_atomically(
      config.output + "/" + kReplayFile,
      "# The prediction of `corun live run`: `corun replay` makes it again.\n" + header.config);
  write_file_atomically(config.output + "/" + kPredictionFile, prediction_csv(results));
  Session session;
  Sharing sharing(session, nvml, gpus, mps);
  ControlOptions control;
  const ControlConfig& wanted = simulated.control;
  control.start = wanted.start;
  control.round = wanted.round_s ? from_seconds(*wanted.round_s) : Duration::zero();
  control.reallocate = wanted.reallocate_s ? from_seconds(*wanted.reallocate_s) : Duration::zero();
  control.oom_retries = experiment.cluster().oom.retries;
  bool stopped = false;
  std::size_t done = 0;
  for (; done < results.size() && !stopped; ++done) {
    PolicyResult& result = results[done];
    const PolicyInstance& policy = experiment.policies()[done];
    std::vector<LiveJob> jobs;
    int largest = 1;
    for (std::size_t j = 0; j < trace->names.size(); ++j) {
      LiveJob job;
      job.command = config.workloads[config.queue[j].workload].command;
      job.command.name = trace->names[j];
      job.memory_mib = trace->workload.jobs[j].profile.mem_used_mib;
      jobs.push_back(std::move(job));
      largest = std::max(largest, trace->workload.jobs[j].gpus);
    }
    LiveOptions options;
    options.sample_every = from_seconds(config.sample_s);
    options.memory_reserve_mib = config.memory_reserve_mib;
    options.output = policy_file(config.output + "/output", result.label, "");
    options.stop = &stop;
    const std::unique_ptr<Policy> decides =
        experiment.make_policy(*trace, 0, policy, *world, &stop);
    LiveBackend backend(experiment.cluster(), trace->workload, std::move(jobs), session, nvml, gpus,
                        sharing, options);
    const auto source_of = [&] {
      return JobSource(trace->names.size(), largest,
                       [&](JobId job) { return experiment.view_of(*trace, 0, job); });
    };
    ControlLoop loop(backend, *decides, result.label, source_of(), control);
    std::size_t passes = 0;
    const auto keep = [&] {
      result.runs = backend.runs();
      result.record = backend.take_record();
      result.measured = compute_metrics(result.record);
      result.record.passes = passes;
      write_results(result, *trace, config, kind.name);
      write_results_hdf5(config.output + "/" + kResultsFile, header, trace,
                         std::span(results).first(done + 1));
    };
    try {
      passes = loop.run(&result.log);
      result.complete = true;
      keep();
    } catch (const LiveStopped&) {
      keep();
      stopped = true;
    } catch (const PreemptionAsked&) {
      keep();
      refuse_preemption(policy);
    } catch (const DeviceError&) {
      keep();  // what was finished is measured, whatever became of the GPU
      throw;
    } catch (const PolicyError& e) {
      if (!stop) throw InputError(policy.place, e.what());
      backend.stop_all();  // a program of the user's own was asked when the interrupt came
      keep();
      stopped = true;
    }
    // A program of the user's own is not asked twice.
    if (result.complete && policy.entry->name != "external") {
      const std::unique_ptr<Policy> again = experiment.make_policy(*trace, 0, policy, *world);
      RecordedBackend recorded(experiment.cluster(), trace->workload, result.log, result.runs);
      EventLog log;
      try {
        ControlLoop(recorded, *again, result.label, source_of(), control).run(&log);
        result.repeats = log == result.log;
      } catch (const DecisionDiffers& e) {
        result.repeats = false;
        std::fputs(fmt::format("note: {}: played back, {}\n", result.label, e.what()).c_str(),
                   stderr);
      }
    }
    if (!common.quiet) {
      std::fputs(
          fmt::format("{}: {:.0f} jobs finished, {:.0f} failed\n", result.label,
                      at(result.measured, Metric::kJobs), at(result.measured, Metric::kFailed))
              .c_str(),
          stderr);
    }
  }
  results.resize(done);
  std::cout << report(results, common.format, kind.name, gpus.size());
  return stopped ? kInterrupted : kDone;
}

}  // namespace corun::live
