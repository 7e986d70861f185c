#include <algorithm>
#include <cctype>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <map>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "experiments/base/atomic_file.hpp"
#include "experiments/base/progress.hpp"
#include "experiments/commands/cli.hpp"
#include "experiments/config/config_yaml.hpp"
#include "experiments/knowledge/knowledge_report.hpp"
#include "experiments/replay/replay.hpp"
#include "experiments/replay/replay_output.hpp"
#include "experiments/results/results_writer.hpp"
#include "experiments/results/run_info.hpp"
#include "models/device.hpp"
#include "sim/base/text.hpp"
#include "sim/error.hpp"
#include "traces/csv_reader.hpp"

/// `corun replay`: the main job.
namespace corun {

namespace {

namespace po = boost::program_options;
namespace fs = std::filesystem;

/// A line on stderr; that nobody can read it is no reason to lose a result.
template <typename... Arguments>
void note(fmt::format_string<Arguments...> format, Arguments&&... arguments) {
  std::fputs(fmt::format(format, std::forward<Arguments>(arguments)...).c_str(), stderr);
}

/// A label as a file name: whatever a path could trip over becomes '_'.
std::string file_name(std::string label) {
  for (char& c : label) {
    const bool plain = std::isalnum(static_cast<unsigned char>(c)) != 0 ||
                       std::string_view("-_.#=").find(c) != std::string_view::npos;
    if (!plain) c = '_';
  }
  return label;
}

/// The timeline's file of each policy, all different.
std::vector<std::string> timeline_files(const Experiment& experiment,
                                        const std::string& directory) {
  std::vector<std::string> files;
  for (const PolicyInstance& policy : experiment.policies()) {
    const std::string stem = (fs::path(directory) / file_name(policy.label)).string();
    std::string file = stem + ".csv";
    for (int n = 2; std::find(files.begin(), files.end(), file) != files.end(); ++n) {
      file = stem + "-" + std::to_string(n) + ".csv";
    }
    files.push_back(file);
  }
  return files;
}

/// Everything that will be written can be, is written once, and is not what was read. Before a long
/// run, not after it.
void check_outputs(const Experiment& experiment, const std::optional<std::string>& config,
                   const std::optional<std::string>& output,
                   const std::optional<std::string>& timeline,
                   const std::optional<std::string>& knowledge) {
  const auto same = [](const std::string& path) {
    std::error_code error;
    return fs::weakly_canonical(path, error);
  };
  std::map<fs::path, std::string> taken;
  for (const std::string& file : experiment.input_files()) taken[same(file)] = "an input";
  if (config) taken[same(*config)] = "the configuration";
  const auto claim = [&](const std::string& path, const std::string& place) {
    checked_output_path(path, place);
    const auto [at, fresh] = taken.emplace(same(path), "the output of " + place);
    if (!fresh) {
      throw InputError(place, "'" + path + "' is " + at->second + "; choose another file");
    }
  };
  if (output) {
    claim(*output, "--output");
    claim(*output + ".run.json", "--output");
  }
  if (knowledge) claim(*knowledge, "--knowledge");
  if (!timeline) return;
  std::error_code error;
  fs::create_directories(*timeline, error);
  if (error) throw InputError("--timeline", "cannot make '" + *timeline + "': " + error.message());
  for (const std::string& file : timeline_files(experiment, *timeline)) claim(file, "--timeline");
}

/// The event log of replication 0, one CSV per policy.
void write_timelines(const Experiment& experiment, const std::string& directory) {
  const std::vector<std::string> files = timeline_files(experiment, directory);
  const std::shared_ptr<const Trace> shared_trace = experiment.make_trace(0);
  const Trace& trace = *shared_trace;
  for (std::size_t p = 0; p < files.size(); ++p) {
    EventLog log;
    RunObservation observation;
    observation.log = &log;
    experiment.run_policy(trace, 0, experiment.policies()[p], observation);
    std::ostringstream text;
    write_event_log(text, log, [&](JobId j) { return trace.names[index(j)]; });
    write_file_atomically(files[p], text.str());
  }
}

/// How every knowledge base of replication 0 changed with each finished co-run.
void write_knowledge_history(const Experiment& experiment, const std::string& path) {
  std::ostringstream text;
  text << "policy,time_s,co_runs,metric,cluster,partner,count,mean,rank\n";
  const std::shared_ptr<const Trace> shared_trace = experiment.make_trace(0);
  const Trace& trace = *shared_trace;
  for (const PolicyInstance& policy : experiment.policies()) {
    if (policy.granted_truth || policy.entry->needs != PolicyNeeds::kBelief) continue;
    std::size_t co_runs = 0;
    const auto write = [&](Time at, const KnowledgeBase& kb) {
      const auto rows = [&](const char* metric, const std::vector<ClusterPairKnowledge>& pairs) {
        for (const ClusterPairKnowledge& p : pairs) {
          text << csv_text(policy.label) << ',' << csv_seconds(at) << ',' << co_runs << ','
               << metric << ',' << p.cluster << ',' << p.partner << ',' << p.statistic->count()
               << ',' << csv_number(p.statistic->mean()) << ',' << p.rank << '\n';
        }
      };
      rows("isd", ranked_isd(kb));
      rows("ps", ranked_ps(kb));
    };
    write(Time{0}, experiment.initial_knowledge());
    RunObservation observation;
    observation.on_learned = [&](Time at, const KnowledgeBase& kb) {
      ++co_runs;
      write(at, kb);
    };
    experiment.run_policy(trace, 0, policy, observation);
  }
  write_file_atomically(path, text.str());
}

/// A WorldModel or a ModelName of --worlds.
template <typename Choice>
Choice world_model(const std::string& name) {
  if (const auto choice = Choice::find(name)) return *choice;
  throw InputError("--worlds", unknown_model_message(name));
}

/// "measured+cluster-mean" is model measured with that fallback.
Config in_world(Config config, const std::string& world) {
  const auto plus = world.find('+');
  const std::string name = world.substr(0, plus);
  if (plus != std::string::npos && WorldModel::find(name) != WorldKind::kMeasured) {
    throw InputError("--worlds",
                     "found '" + printable(world) + "', only measured takes a +fallback");
  }
  config.world.model = world_model<WorldModel>(name);
  config.places["world.model"] = "--worlds";
  if (plus != std::string::npos) {
    config.world.fallback = world_model<ModelName>(world.substr(plus + 1));
    config.places["world.fallback"] = "--worlds";
  }
  return config;
}

void print_notes(const Experiment& experiment, bool quiet) {
  if (quiet) return;
  for (const std::string& warning : experiment.warnings()) {
    note("note: {}\n", warning);
  }
  if (!experiment.overload().empty()) note("warning: {}\n", experiment.overload());
}

/// The policy whose scheduling passes take longest, by their 99th percentile, and who may have lost most.
void print_decisions(const Experiment& experiment, const ReplayResult& result) {
  std::size_t slowest = 0;
  DecisionTimes longest;
  for (std::size_t p = 0; p < experiment.policies().size(); ++p) {
    const DecisionTimes times = decision_times(result, p);
    if (times.quantile_s(0.99) > longest.quantile_s(0.99)) {
      slowest = p;
      longest = times;
    }
    if (const PlanLosses losses = plan_losses(result, p); losses.plans > 0) {
      note(
          "plans of {}: proven to lose {:.3g} % at most, {:.3g} % on average, against the full "
          "matching\n",
          experiment.policies()[p].label, 100 * losses.worst,
          100 * losses.sum / static_cast<double>(losses.plans));
    }
  }
  if (longest.passes() == 0) return;
  note("decisions: slowest is {}: {}\n", experiment.policies()[slowest].label, text_of(longest));
}

int compare_worlds(const Config& config, const CommonOptions& common,
                   const std::vector<std::string>& worlds) {
  std::vector<std::unique_ptr<Experiment>> experiments;
  for (const std::string& world : worlds) {
    experiments.push_back(std::make_unique<Experiment>(in_world(config, world), common.data));
  }
  print_notes(*experiments.front(), common.quiet);
  std::vector<ReplayResult> results;
  bool stopped = false;
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
    results.push_back(replay(*experiments[w], options));
    stopped |= results.back().interrupted;
    if (results.back().replications.empty()) {
      results.pop_back();  // interrupted before its first replication: show the worlds before it
      break;
    }
  }
  if (results.empty()) return kInterrupted;
  std::vector<WorldResult> shown;
  for (std::size_t w = 0; w < results.size(); ++w) {
    shown.push_back({worlds[w], experiments[w].get(), &results[w]});
  }
  if (common.format == Format::kJson) {
    nlohmann::ordered_json out;
    out["worlds"] = nlohmann::ordered_json::array();
    for (const WorldResult& w : shown) {
      out["worlds"].push_back(to_json(*w.experiment, *w.result));
      out["worlds"].back()["world"] = w.world;
    }
    out["ranking"] = ranking_json(shown);
    std::cout << out.dump(2) << "\n";
  } else {
    for (const WorldResult& w : shown) {
      print_table(std::cout, *w.experiment, *w.result);
      std::cout << "\n";
    }
    print_ranking(std::cout, shown);
  }
  return stopped ? kInterrupted : kDone;
}

}  // namespace

