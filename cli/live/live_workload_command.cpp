#include "cli/live/live_workload_command.hpp"

#include <algorithm>
#include <csignal>
#include <fstream>
#include <iostream>
#include <limits>
#include <optional>

#include <fmt/format.h>

#include "cli/cli.hpp"
#include "live/services/step_server.hpp"
#include "live/workloads/workload_list.hpp"
#include "live/workloads/workload_run.hpp"
#include "sim/base/text.hpp"
#include "sim/error.hpp"
#include "support/atomic_file.hpp"
#include "support/json.hpp"

namespace corun::live {

namespace {

namespace po = boost::program_options;
constexpr std::int64_t kStepsMax = 1'000'000'000'000;
constexpr double kSecondsMax = 1e6;

std::optional<double> number_option(const po::variables_map& values, const std::string& key,
                                    double min, double max) {
  if (values.count(key) == 0) return std::nullopt;
  const std::string text = values[key].as<std::string>();
  const auto number = parse_number(text);
  if (!number || *number < min || *number > max) {
    throw InputError("--" + key, fmt::format("found '{}', expected a number from {:g} to {:g}",
                                             printable(text), min, max));
  }
  return number;
}

Gemm gemm_option(const po::variables_map& values) {
  const std::string text = values["gemm"].as<std::string>();
  if (text == "auto") return Gemm::kAuto;
  if (text == "cublas") return Gemm::kCublas;
  if (text == "own") return Gemm::kOwn;
  throw InputError("--gemm", "found '" + printable(text) + "', expected auto, cublas or own");
}

/// SIGTERM must end the job even if the parent process blocked or ignored the signal.
void end_on_signals() {
  sigset_t signals;
  sigemptyset(&signals);
  for (const int signal : {SIGTERM, SIGINT}) {
    std::signal(signal, SIG_DFL);
    sigaddset(&signals, signal);
  }
  sigprocmask(SIG_UNBLOCK, &signals, nullptr);
}

CommandLine workload_command_line() {
  CommandLine command;
  command.name = "live workload";
  command.usage = "corun live workload NAME [options]";
  command.summary =
      "A training-like loop on the first visible GPU: a fixed number of steps, so that its time\n"
      "alone and beside others can be compared. Prints one JSON object a line; the last has the\n"
      "seconds and steps per second. `--list` shows what there is. Exit code 3 where there is no\n"
      "GPU, 1 where its memory does not suffice.";
  command.examples =
      "  corun live workload --list\n"
      "  corun live workload gemm --seconds 10      (how many steps take 10 s here, alone)\n"
      "  corun live workload gemm --steps 250 --intensity 0.5\n"
      "  corun live workload hungry --memory-mib 12000\n"
      "  corun live workload infer --serve 8000\n";
  command.positional = "NAME";
  command.configured = false;
  command.output = OutputUse::kOwn;
  command.own.add_options()("list", "print the table of workloads")(
      "steps", po::value<std::string>(), "length of the job, in steps (default: see --list)")(
      "seconds", po::value<std::string>(),
      "do no job: find the steps that take so long here, alone, and print them")(
      "intensity", po::value<std::string>()->default_value("1"),
      "factor on the GPU's work in each step, 0.01 to 100")(
      "memory-mib", po::value<std::string>(), "GPU memory to hold (default: see --list)")(
      "gemm", po::value<std::string>()->default_value("auto"),
      "library for matrix products: cublas, own, or auto (cublas where it can be loaded)")(
      "report-every", po::value<std::string>(),
      "steps between two lines (default: a tenth of all)")(
      "seed", po::value<std::string>()->default_value("1"), "of the values that are computed with")(
      "serve", po::value<std::string>(),
      "be a service instead: answer HTTP requests to this port of 127.0.0.1, one step for each, "
      "until a signal, or --steps requests");
  return command;
}

void check_options(const po::variables_map& values, const CommonOptions& common) {
  if (values.count("NAME") == 0) {
    throw InputError("corun live workload",
                     "no workload named; corun live workload --list shows them");
  }
  if (common.format == Format::kCsv) {
    throw InputError("--format", "a workload prints JSON lines; csv is for --list");
  }
  if (common.device != "auto" && common.device != "cuda") {
    throw InputError("--device", "found '" + printable(common.device) +
                                     "', but workloads run on a GPU alone; leave it out");
  }
}

/// The request: a job; with `seconds`, the number of steps of that length; with `port`, a service.
struct Request {
  WorkloadRun run;
  std::optional<double> seconds;
  std::optional<int> port;               ///< a service
  std::optional<std::int64_t> requests;  ///< of the service; nullopt: without end
  Gemm gemm = Gemm::kAuto;
};

Request request_of(const po::variables_map& values) {
  Request request;
  WorkloadRun& run = request.run;
  run.recipe = find_recipe(values["NAME"].as<std::string>());
  Dials dials;
  dials.intensity = *number_option(values, "intensity", kIntensityMin, kIntensityMax);
  dials.memory_mib = number_option(values, "memory-mib", kMemoryMinMib, kMemoryMaxMib);
  run.recipe = with_dials(run.recipe, dials);
  run.intensity = dials.intensity;
  run.seed = static_cast<std::uint64_t>(
      whole_option(values, "seed", 0, std::numeric_limits<std::int64_t>::max()));
  run.steps =
      values.count("steps") != 0 ? whole_option(values, "steps", 1, kStepsMax) : run.recipe.steps;
  request.seconds = number_option(values, "seconds", 0.1, kSecondsMax);
  if (request.seconds && values.count("steps") != 0) {
    throw InputError("--seconds", "finds the number of steps, and --steps gives it; leave one out");
  }
  if (values.count("serve") != 0) {
    for (const char* other : {"seconds", "report-every"}) {
      if (values.count(other) != 0) {
        throw InputError("--serve",
                         fmt::format("is a service, and --{} is of a job; leave one out", other));
      }
    }
    request.port = static_cast<int>(whole_option(values, "serve", 1, 65535));
    if (values.count("steps") != 0) request.requests = run.steps;
  }
  run.report_every = values.count("report-every") != 0
                         ? whole_option(values, "report-every", 1, kStepsMax)
                         : std::max<std::int64_t>(1, run.steps / 10);
  request.gemm = gemm_option(values);
  return request;
}

}  // namespace

int workload_command(const std::vector<std::string>& arguments) {
  return workload_command_on(arguments, open_gpu);
}

int workload_command_on(const std::vector<std::string>& arguments, const OpenDevice& open) {
  CommonOptions common;
  const auto parsed = parse_command_line(workload_command_line(), arguments, common);
  if (!parsed) return kDone;
  if (parsed->count("list") != 0) {
    take_format_of_output(*parsed, common);
    emit(common, common.format == Format::kJson  ? json_text(workload_list_json())
                 : common.format == Format::kCsv ? workload_list_csv()
                                                 : workload_list_table());
    return kDone;
  }
  check_options(*parsed, common);
  const Request request = request_of(*parsed);
  const WorkloadRun& run = request.run;

  std::ofstream file;
  if (common.output) {
    const std::string path = checked_output_path(*common.output, "--output");
    check_name(path, "--output", {"jsonl", "json"});
    check_unrepeatable(path, "--output", common.existing);
    file.open(path, std::ios::trunc);
    if (!file) throw InputError("--output", "'" + printable(path) + "' cannot be written");
  }
  std::ostream& out = common.output ? file : std::cout;
  // Flushed line by line, so that a stopped job has printed its progress.
  const WriteLine write = [&](const std::string& line) { out << line << '\n' << std::flush; };

  end_on_signals();
  try {
    const auto device = open(run.recipe, run.seed, request.gemm);
    const HostClock clock = real_clock();
    if (request.port) {
      serve_steps(run, *request.port, request.requests, *device, clock, write);
    } else if (request.seconds) {
      const Calibration found = calibrate(run.recipe, *device, clock, *request.seconds);
      write(calibrated_line(run.recipe, *device, *request.seconds, found));
    } else {
      write(start_line(run, *device));
      run_steps(run, *device, clock, write);
    }
  } catch (const DeviceOutOfMemory& e) {
    std::cerr << e.what() << "\n";
    return kCheckFailed;
  }
  if (!out) throw InputError("--output", "the lines could not be written; is the disk full?");
  return kDone;
}

}  // namespace corun::live
