#include <algorithm>
#include <cmath>
#include <iostream>
#include <sstream>

#include <sys/resource.h>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "experiments/base/atomic_file.hpp"
#include "experiments/base/json.hpp"
#include "experiments/commands/live_command.hpp"
#include "experiments/live/gpu/gpu_box.hpp"
#include "experiments/live/run/job_run.hpp"
#include "experiments/live/run/live_config.hpp"
#include "sim/base/text.hpp"
#include "sim/error.hpp"
#include "traces/csv_reader.hpp"

/// `corun live profile`: the job profiler on one command.
namespace corun::live {

namespace {

namespace po = boost::program_options;
double seconds_option(const po::variables_map& values, const std::string& key, double min) {
  const std::string text = values[key].as<std::string>();
  const auto number = parse_number(text);
  if (!number || *number < min || *number > 1e9) {
    throw InputError("--" + key, fmt::format("found '{}', expected a number of seconds from {} to "
                                             "1000000000",
                                             printable(text), min));
  }
  return *number;
}

double own_cpu_s() {
  rusage used{};
  getrusage(RUSAGE_SELF, &used);
  return static_cast<double>(used.ru_utime.tv_sec + used.ru_stime.tv_sec) +
         static_cast<double>(used.ru_utime.tv_usec + used.ru_stime.tv_usec) * 1e-6;
}

std::string field(double value) { return std::isfinite(value) ? csv_number(value) : ""; }
std::string field(const std::optional<double>& value) { return value ? csv_number(*value) : ""; }

std::string attribute_csv(const std::vector<std::string>& origin,
                          const std::vector<double>& attributes) {
  std::string text;
  for (std::size_t a = 0; a < kProfileAttributes.size(); ++a) {
    text += (a == 0 ? "" : ",") + csv_text(kProfileAttributes[a]);
  }
  text += "\n";
  for (std::size_t a = 0; a < origin.size(); ++a) text += (a == 0 ? "" : ",") + csv_text(origin[a]);
  for (const double value : attributes) text += "," + field(value);
  return text + "\n";
}

}  // namespace

int profile_command(const std::vector<std::string>& arguments) {
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
  // What stands behind `--` is the command, whatever it looks like.
  const auto dashes = std::find(arguments.begin(), arguments.end(), "--");
  CommonOptions common;
  const auto parsed = parse_command_line(command, {arguments.begin(), dashes}, common);
  if (!parsed) return kDone;
  if (dashes == arguments.end() || dashes + 1 == arguments.end()) {
    throw InputError("corun live profile",
                     "no command; put it behind `--`: corun live profile -- python3 train.py");
  }
  const auto& values = *parsed;
  const auto text = [&](const char* key) { return values[key].as<std::string>(); };
  for (const char* key : {"epochs", "batch-size"}) {
    const auto number = parse_number(text(key));
    if (!number || *number <= 0) {
      throw InputError(std::string("--") + key,
                       "found '" + printable(text(key)) + "', expected a number above 0");
    }
  }
  JobCommand job;
  job.place = "corun live profile";
  job.argv.assign(dashes + 1, arguments.end());
  job.name = job.argv[0].substr(job.argv[0].rfind('/') + 1);
  if (job.argv[0] == "corun") job.argv[0] = own_program();
  job.environment = basic_environment();
  job.directory = text("directory");
  job.argv[0] = find_program(job.argv[0], job.environment, job.directory, job.place);
  const Duration interval = from_seconds(seconds_option(values, "interval", 0.01));
  if (values.count("for") != 0) job.limits.timeout = from_seconds(seconds_option(values, "for", 0));
  const std::string model = values.count("model") != 0 ? text("model") : job.name;
  if (model.empty()) throw InputError("--model", "is empty, expected a name");
  std::vector<std::string> origin{
      "1", model, text("dataset"), text("epochs"), text("batch-size"), text("run-env")};
  for (const std::string& word : origin) {
    if (find_bad_text(word, false) < word.size() || word.find('\t') != std::string::npos) {
      throw InputError("corun live profile", "'" + printable(word) + "' is no text on one line");
    }
  }
  std::vector<NamedFile> outputs;
  for (const char* key : {"profile", "samples"}) {
    if (values.count(key) == 0) continue;
    outputs.push_back({std::string("--") + key, text(key)});
    checked_output_path(text(key), outputs.back().flag);
  }
  if (common.output) outputs.push_back({"--output", *common.output});
  if (values.count("job-output") != 0) {
    for (const char* stream : {".out", ".err"}) {
      outputs.push_back({"--job-output", text("job-output") + stream});
    }
  }
  check_outputs_differ(outputs, {});

  const std::atomic<bool>& stop = interrupted();
  const Nvml nvml = open_nvml(values, outputs);
  std::vector<std::int64_t> asked;
  if (values.count("gpu") != 0) asked.push_back(whole_option(values, "gpu", 0, 1000));
  const GpuRules rules{false, false, values.count("allow-others") != 0};
  const std::size_t gpu = choose_gpus(nvml, asked, rules, "--gpu").front();

  Session session;
  Sharing sharing(session, nvml, std::span(&gpu, 1), false);
  const std::string output = values.count("job-output") != 0
                                 ? text("job-output")
                                 : session.make_directory("output") + "/job";
  wait_until_idle(nvml, gpu, stop);
  std::vector<std::unique_ptr<JobRun>> runs;
  runs.push_back(std::make_unique<JobRun>(session, nvml, gpu, job, output, sharing.environment()));
  std::string samples =
      "time_s,gpu_util_pct,mem_time_pct,memory_used_mib,job_memory_mib,temperature_c,power_w,"
      "sm_clock_mhz,cpu_pct,host_memory_pct,resident_mib,threads\n";
  const double cpu_before = own_cpu_s();
  const RunOutcome outcome = run_together(runs, interval, stop, [&](const Sample& s) {
    const Time start = runs[0]->process().start_time();
    samples += csv_number(to_seconds(s.at - start)) + "," + field(s.gpu.util_pct) + "," +
               field(s.gpu.mem_time_pct) + "," + field(s.gpu.memory_used_mib) + "," +
               field(s.job_memory_mib) + "," + field(s.gpu.temperature_c) + "," +
               field(s.gpu.power_w) + "," + field(s.gpu.sm_clock_mhz) + "," + field(s.cpu_pct) +
               "," + field(s.host_memory_pct) + "," + field(s.resident_mib) + "," +
               std::to_string(s.threads) + "\n";
  })[0];
  const double cpu_s = own_cpu_s() - cpu_before + outcome.ending.guard_cpu_s;
  if (stop) return kInterrupted;
  const double length_s = to_seconds(outcome.length());
  if (outcome.end != RunEnd::kFinished && outcome.end != RunEnd::kTimeout) {
    std::cerr << "corun live profile: " << printable(job.name) << ": " << outcome.why << "\n";
    std::istringstream said(tail_of(output + ".err", 2000));
    for (std::string line; std::getline(said, line);)
      std::cerr << "  | " << printable(line) << "\n";
    return kCheckFailed;
  }
  if (outcome.samples < 2 && !common.quiet) {
    std::cerr << "note: it was looked at " << outcome.samples
              << " times; a shorter --interval or a longer run tells more\n";
  }

  const Profile& p = outcome.profile;
  if (values.count("profile") != 0) {
    write_file_atomically(text("profile"),
                          "job,gpu_util_pct,mem_alloc_pct,mem_time_pct,mem_used_mib\n" +
                              csv_text(model + "-" + text("batch-size")) + "," +
                              field(p.gpu_util_pct) + "," + field(p.mem_alloc_pct) + "," +
                              field(p.mem_time_pct) + "," + field(p.mem_used_mib) + "\n");
  }
  if (values.count("samples") != 0) write_file_atomically(text("samples"), samples);
  const double overhead_pct = length_s > 0 ? cpu_s / length_s * 100 : 0;
  std::ostringstream out;
  if (common.format == Format::kCsv) {
    out << attribute_csv(origin, outcome.attributes);
  } else if (common.format == Format::kJson) {
    const auto or_null = [](const std::optional<double>& v) {
      return v ? Json(*v) : Json(nullptr);
    };
    Json attributes = Json::object();
    for (std::size_t a = 0; a < kProfileAttributes.size(); ++a) {
      const std::string name(kProfileAttributes[a]);
      if (a < kOriginColumns) {
        attributes[name] = origin[a];
      } else {
        const double value = outcome.attributes[a - kOriginColumns];
        attributes[name] = std::isfinite(value) ? Json(value) : Json(nullptr);
      }
    }
    Json json{{"gpu", nvml.gpus()[gpu].name},
              {"end", name_of(outcome.end)},
              {"length_s", length_s},
              {"samples", outcome.samples},
              {"profile",
               {{"gpu_util_pct", or_null(p.gpu_util_pct)},
                {"mem_alloc_pct", or_null(p.mem_alloc_pct)},
                {"mem_time_pct", or_null(p.mem_time_pct)},
                {"mem_used_mib", or_null(p.mem_used_mib)}}},
              {"memory_by_process", outcome.attributed},
              {"profiler_cpu_pct", overhead_pct},
              {"attributes", std::move(attributes)}};
    out << json.dump(2, ' ', false, Json::error_handler_t::replace) << "\n";
  } else {
    out << fmt::format("{} on GPU {} ({}): {:.3f} s{}, {} looks\n\n", job.name, gpu,
                       nvml.gpus()[gpu].name, length_s,
                       outcome.end == RunEnd::kTimeout ? ", stopped as asked by --for" : "",
                       outcome.samples);
    out << aligned({{"", "greatest"},
                    {"GPU utilisation %", shown(p.gpu_util_pct, 1)},
                    {"memory allocated %", shown(p.mem_alloc_pct, 1)},
                    {"time accessing memory %", shown(p.mem_time_pct, 1)},
                    {"memory MiB", shown(p.mem_used_mib, 0)},
                    {"temperature deg C", shown(outcome.temperature_c.max, 0)}});
    out << fmt::format("\nThe profiler itself took {:.2f} % of one core.{}\n", overhead_pct,
                       outcome.attributed ? ""
                                          : " Memory is what the GPU held more than before: the "
                                            "driver did not tell it by process.");
  }
  emit(common, out.str());
  return kDone;
}

}  // namespace corun::live
