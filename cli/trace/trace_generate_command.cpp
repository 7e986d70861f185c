#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <optional>
#include <string_view>

#include "cli/option_values.hpp"
#include "cli/trace/trace_commands.hpp"
#include "cli/trace/trace_options.hpp"
#include "sim/base/text.hpp"
#include "sim/error.hpp"
#include "traces/generated/synthetic_trace.hpp"

/// `corun trace generate`: a synthetic trace of jobs.
namespace corun::inline cli {

namespace {

namespace po = boost::program_options;

CommandLine generate_command_line() {
  CommandLine command;
  command.name = "trace generate";
  command.usage = "corun trace generate OUT [options]";
  command.summary =
      "A synthetic trace of jobs, the same for the same seed; prints its figures. With --like FILE "
      "jobs ask\nfor what those of FILE ask for, and run as long as those of the same gang size; "
      "without, gangs of 1 to\n16 GPUs run for a lognormal time (median 600 s, sigma 2).";
  command.examples =
      "  corun trace generate jobs.csv --jobs 1000 --gpus 64 --load 0.8\n"
      "  corun trace generate bursts.csv --arrivals bursty --variation 4 --per-hour 120\n"
      "  corun trace generate day.csv --arrivals diurnal --like examples/jobs.csv --gpus 4\n";
  command.positional = "OUT";
  command.configured = false;
  auto add = command.own.add_options();
  add("jobs", po::value<std::string>()->default_value("1000"), "how many");
  add("seed", po::value<std::string>()->default_value("1"), "seed of all draws");
  add("arrivals", po::value<std::string>()->default_value("poisson"), "poisson, bursty or diurnal");
  add("variation", po::value<std::string>()->default_value("4"),
      "bursty: standard deviation over mean of the times between arrivals; 1 is poisson");
  add("amplitude", po::value<std::string>()->default_value("0.8"),
      "diurnal: how far the rate rises above its mean at 15:00, and falls below it at 3:00; 0 to "
      "1");
  add("load", po::value<std::string>()->default_value("0.8"),
      "offered work over what the GPUs can do without sharing");
  add("gpus", po::value<std::string>()->default_value("64"), "GPUs that --load refers to");
  add("per-hour", po::value<std::string>(),
      "mean arrivals per hour, in place of --load and --gpus");
  add("like", po::value<std::string>(), "a trace of jobs to be like");
  add_trace_format(command);
  add_written_format(command);
  return command;
}

ArrivalPattern pattern_option(const po::variables_map& values) {
  const auto pattern = values["arrivals"].as<std::string>();
  constexpr std::array<std::string_view, 3> kPatterns{"poisson", "bursty", "diurnal"};
  const auto at = std::ranges::find(kPatterns, pattern);
  if (at == kPatterns.end()) {
    throw InputError("--arrivals", "no pattern '" + printable(pattern) +
                                       "': " + did_you_mean(pattern, kPatterns));
  }
  return static_cast<ArrivalPattern>(at - kPatterns.begin());
}

SyntheticOptions synthetic_options(const po::variables_map& values) {
  SyntheticOptions options;
  options.jobs = static_cast<std::uint32_t>(whole_option(values, "jobs", 1, 100'000'000));
  options.seed = static_cast<std::uint64_t>(
      whole_option(values, "seed", 0, std::numeric_limits<std::int64_t>::max()));
  options.pattern = pattern_option(values);
  options.variation = number_option(values, "variation", 0.01, 100, "a ratio");
  options.amplitude = number_option(values, "amplitude", 0, 1, "a share");
  options.load = number_option(values, "load", 1e-6, 1e6, "a ratio");
  options.gpus = static_cast<double>(whole_option(values, "gpus", 1, 1'000'000));
  if (values.count("per-hour") == 0) return options;
  for (const char* other : {"load", "gpus"}) {
    if (values[other].defaulted()) continue;
    throw InputError("--per-hour", std::string("--") + other +
                                       " was given as well; the rate follows from one of them");
  }
  options.rate = number_option(values, "per-hour", 1e-6, 1e9, "a number of jobs") / 3600;
  return options;
}

/// The trace of --like, which must be none of the outputs; empty without the option.
std::optional<ReadTrace> read_like(const po::variables_map& values, const CommonOptions& common,
                                   const std::vector<NamedFile>& outputs, WorkloadKeys& keys) {
  if (values.count("like") != 0) {
    const auto given = values["like"].as<std::string>();
    check_outputs_differ(outputs, {{"--like", find_input_file(given, common, "--like")}});
    ReadTrace like = read_trace(given, values, common, "--like", keys);
    check_outputs_differ(outputs, files_of(like, "--like"));
    return like;
  }
  if (values.count("format-name") != 0) {
    throw InputError("--format-name", "is the format of --like FILE, which was not given");
  }
  if (values.count("rates") != 0 || !values["gpu-type"].defaulted()) {
    throw InputError(values.count("rates") != 0 ? "--rates" : "--gpu-type",
                     "is for the steps of --like FILE, which was not given");
  }
  return std::nullopt;
}

Trace generate(const SyntheticOptions& options) {
  try {
    return synthetic_trace(options);
  } catch (const InputError& e) {
    throw InputError("--jobs", e.what());
  }
}

}  // namespace

int trace_generate_command(const std::vector<std::string>& arguments) {
  CommonOptions common;
  const auto values = parse_command_line(generate_command_line(), arguments, common);
  if (!values) return kDone;
  const std::string out = required_argument(*values, "OUT", "corun trace generate");
  const WrittenFormat format = written_format(*values, out);
  const std::string path = checked_output_path(out, "OUT");
  SyntheticOptions options = synthetic_options(*values);
  std::vector<NamedFile> outputs{{"OUT", path}};
  if (common.output) outputs.push_back({"--output", *common.output});
  check_outputs_differ(outputs, {});
  WorkloadKeys keys;
  const std::optional<ReadTrace> like = read_like(*values, common, outputs, keys);
  if (like) options.like = &like->trace;
  const Trace trace = generate(options);
  const OutputText written = trace_text(path, format, trace, keys, common);
  const auto gpus = options.rate ? std::nullopt : std::optional<double>(options.gpus);
  emit(common, trace_output({path, "synthetic", &trace, gpus}, common.format), {written});
  return kDone;
}

}  // namespace corun::inline cli