int replay_command(const std::vector<std::string>& arguments) {
  CommandLine command;
  command.name = "replay";
  command.usage = "corun replay [CONFIG] [options]";
  command.summary =
      "The main job: one workload, several scheduling policies, many seeds. Every policy of a "
      "seed\n"
      "sees the same arrivals, true costs and noise; the table shows means with 95 % bootstrap\n"
      "intervals and paired differences. Without CONFIG: the 24 measured jobs of the JRS paper.";
  command.examples =
      "  corun replay\n"
      "  corun replay --set replications=1000 --set cluster.nodes=8\n"
      "  corun replay --set policies='[{name: random}, {name: min-slowdown, epsilon: 0.3}]'\n"
      "  corun replay --worlds measured,contention,cluster-mean\n"
      "  corun replay --format json --output results.h5\n";
  command.positional = "CONFIG";
  auto add = command.own.add_options();
  add("worlds", po::value<std::string>(),
      "repeat the comparison in each of these worlds and say whether the ranking survives, e.g. "
      "measured,measured+cluster-mean,contention");
  add("timeline", po::value<std::string>(),
      "write the events of the first replication to DIR/POLICY.csv");
  add("knowledge", po::value<std::string>(),
      "write how the knowledge bases of the first replication learned to this CSV");
  CommonOptions common;
  const auto values = parse_command_line(command, arguments, common);
  if (!values) return kDone;
  const auto started = std::chrono::steady_clock::now();
  const auto given = [&](const char* key) -> std::optional<std::string> {
    if (values->count(key) == 0) return std::nullopt;
    return (*values)[key].as<std::string>();
  };
  const std::shared_ptr<Device> device = choose_device(common.device);
  const Config config = load_config(common, given("CONFIG"));
  if (common.dump_config) {
    std::cout << dump_yaml(config);
    return kDone;
  }
  if (const auto worlds = given("worlds")) {
    if (common.output || given("timeline") || given("knowledge") || common.format == Format::kCsv) {
      throw InputError("--worlds",
                       "prints a table or JSON; it takes no --output, --timeline, "
                       "--knowledge or --format csv");
    }
    std::vector<std::string> names;
    std::istringstream list(*worlds);
    for (std::string name; std::getline(list, name, ',');) names.push_back(name);
    if (names.empty()) throw InputError("--worlds", "expected a list of worlds");
    return compare_worlds(config, common, names);
  }

  const Experiment experiment(config, common.data, {}, device);
  check_outputs(experiment, given("CONFIG"), common.output, given("timeline"), given("knowledge"));
  const ResultsHeader header = results_header(experiment);
  std::unique_ptr<ResultsWriter> writer;
  if (common.output) {
    writer = std::make_unique<ResultsWriter>(*common.output, header);
    if (!writer->notice().empty() && !common.quiet) {
      note("note: {}\n", writer->notice());
    }
  }
  print_notes(experiment, common.quiet);
  ReplayOptions options;
  options.threads = common.threads;
  options.stop = &interrupted();
  options.keep_records = writer != nullptr;
  options.time_decisions = writer != nullptr || !common.quiet;
  ReplayResult result;
  {
    Progress progress("replaying", common.quiet);
    options.on_finished = [&](const Replication& replication, std::size_t done, std::size_t total) {
      if (writer) writer->add(replication);
      progress.update(done, total);
    };
    result = replay(experiment, options);
  }
  if (result.replications.empty()) return kInterrupted;
  if (!device->note().empty() && !common.quiet) note("note: {}\n", device->note());
  if (writer) {
    writer->finish(result);
    const std::chrono::duration<double> wall = std::chrono::steady_clock::now() - started;
    write_run_json(*common.output, {wall.count(), common.threads, device->record(), ""}, header,
                   result);
  }
  if (const auto directory = given("timeline")) write_timelines(experiment, *directory);
  if (const auto path = given("knowledge")) write_knowledge_history(experiment, *path);

  if (!common.quiet) print_decisions(experiment, result);
  switch (common.format) {
    case Format::kTable:
      print_table(std::cout, experiment, result);
      break;
    case Format::kJson:
      std::cout << to_json(experiment, result).dump(2) << "\n";
      break;
    case Format::kCsv:
      print_csv(std::cout, experiment, result);
      break;
  }
  return result.interrupted ? kInterrupted : kDone;
}

}  // namespace corun
