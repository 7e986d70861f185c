#include <filesystem>
#include <iostream>

#include <fmt/ostream.h>

#include "cli/live/live_command.hpp"
#include "cli/live/live_options.hpp"
#include "cli/note.hpp"
#include "live/gpu/gpu_box.hpp"
#include "live/run/live_limits.hpp"
#include "live/run/queue_run_output.hpp"
#include "sim/base/text.hpp"
#include "sim/error.hpp"

/// `corun live run`: one queue of real jobs under each policy of a configuration.
namespace corun::live {

namespace {

namespace po = boost::program_options;

CommandLine run_command_line() {
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
      "`corun live validate` compares all with the simulator, job by job.";
  command.examples =
      "  corun live solo my-box.yaml && corun live run my-box.yaml\n"
      "  corun live run my-box.yaml --set 'policies=[{name: fcfs}]' --format json\n";
  command.positional = "CONFIG";
  command.output = OutputUse::kOwn;
  add_live_options(command, true);
  command.own.add_options()("solo", po::value<std::string>(),
                            "solo times, as `corun live solo` wrote them; else solo.csv in "
                            "live.output");
  return command;
}

std::string find_solo_file(const po::variables_map& values, const CommonOptions& common,
                           const LiveConfig& config) {
  std::string file = values.count("solo") != 0
                         ? find_input_file(values["solo"].as<std::string>(), common, "--solo")
                         : config.output + "/solo.csv";
  std::error_code error;
  if (std::filesystem::exists(file, error)) return file;
  throw InputError("corun live run", "no file '" + printable(file) +
                                         "' with solo times; measure them: corun live solo "
                                         "CONFIG, or name one by --solo");
}

void tell(const PolicyResult& result, bool quiet) {
  if (!result.difference.empty()) {
    fmt::print(std::cerr, "note: {}: played back, {}\n", result.label(), result.difference);
  }
  if (quiet) return;
  fmt::print(std::cerr, "{}: {:.0f} jobs finished, {:.0f} failed\n", result.label(),
             at(result.measured, Metric::kJobs), at(result.measured, Metric::kFailed));
}

}  // namespace

int run_command(const std::vector<std::string>& arguments) {
  const CommandLine command = run_command_line();
  CommonOptions common;
  const auto parsed = parse_command_line(command, arguments, common);
  if (!parsed) return kDone;
  const auto& values = *parsed;
  const std::string path = config_path(command, values);
  const LiveConfig config = load_live_config(path, common);
  check_live_cluster(config.config);
  if (config.queue.empty()) {
    throw InputError(path, "no queue; add queue: [WORKLOAD, ...] with the jobs to run");
  }
  const std::string solo_file = find_solo_file(values, common, config);
  const std::vector<SoloRow> alone = read_solo_csv(solo_file);
  make_results_directory(config, common);
  const std::atomic<bool>& stop = interrupted();

  const Nvml nvml = open_nvml(values, {}, config.output);
  const GpuRules rules{true, config.shares_by_mps(), values.count("allow-others") != 0};
  const std::vector<std::size_t> gpus =
      by_type(nvml, choose_gpus(nvml, config.gpus, rules, config.gpus_place));
  std::vector<GpuFacts> facts;
  for (const std::size_t gpu : gpus) facts.push_back(nvml.gpus()[gpu]);
  const QueuePrediction prediction = predict_queue(config, {solo_file, alone}, facts, common.data);
  for (const Note& one : prediction.experiment->notes()) note(common, one.text);
  const QueueRun run = run_queue(config, prediction, nvml, gpus, stop,
                                 [&](const PolicyResult& result) { tell(result, common.quiet); });
  std::cout << (common.format == Format::kJson  ? json_text(queue_run_json(run))
                : common.format == Format::kCsv ? queue_run_csv(run)
                                                : queue_run_table(run));
  return run.interrupted ? kInterrupted : kDone;
}

}  // namespace corun::live
