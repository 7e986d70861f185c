#include <algorithm>
#include <chrono>
#include <iostream>
#include <iterator>
#include <memory>
#include <sstream>

#include <fmt/format.h>

#include "cli/cli.hpp"
#include "cli/key_options.hpp"
#include "models/scoring/device.hpp"
#include "results/results_identity.hpp"
#include "results/results_writer.hpp"
#include "results/run_info.hpp"
#include "runner/config/config_yaml.hpp"
#include "runner/experiment/experiment_header.hpp"
#include "runner/experiment/trace_experiment.hpp"
#include "runner/replay/interval_coverage_output.hpp"
#include "runner/replay/job_groups.hpp"
#include "runner/replay/knowledge_history.hpp"
#include "runner/replay/replay.hpp"
#include "runner/replay/replay_files.hpp"
#include "runner/replay/replay_output.hpp"
#include "runner/replay/replay_table.hpp"
#include "runner/replay/replay_view.hpp"
#include "runner/replay/world_comparison.hpp"
#include "sim/error.hpp"
#include "support/atomic_file.hpp"
#include "support/json.hpp"
#include "support/progress.hpp"

/// `corun replay`: compares policies on a workload.
namespace corun::inline cli {

namespace {

namespace po = boost::program_options;

/// Prints a line on stderr; a failure to write it is ignored.
template <typename... Arguments>
void note(fmt::format_string<Arguments...> format, Arguments&&... arguments) {
  std::cerr << fmt::format(format, std::forward<Arguments>(arguments)...);
}

void print_notes(const Experiment& experiment, bool quiet) {
  if (quiet) return;
  for (const Notes* notes : {&experiment.resolutions(), &experiment.notes()}) {
    for (const Note& one : *notes) {
      note("{}: {}\n", one.code == NoteCode::kOverload ? "warning" : "note", one.text);
    }
  }
}

CommandLine described() {
  CommandLine command;
  command.name = "replay";
  command.usage = "corun replay [CONFIG | TRACE] [options]";
  command.summary =
      "The main job: one workload, several scheduling policies, many seeds. Every policy of a "
      "seed\n"
      "sees the same arrivals, true costs and noise; the tables show means with 95 % intervals "
      "and\n"
      "paired differences to a baseline. CONFIG is YAML; TRACE is a CSV of your jobs, or a file "
      "in\n"
      "a format of corun list traces. Without either: the 24 measured jobs of the JRS paper.";
  command.examples =
      "  corun replay\n"
      "  corun replay examples/jobs.csv --policies fifo,sjf,min-slowdown --gpus 2 --replications "
      "10\n"
      "  corun replay --set replications=1000 --set cluster.nodes=8\n"
      "  corun replay --set policies='[{name: random}, {name: min-slowdown, epsilon: 0.3}]'\n"
      "  corun replay --worlds measured,contention,cluster-mean\n"
      "  corun replay --baseline fcfs --metrics jct_s,jct_p99_s,isd --figure jct.svg\n"
      "  corun replay --format json --output results.h5\n";
  command.positional = "CONFIG";
  command.output = OutputUse::kOwn;
  add_key_options(command);
  auto add = command.own.add_options();
  add("worlds", po::value<std::string>(),
      "repeat the comparison in each of these worlds and say whether the ranking survives, e.g. "
      "measured,measured+cluster-mean,contention");
  add("coverage", po::bool_switch(),
      "print how often the intervals of 3, 5, 10 and 30 replications hold the mean of all others, "
      "in place of the comparison; needs 1000 replications");
  add("baseline", po::value<std::string>(),
      "the policy, by label or name, to which the others are compared (random, else the first)");
  add("metrics", po::value<std::string>(),
      "show these metrics only, e.g. jct_s,jct_p99_s,isd (docs/results.md)");
  add("by", po::value<std::string>(),
      "also show completion times by groups of jobs: gpus (size of the gang), length (quarters by "
      "run time), worst (the tenth that takes longest), or a column of the log such as user");
  add("figure", po::value<std::string>(),
      "draw the distribution of completion times and the means by policy into this SVG file");
  add("timeline", po::value<std::string>(),
      "write the events of the first replication to DIR/POLICY.csv");
  add("knowledge", po::value<std::string>(),
      "write how the knowledge bases of the first replication learned to this CSV");
  add("volcano", po::value<std::string>(),
      "write the jobs of the first replication to this YAML, each with the node where the one "
      "policy placed it and the GPU memory that it needs, for Kubernetes with Volcano");
  add("containers", po::value<std::string>(), "with --volcano: CSV of job,image,command,args");
  return command;
}

/// What to show, as the user gave it.
struct AskedView {
  std::optional<std::string> baseline;
  std::optional<std::string> metrics;
};

/// The worlds of `--worlds`, which excludes some other options.
std::vector<std::string> world_names(const std::string& list, const CommonOptions& common,
                                     const ReplayFiles& files) {
  if (files.output || files.timeline || files.knowledge || files.figure || files.volcano ||
      common.format == Format::kCsv) {
    throw InputError("--worlds",
                     "prints a table or JSON; it takes no --output, --timeline, --knowledge, "
                     "--figure, --volcano or --format csv");
  }
  std::vector<std::string> names;
  std::istringstream text(list);
  for (std::string name; std::getline(text, name, ',');) names.push_back(name);
  if (names.empty()) throw InputError("--worlds", "expected a list of worlds");
  return names;
}

/// Results of the worlds with at least one replication: fewer than requested after an interrupt.
std::vector<ReplayResult> replay_worlds(const std::vector<std::unique_ptr<Experiment>>& experiments,
                                        const std::vector<std::string>& worlds,
                                        const CommonOptions& common) {
  std::vector<ReplayResult> results;
  for (std::size_t w = 0; w < worlds.size(); ++w) {
    Progress progress("world " + worlds[w], common.quiet);
    ReplayOptions options;
    options.threads = common.threads;
    options.stop = &interrupted();
    options.keep_records = false;
    options.time_decisions = false;
    options.on_finished = [&](const Replication&, std::size_t done, std::size_t total) {
      progress.update(done, total);
    };
    ReplayResult result = replay(*experiments[w], options);
    if (result.replications.empty()) break;
    results.push_back(std::move(result));
  }
  return results;
}

/// Tells on stderr which policies broke a rule; returns whether one did.
bool tell_failures(const Experiment& experiment, const ReplayResult& result) {
  std::optional<std::size_t> told;
  for (const FailedRun& run : failed_runs(result)) {
    if (told == run.policy) continue;  // its first one says enough
    told = run.policy;
    const std::string& place = experiment.policies()[run.policy].place;
    note("error: {}{}{} (replication {})\n", place, place.empty() ? "" : ": ", run.reason,
         run.replication);
  }
  return told.has_value();
}

/// The view with what varies between the replications.
ReplayView with_variations(ReplayView view, const Experiment& experiment,
                           const ReplayResult& result, const CommonOptions& common) {
  const Metric metric = view.metrics.empty() ? Metric::kJctS : view.metrics.front();
  Progress progress("what varies", common.quiet);
  ReplayOptions options;
  options.threads = common.threads;
  options.stop = &interrupted();
  const VariationProgress on_run = [&](std::size_t done, std::size_t total) {
    progress.update(done, total);
  };
  view.variations = variations_of(experiment, result, metric, options, on_run);
  return view;
}

int compare_worlds(const Config& config, const CommonOptions& common,
                   const std::vector<std::string>& worlds, const AskedView& asked) {
  std::vector<std::unique_ptr<Experiment>> experiments;
  const auto cache = std::make_shared<InputCache>(common.threads);
  for (const std::string& world : worlds) {
    experiments.push_back(std::make_unique<Experiment>(in_world(config, world), common.data,
                                                       std::nullopt, nullptr, cache));
  }
  const ReplayView view = replay_view(*experiments.front(), asked.baseline, asked.metrics);
  print_notes(*experiments.front(), common.quiet);
  const std::vector<ReplayResult> results = replay_worlds(experiments, worlds, common);
  if (results.empty()) return kInterrupted;
  std::vector<WorldResult> shown;
  bool stopped = results.size() < worlds.size();
  for (std::size_t w = 0; w < results.size(); ++w) {
    shown.push_back({worlds[w], experiments[w].get(), &results[w]});
    stopped |= results[w].interrupted;
  }
  if (common.format == Format::kJson) {
    Json out;
    out["worlds"] = Json::array();
    for (const WorldResult& w : shown) {
      out["worlds"].push_back(to_json(*w.experiment, *w.result, view));
      out["worlds"].back()["world"] = w.world;
    }
    out["ranking"] = ranking_json(shown, ranking_metric(view.metrics));
    std::cout << json_text(out);
  } else {
    for (const WorldResult& w : shown) {
      print_table(std::cout, *w.experiment, *w.result,
                  with_variations(view, *w.experiment, *w.result, common));
      std::cout << "\n";
    }
    print_ranking(std::cout, shown, ranking_metric(view.metrics));
  }
  bool failed = false;
  for (const WorldResult& w : shown) failed |= tell_failures(*w.experiment, *w.result);
  return stopped ? kInterrupted : failed ? kCheckFailed : kDone;
}

/// Runs the experiment; finished replications go to the writer, if any.
ReplayResult replay_into(ResultsWriter* writer, const Experiment& experiment,
                         const CommonOptions& common, bool keep_records, bool count_jct) {
  Progress progress("replaying", common.quiet);
  ReplayOptions options;
  options.threads = common.threads;
  options.stop = &interrupted();
  options.keep_records = writer != nullptr || keep_records;
  options.time_decisions = writer != nullptr || !common.quiet;
  options.count_jct = count_jct;
  options.on_finished = [&](const Replication& replication, std::size_t done, std::size_t total) {
    if (writer != nullptr) writer->add(replication);
    progress.update(done, total);
  };
  return replay(experiment, options);
}

void print_result(const CommonOptions& common, const Experiment& experiment,
                  const ReplayResult& result, const ReplayView& view,
                  const std::vector<JobGrouping>& by) {
  switch (common.format) {
    case Format::kTable:
      print_table(std::cout, experiment, result, with_variations(view, experiment, result, common));
      for (const JobGrouping& one : by) std::cout << groups_table(experiment, result, view, one);
      break;
    case Format::kJson: {
      Json json = to_json(experiment, result, view);
      for (const JobGrouping& one : by) json["by"].push_back(groups_json(experiment, result, one));
      std::cout << json_text(json);
      break;
    }
    case Format::kCsv:
      print_csv(std::cout, experiment, result, view);
      break;
  }
}

void print_coverage(Format format, const Experiment& experiment, const ReplayResult& result) {
  const std::vector<IntervalCoverage> coverage = coverage_of_intervals(experiment, result);
  switch (format) {
    case Format::kTable:
      std::cout << coverage_table(experiment, coverage);
      break;
    case Format::kJson:
      std::cout << json_text(coverage_json(experiment, coverage));
      break;
    case Format::kCsv:
      std::cout << coverage_csv(experiment, coverage);
      break;
  }
}

int replay_one(const Experiment& experiment, const Device& device, const CommonOptions& common,
               const ReplayFiles& files, const ReplayView& view, bool coverage,
               const std::vector<JobGrouping>& by, std::chrono::steady_clock::time_point started) {
  const ResultsHeader header = results_header(experiment);
  std::unique_ptr<ResultsWriter> writer;
  if (files.output) {
    writer = std::make_unique<ResultsWriter>(*files.output, header);
    if (!writer->notice().empty() && !common.quiet) note("note: {}\n", writer->notice());
  }
  print_notes(experiment, common.quiet);
  const ReplayResult result =
      replay_into(writer.get(), experiment, common, !by.empty(), files.figure.has_value());
  if (result.replications.empty() || (coverage && result.interrupted)) {
    if (!common.quiet) {
      note("note: stopped: {}\n", result.replications.empty()
                                      ? "no replication is finished, nothing is written"
                                      : "the coverage of fewer replications is not printed");
    }
    return kInterrupted;
  }
  if (!device.note().empty() && !common.quiet) note("note: {}\n", device.note());
  if (writer) {
    const std::string written = finish_results(*writer, *files.output, result);
    if (written != *files.output && !common.quiet) {
      note("note: stopped: {} finished replications are in {}; {} is as it was\n",
           result.replications.size(), written, *files.output);
    }
    const std::chrono::duration<double> wall = std::chrono::steady_clock::now() - started;
    write_run_json(written, {wall.count(), common.threads, device.record(), ""}, header, result);
  }
  write_replay_texts(experiment, files);
  const std::string figure = write_replay_figure(experiment, result, files);
  if (figure != files.figure.value_or("") && !common.quiet) {
    note("note: stopped: the figure of the finished replications is {}\n", figure);
  }
  if (!common.quiet) note("{}", decision_notes(experiment, result));
  // Tables and JSON have the line among them, rows of a CSV have no place for it.
  if (common.format == Format::kCsv && !common.quiet) note("note: {}\n", header.real_runs);
  if (coverage) {
    print_coverage(common.format, experiment, result);
  } else {
    print_result(common, experiment, result, view, by);
  }
  const bool failed = tell_failures(experiment, result);
  return result.interrupted ? kInterrupted : failed ? kCheckFailed : kDone;
}

/// The groupings of --by, joined by commas.
std::vector<JobGrouping> job_groupings(const Experiment& experiment,
                                       const std::optional<std::string>& list, Format format) {
  std::vector<JobGrouping> groupings;
  if (!list) return groupings;
  if (format == Format::kCsv) {
    throw InputError("--by", "is for tables and JSON; a results file (--output) has the jobs");
  }
  for (std::size_t from = 0; from <= list->size();) {
    const std::size_t to = std::min(list->find(',', from), list->size());
    groupings.push_back(job_grouping(experiment, list->substr(from, to - from)));
    from = to + 1;
  }
  return groupings;
}

/// The overrides that stand for the options and for a trace; the latter empties `path`.
std::vector<Override> overrides_of(const po::variables_map& values, const CommonOptions& common,
                                   std::optional<std::string>& path) {
  const bool columns = values.count("columns") != 0;
  if (!path && columns) {
    throw InputError("--columns",
                     "is for a CSV of jobs; name it: corun replay jobs.csv --columns ...");
  }
  std::vector<Override> overrides = key_overrides(values, common.overrides);
  if (path && is_job_trace(*path, columns)) {
    const std::vector<Override> trace = trace_overrides(*path, columns);
    overrides.insert(overrides.begin(), trace.begin(), trace.end());
    path.reset();
  }
  return overrides;
}

int replay_with(const po::variables_map& values, CommonOptions& common,
                const std::optional<std::string>& path,
                std::chrono::steady_clock::time_point started) {
  const auto given = [&](const char* key) -> std::optional<std::string> {
    if (values.count(key) == 0) return std::nullopt;
    return values[key].as<std::string>();
  };
  ReplayFiles files{common.output,   given("timeline"), given("knowledge"),
                    given("figure"), given("volcano"),  "",
                    common.existing};
  if (files.volcano.has_value() != given("containers").has_value()) {
    throw InputError(files.volcano ? "--volcano" : "--containers",
                     files.volcano ? "needs the images of the jobs; give --containers CSV of "
                                     "job,image,command,args"
                                   : "goes with --volcano");
  }
  if (files.volcano)
    files.containers = find_input_file(*given("containers"), common, "--containers");
  const AskedView asked{given("baseline"), given("metrics")};
  const std::shared_ptr<Device> device = choose_device(common.device);
  const Config config = load_config(common, path);
  const std::shared_ptr<InputCache> cache = std::make_shared<InputCache>(common.threads);
  if (common.dump_config) {
    std::cout << dump_yaml(Experiment(config, common.data, {}, device, cache).config());
    return kDone;
  }
  if (const auto worlds = given("worlds")) {
    if (given("by")) throw InputError("--by", "is for one world; run each world of --worlds alone");
    return compare_worlds(config, common, world_names(*worlds, common, files), asked);
  }
  const Experiment experiment(config, common.data, {}, device, cache);
  const ReplayView view = replay_view(experiment, asked.baseline, asked.metrics);
  const bool coverage = values["coverage"].as<bool>();
  const std::vector<JobGrouping> by = job_groupings(experiment, given("by"), common.format);
  if (coverage) {
    if (asked.baseline || asked.metrics || files.figure || !by.empty()) {
      throw InputError("--coverage", "takes no --baseline, --metrics, --by or --figure");
    }
    check_coverage(static_cast<std::size_t>(config.replications));
  }
  // From here on a signal ends the run in order, so none leaves a folder without files.
  static_cast<void>(interrupted());
  const MadeDirectory timeline = check_replay_files(experiment, given("CONFIG"), files);
  return replay_one(experiment, *device, common, files, view, coverage, by, started);
}

}  // namespace

int replay_command(const std::vector<std::string>& arguments) {
  CommonOptions common;
  const auto values = parse_command_line(described(), arguments, common);
  if (!values) return kDone;
  const auto started = std::chrono::steady_clock::now();
  std::optional<std::string> path;
  if (values->count("CONFIG") != 0) path = (*values)["CONFIG"].as<std::string>();
  const std::vector<Override> overrides = overrides_of(*values, common, path);
  common.overrides.insert(common.overrides.begin(), overrides.begin(), overrides.end());
  return replay_with(*values, common, path, started);
}

}  // namespace corun::inline cli
