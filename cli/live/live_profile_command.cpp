#include <algorithm>
#include <iostream>
#include <sstream>

#include <fmt/format.h>

#include "cli/live/live_command.hpp"
#include "cli/live/live_options.hpp"
#include "live/gpu/gpu_box.hpp"
#include "live/jobs/profile_output.hpp"
#include "live/jobs/profiling.hpp"
#include "sim/base/text.hpp"
#include "sim/error.hpp"

/// `corun live profile`: profiles one command.
namespace corun::live {

namespace {

namespace po = boost::program_options;

CommandLine profile_command_line() {
  CommandLine command;
  command.name = "live profile";
  command.usage = "corun live profile [options] -- PROGRAM [ARGUMENT...]";
  command.summary =
      "Runs a command alone on a GPU and watches it from outside: a black box. Prints its length\n"
      "and profile; --format csv is the row of 66 attributes under the header of the Futurewei\n"
      "mini-ML Workload Dataset (PriRecT Table I). No shell reads the command.";
  command.examples =
      "  corun live profile --gpu 0 --for 60 -- python3 train.py --epochs 1\n"
      "  corun live profile --format csv -o row.csv --model DCGAN --batch-size 256 -- ./train\n";
  command.configured = false;
  add_live_options(command, true);
  const auto text_option = [](const char* fallback) {
    return po::value<std::string>()->default_value(fallback);
  };
  command.own.add_options()("gpu", po::value<std::string>(),
                            "number of the GPU; else the first free")(
      "interval", text_option("0.5"), "seconds between two looks")(
      "for", po::value<std::string>(), "stop it after so many seconds; else it runs to its end")(
      "directory", text_option("."), "working directory of the command")(
      "job-output", po::value<std::string>(), "keep what it prints in PREFIX.out and PREFIX.err")(
      "profile", po::value<std::string>(), "write the three-feature profile to this CSV, too")(
      "samples", po::value<std::string>(), "write every look to this CSV, too")(
      "model", po::value<std::string>(), "what it is, for the row; else the program's name")(
      "dataset", text_option(""), "on what it works")("epochs", text_option("1"), "how long")(
      "batch-size", text_option("1"), "its batch size")("run-env", text_option("live"),
                                                        "where it ran");
  return command;
}

/// The options of one invocation.
class ProfileOptions {
 public:
  explicit ProfileOptions(const po::variables_map& values) : values_(values) {}

  bool has(const char* key) const { return values_.count(key) != 0; }
  std::string text(const char* key) const { return values_[key].as<std::string>(); }

  void check_numbers() const {
    for (const char* key : {"epochs", "batch-size"}) {
      const auto number = parse_number(text(key));
      if (number && *number > 0) continue;
      throw InputError(std::string("--") + key,
                       "found '" + printable(text(key)) + "', expected a number above 0");
    }
  }

  /// `words`: the program and its arguments.
  JobCommand job(std::vector<std::string> words) const {
    JobCommand job;
    job.place = "corun live profile";
    job.argv = std::move(words);
    job.name = job.argv[0].substr(job.argv[0].rfind('/') + 1);
    if (job.argv[0] == "corun") job.argv[0] = own_program();
    job.environment = basic_environment();
    job.directory = text("directory");
    job.argv[0] = find_program(job.argv[0], job.environment, job.directory, job.place);
    return job;
  }

  Duration seconds(const char* key, double min) const {
    const auto number = parse_number(text(key));
    if (!number || *number < min || *number > 1e9) {
      throw InputError(std::string("--") + key,
                       fmt::format("found '{}', expected a number of seconds from {} to 1000000000",
                                   printable(text(key)), min));
    }
    return from_seconds(*number);
  }

  JobOrigin origin(const std::string& program) const {
    const std::string model = has("model") ? text("model") : program;
    if (model.empty()) throw InputError("--model", "is empty, expected a name");
    JobOrigin origin{
        "1", model, text("dataset"), text("epochs"), text("batch-size"), text("run-env")};
    for (const std::string& word : origin) {
      if (find_bad_text(word, false) < word.size() || word.find('\t') != std::string::npos) {
        throw InputError("corun live profile", "'" + printable(word) + "' is no text on one line");
      }
    }
    return origin;
  }

  /// All output files.
  std::vector<NamedFile> outputs(const CommonOptions& common) const {
    std::vector<NamedFile> outputs;
    for (const char* key : {"profile", "samples"}) {
      if (!has(key)) continue;
      outputs.push_back({std::string("--") + key, text(key)});
      check_name(text(key), outputs.back().flag, {"csv"});
      checked_output_path(text(key), outputs.back().flag);
    }
    if (common.output) outputs.push_back({"--output", *common.output});
    if (has("job-output")) {
      for (const char* stream : {".out", ".err"}) {
        outputs.push_back({"--job-output", text("job-output") + stream});
      }
    }
    check_outputs_differ(outputs, {});
    for (const NamedFile& output : outputs) {
      check_unrepeatable(output.path, output.flag, common.existing);
    }
    return outputs;
  }

 private:
  const po::variables_map& values_;
};

void tell_failure(const ProfiledCommand& profiled) {
  std::cerr << "corun live profile: " << printable(profiled.name) << ": " << profiled.outcome.why
            << "\n";
  std::istringstream said(profiled.last_words);
  for (std::string line; std::getline(said, line);) std::cerr << "  | " << printable(line) << "\n";
}

}  // namespace

int profile_command(const std::vector<std::string>& arguments) {
  // All words after `--` are the command.
  const auto dashes = std::find(arguments.begin(), arguments.end(), "--");
  CommonOptions common;
  const auto parsed =
      parse_command_line(profile_command_line(), {arguments.begin(), dashes}, common);
  if (!parsed) return kDone;
  if (dashes == arguments.end() || dashes + 1 == arguments.end()) {
    throw InputError("corun live profile",
                     "no command; put it behind `--`: corun live profile -- python3 train.py");
  }
  const ProfileOptions options(*parsed);
  options.check_numbers();
  ProfilingRequest request;
  request.job = options.job({dashes + 1, arguments.end()});
  request.interval = options.seconds("interval", 0.01);
  if (options.has("for")) request.job.limits.timeout = options.seconds("for", 0);
  if (options.has("job-output")) request.output = options.text("job-output");
  request.keep_samples = options.has("samples");
  const JobOrigin origin = options.origin(request.job.name);
  const std::vector<NamedFile> outputs = options.outputs(common);

  const std::atomic<bool>& stop = interrupted();
  const Nvml nvml = open_nvml(*parsed, outputs);
  std::vector<std::int64_t> asked;
  if (options.has("gpu")) asked.push_back(whole_option(*parsed, "gpu", 0, 1000));
  const GpuRules rules{false, false, options.has("allow-others")};
  request.gpu = choose_gpus(nvml, asked, rules, "--gpu").front();
  const ProfiledCommand profiled = profile_alone(request, nvml, stop);
  if (stop) return kInterrupted;
  if (!profiled.ended_well()) {
    tell_failure(profiled);
    return kCheckFailed;
  }
  if (profiled.outcome.samples < 2 && !common.quiet) {
    std::cerr << "note: it was looked at " << profiled.outcome.samples
              << " times; a shorter --interval or a longer run tells more\n";
  }
  std::vector<OutputText> files;
  if (options.has("profile")) {
    const std::string job = origin[1] + "-" + options.text("batch-size");
    files.push_back(
        {"--profile", options.text("profile"), profile_csv(job, profiled.outcome.profile)});
  }
  if (options.has("samples")) {
    files.push_back({"--samples", options.text("samples"), samples_csv(profiled.samples)});
  }
  emit(common,
       common.format == Format::kCsv    ? attributes_csv(origin, profiled.outcome.attributes)
       : common.format == Format::kJson ? json_text(profiling_json(profiled, origin))
                                        : profiling_table(profiled),
       std::move(files));
  return kDone;
}

}  // namespace corun::live
