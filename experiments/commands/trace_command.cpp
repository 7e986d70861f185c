#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <iostream>
#include <set>
#include <sstream>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "experiments/base/atomic_file.hpp"
#include "experiments/base/json.hpp"
#include "experiments/commands/cli.hpp"
#include "experiments/config/gpu_types.hpp"
#include "sim/base/text.hpp"
#include "sim/error.hpp"
#include "traces/catalog.hpp"
#include "traces/csv_reader.hpp"
#include "traces/input_file.hpp"
#include "traces/job_csv.hpp"
#include "traces/openb.hpp"
#include "traces/standard_workload.hpp"
#include "traces/synthetic_trace.hpp"
#include "traces/trace_statistics.hpp"

namespace corun {

namespace {

namespace po = boost::program_options;
/// A trace and what it was read as.
struct ReadTrace {
  Trace trace;
  std::string format;
  std::string path;
  std::string rates;  ///< the file that made steps time; empty: none
};

/// The formats that read a file of jobs, "csv, helios, ...".
std::vector<std::string_view> format_names() {
  std::vector<std::string_view> names;
  for (const TraceEntry& entry : trace_catalog()) {
    if (entry.reads_file && !entry.generates) names.push_back(entry.name);
  }
  return names;
}

/// The rates that make the steps of a trace time, of --rates. Nothing for a format that has times; its
/// path goes to `read`.
std::optional<GavelThroughputs> read_rates(const TraceEntry& format,
                                           const po::variables_map& values,
                                           const CommonOptions& common, WorkloadKeys& keys,
                                           ReadTrace& read) {
  const bool given = values.count("rates") != 0;
  if (!format.reads_rates) {
    if (given || !values["gpu-type"].defaulted()) {
      throw InputError(given ? "--rates" : "--gpu-type", "is for traces that count steps, and '" +
                                                             std::string(format.name) +
                                                             "' has times; leave it out");
    }
    return std::nullopt;
  }
  if (!given) {
    throw InputError(shown_path(read.path),
                     "a trace of format '" + std::string(format.name) +
                         "' counts steps, expected the rates that make them time; give them: "
                         "--rates simulation_throughputs.json");
  }
  const std::string type = values["gpu-type"].as<std::string>();
  const std::string_view gpu = gpu_of_gavel(gpu_type_of_table(type));
  if (gpu.empty()) {
    throw InputError("--gpu-type", "found '" + printable(type) +
                                       "', but Gavel has rates for V100-16GB, P100-16GB and K80; "
                                       "take one of them");
  }
  read.rates = find_input_file(values["rates"].as<std::string>(), common, "--rates");
  return read_gavel_throughputs(read.rates, gpu, keys);
}

ReadTrace read_trace(const std::string& given, const po::variables_map& values,
                     const CommonOptions& common, const std::string& flag, WorkloadKeys& keys) {
  const std::string path = find_input_file(given, common, flag);
  const TraceEntry* entry = nullptr;
  if (values.count("format-name") != 0) {
    const std::string name = values["format-name"].as<std::string>();
    const auto known = format_names();
    if (std::ranges::find(known, name) == known.end()) {
      throw InputError("--format-name",
                       "no format '" + printable(name) + "': " + did_you_mean(name, known));
    }
    entry = find_trace(name);
  } else {
    entry = &recognise_trace(path);
  }
  ReadTrace read{{}, std::string(entry->name), path, ""};
  const std::optional<GavelThroughputs> rates = read_rates(*entry, values, common, keys, read);
  TraceRequest request;
  request.path = path;
  request.rates = rates ? &*rates : nullptr;
  read.trace = entry->make(request, keys);
  if (!common.quiet) {
    for (const std::string& skipped : read.trace.skipped) {
      std::cerr << "note: left out " << skipped << "\n";
    }
  }
  return read;
}

void add_format_name(CommandLine& command) {
  command.own.add_options()("format-name", po::value<std::string>(),
                            "format of the trace, one of `corun list traces`; else it is known by "
                            "how the file begins")(
      "rates", po::value<std::string>(),
      "of traces that count steps (Gavel's): the file of the rates that make them time, "
      "simulation_throughputs.json")("gpu-type",
                                     po::value<std::string>()->default_value("V100-16GB"),
                                     "whose rates are taken: V100-16GB, P100-16GB or K80");
}

double number_option(const po::variables_map& values, const std::string& key, double min,
                     double max, const std::string& what) {
  const std::string text = values[key].as<std::string>();
  const auto number = parse_number(text);
  if (!number || *number < min || *number > max) {
    throw InputError("--" + key, fmt::format("found '{}', expected {} from {} to {}",
                                             printable(text), what, min, max));
  }
  return *number;
}

// ---- the figures of a trace, in three forms -----------------------------------------------------

/// GPUs of the cluster that the flags name; nothing if they name none.
std::optional<double> cluster_gpus(const po::variables_map& values, const CommonOptions& common) {
  if (values.count("node-list") != 0) {
    if (values.count("gpus") != 0) {
      throw InputError("--gpus", "the cluster is that of --node-list; give one of the two");
    }
    const std::string path =
        find_input_file(values["node-list"].as<std::string>(), common, "--node-list");
    double gpus = 0;
    for (const ListedNode& node : read_openb_nodes(path).nodes) gpus += node.gpus;
    return gpus;
  }
  if (values.count("gpus") == 0) return std::nullopt;
  return static_cast<double>(whole_option(values, "gpus", 1, 1'000'000));
}

struct Report {
  std::string file;
  std::string format;
  const Trace* trace = nullptr;
  std::optional<double> gpus;  ///< of the cluster to compare with
};

constexpr std::array<std::string_view, std::size(kWorkQuantiles)> kQuantileNames{
    "min", "p5", "p25", "median", "p75", "p95", "p99", "max"};

Json json_of(const Report& report, const TraceStatistics& s) {
  const auto or_null = [](const std::optional<double>& value) {
    return value ? Json(*value) : Json(nullptr);
  };
  Json json{{"file", report.file},
            {"format", report.format},
            {"jobs", s.jobs},
            {"skipped", report.trace->skipped},
            {"gpus_asked", s.gpus},
            {"jobs_on_a_share", s.sharing},
            {"jobs_with_profile", s.with_profile},
            {"jobs_with_known_memory", s.with_memory},
            {"jobs_with_gpu_models", s.with_model},
            {"gpu_models", report.trace->gpu_models},
            {"gpu_hours", s.gpu_s / 3600},
            {"first_submit_s", s.first_submit_s},
            {"last_submit_s", s.last_submit_s},
            {"arrivals_per_hour", or_null(s.arrivals_per_hour)},
            {"arrival_variation", or_null(s.arrival_variation)}};
  json["solo_s"] = {{"mean", s.mean_work_s}};
  for (std::size_t i = 0; i < s.work_quantiles_s.size(); ++i) {
    json["solo_s"][std::string(kQuantileNames[i])] = s.work_quantiles_s[i];
  }
  json["gangs"] = Json::array();
  for (const GangStatistics& g : s.gangs) {
    json["gangs"].push_back({{"gpus", g.gpus}, {"jobs", g.jobs}, {"gpu_hours", g.gpu_s / 3600}});
  }
  json["virtual_clusters"] = Json::array();
  for (const VirtualClusterStatistics& v : s.virtual_clusters) {
    json["virtual_clusters"].push_back(
        {{"name", v.name}, {"jobs", v.jobs}, {"gpu_hours", v.gpu_s / 3600}});
  }
  json["cluster_gpus"] = or_null(report.gpus);
  json["offered_load"] = report.gpus ? or_null(offered_load(s, *report.gpus)) : Json(nullptr);
  return json;
}

/// One row per figure: what a spreadsheet or a script takes.
std::string csv_of(const Json& json) {
  std::string text = "figure,value\n";
  const auto value_of = [](const Json& value) {
    return value.is_null() ? "" : value.is_string() ? value.get<std::string>() : value.dump();
  };
  const auto row = [&](const std::string& figure, const Json& value) {
    text.append(csv_text(figure)).append(",").append(csv_text(value_of(value))).append("\n");
  };
  for (const auto& [key, value] : json.items()) {
    if (value.is_object()) {
      for (const auto& [inner, figure] : value.items())
        row(fmt::format("{}.{}", key, inner), figure);
    } else if (value.is_array()) {
      for (const Json& item : value) {
        if (!item.is_object()) {
          row(key, item);
          continue;
        }
        const std::string name = key + "[" + value_of(item.begin().value()) + "]";
        for (auto field = std::next(item.begin()); field != item.end(); ++field) {
          row(name + "." + field.key(), field.value());
        }
      }
    } else {
      row(key, value);
    }
  }
  return text;
}

std::string percent(double part, double whole) {
  return whole > 0 ? fmt::format("{:.1f} %", 100 * part / whole) : "-";
}

std::string table_of(const Report& report, const TraceStatistics& s) {
  std::string out;
  const auto line = [&](std::string_view what, const std::string& value) {
    out += fmt::format("{:<22}{}\n", what, value);
  };
  line("trace", printable(report.file, 300) + " (" + report.format + ")");
  line("jobs", std::to_string(s.jobs));
  for (const std::string& skipped : report.trace->skipped) line("left out", skipped);
  line("GPUs asked for", fmt::format("{:.6g} in all, {:.4g} per job; {} jobs ask for a part of one",
                                     s.gpus, s.gpus / static_cast<double>(s.jobs), s.sharing));
  line("work", fmt::format("{:.6g} GPU-hours", s.gpu_s / 3600));
  if (s.arrivals_per_hour) {
    line("submitted",
         fmt::format("over {:.4g} hours, {:.4g} per hour; gaps vary by {:.3g} (Poisson: 1)",
                     (s.last_submit_s - s.first_submit_s) / 3600, *s.arrivals_per_hour,
                     *s.arrival_variation));
  } else {
    line("submitted", fmt::format("all at {:.6g} s", s.first_submit_s));
  }
  if (report.gpus) {
    const auto load = offered_load(s, *report.gpus);
    line("offered load",
         load ? fmt::format("{:.3g} of {} GPUs{}", *load, *report.gpus,
                            *load > 1 ? ": more than they can do without sharing" : "")
              : "none: all are submitted at once");
    if (s.gangs.back().gpus > *report.gpus) {
      line("does not fit", fmt::format("a job asks for {} GPUs at once, the cluster has {}",
                                       s.gangs.back().gpus, *report.gpus));
    }
  }
  line("profiles",
       fmt::format("{} jobs have one, {} a known demand of memory", s.with_profile, s.with_memory));
  if (s.with_model > 0) {
    line("GPU models", fmt::format("{} jobs name some of {}", s.with_model,
                                   fmt::join(report.trace->gpu_models, ", ")));
  }
  out += "\nrun time alone [s]\n";
  for (std::size_t i = 0; i < s.work_quantiles_s.size(); ++i) {
    out += fmt::format("  {:<8}{:>14.6g}\n", kQuantileNames[i], s.work_quantiles_s[i]);
  }
  out += fmt::format("  {:<8}{:>14.6g}\n", "mean", s.mean_work_s);
  out += fmt::format("\n{:>8}  {:>10}  {:>9}  {:>13}  {:>9}\n", "gang", "jobs", "of jobs",
                     "GPU-hours", "of work");
  const auto jobs = static_cast<double>(s.jobs);
  for (const GangStatistics& g : s.gangs) {
    out += fmt::format("{:>8}  {:>10}  {:>9}  {:>13.6g}  {:>9}\n", g.gpus, g.jobs,
                       percent(static_cast<double>(g.jobs), jobs), g.gpu_s / 3600,
                       percent(g.gpu_s, s.gpu_s));
  }
  if (s.virtual_clusters.empty()) return out;
  out += fmt::format("\n{:<24}  {:>10}  {:>9}  {:>13}  {:>9}\n", "virtual cluster", "jobs",
                     "of jobs", "GPU-hours", "of work");
  for (const VirtualClusterStatistics& v : s.virtual_clusters) {
    out += fmt::format("{:<24}  {:>10}  {:>9}  {:>13.6g}  {:>9}\n",
                       v.name.empty() ? "(none)" : printable(v.name), v.jobs,
                       percent(static_cast<double>(v.jobs), jobs), v.gpu_s / 3600,
                       percent(v.gpu_s, s.gpu_s));
  }
  return out;
}

std::string shown(const Report& report, Format format) {
  const TraceStatistics statistics = trace_statistics(*report.trace);
  if (format == Format::kTable) return table_of(report, statistics);
  const Json json = json_of(report, statistics);
  return format == Format::kJson ? json.dump(2) + "\n" : csv_of(json);
}

// ---- writing traces -----------------------------------------------------------------------------

enum class Written : std::uint8_t { kJobCsv, kStandardWorkload };

void add_to(CommandLine& command) {
  command.own.add_options()("to", po::value<std::string>(),
                            "format of OUT: csv (corun's own) or swf; else by its ending, .swf or "
                            "anything else");
}

Written written_format(const po::variables_map& values, const std::string& out) {
  const std::string ending = std::filesystem::path(out).extension().string();
  if (ending == ".gz" || ending == ".zst") {
    throw InputError("OUT", "'" + printable(out) + "' names an archive, expected a name without " +
                                ending + "; compress the file afterwards");
  }
  if (values.count("to") == 0) {
    return ending == ".swf" ? Written::kStandardWorkload : Written::kJobCsv;
  }
  const std::string to = values["to"].as<std::string>();
  if (to == "csv") return Written::kJobCsv;
  if (to == "swf") return Written::kStandardWorkload;
  throw InputError("--to", "found '" + printable(to) + "', expected csv or swf");
}

void write_trace(const std::string& path, Written format, const Trace& trace,
                 const WorkloadKeys& keys, bool quiet) {
  std::ostringstream text;
  if (format == Written::kJobCsv) {
    write_job_csv(text, trace, keys);
  } else {
    write_standard_workload(text, trace);
    if (!quiet) {
      std::cerr << "note: swf keeps whole seconds, GPUs and virtual clusters: names, profiles, "
                   "shares and models of GPUs are not in "
                << printable(path) << "\n";
    }
  }
  write_file_atomically(path, text.view());
}

std::string required_argument(const po::variables_map& values, const std::string& key,
                              const std::string& command) {
  if (values.count(key) == 0) {
    throw InputError(command, "needs " + key + "; see " + command + " --help");
  }
  return values[key].as<std::string>();
}

/// What a trace was read from.
std::vector<NamedFile> files_of(const ReadTrace& read, const std::string& place) {
  std::vector<NamedFile> files{{place, read.path}};
  for (const std::string& file : read.trace.files_beside) files.push_back({place, file});
  if (!read.rates.empty()) files.push_back({"--rates", read.rates});
  return files;
}

// ---- the words ----------------------------------------------------------------------------------

int info(const std::vector<std::string>& arguments) {
  CommandLine command;
  command.name = "trace info";
  command.usage = "corun trace info FILE [options]";
  command.summary =
      "What one looks at first in a trace of jobs: how many, what they ask for, how they arrive, "
      "how\nlong they run, and what load that is for a cluster. FILE may be compressed (.gz, "
      ".zst).";
  command.examples =
      "  corun trace info examples/jobs.csv\n"
      "  corun trace info examples/jobs.csv --gpus 4\n"
      "  corun trace info examples/jobs.csv --format-name csv --format json\n"
      "  corun trace info examples/gavel.csv --rates examples/gavel_rates.json --gpus 4\n";
  command.positional = "FILE";
  command.configured = false;
  add_format_name(command);
  command.own.add_options()("gpus", po::value<std::string>(),
                            "GPUs of a cluster to compare the work with")(
      "node-list", po::value<std::string>(), "the same from a node list (openb_node_list_*.csv)");
  CommonOptions common;
  const auto values = parse_command_line(command, arguments, common);
  if (!values) return kDone;
  const std::string file = required_argument(*values, "FILE", "corun trace info");
  const auto gpus = cluster_gpus(*values, common);
  WorkloadKeys keys;
  const ReadTrace read = read_trace(file, *values, common, "FILE", keys);
  std::vector<NamedFile> inputs = files_of(read, "FILE");
  if (values->count("node-list") != 0) {
    inputs.push_back({"--node-list", (*values)["node-list"].as<std::string>()});
  }
  if (common.output) check_outputs_differ({{"--output", *common.output}}, inputs);
  emit(common, shown({read.path, read.format, &read.trace, gpus}, common.format));
  return kDone;
}

int convert(const std::vector<std::string>& arguments) {
  CommandLine command;
  command.name = "trace convert";
  command.usage = "corun trace convert IN OUT [options]";
  command.summary =
      "Writes a trace of jobs, in any format that corun reads, as corun's own CSV or in Standard "
      "Workload\nFormat, and prints its figures. What is left out is counted.";
  command.examples =
      "  corun trace convert examples/jobs.csv jobs.swf\n"
      "  corun trace convert examples/gavel.csv jobs.csv --rates examples/gavel_rates.json\n";
  command.positional = "IN";
  command.second_positional = "OUT";
  command.configured = false;
  add_format_name(command);
  add_to(command);
  CommonOptions common;
  const auto values = parse_command_line(command, arguments, common);
  if (!values) return kDone;
  const std::string in = required_argument(*values, "IN", "corun trace convert");
  const std::string out = required_argument(*values, "OUT", "corun trace convert");
  const Written format = written_format(*values, out);
  const std::string path = checked_output_path(out, "OUT");
  std::vector<NamedFile> outputs{{"OUT", path}};
  if (common.output) outputs.push_back({"--output", *common.output});
  check_outputs_differ(outputs, {{"IN", find_input_file(in, common, "IN")}});
  WorkloadKeys keys;
  const ReadTrace read = read_trace(in, *values, common, "IN", keys);
  check_outputs_differ(outputs, files_of(read, "IN"));
  write_trace(path, format, read.trace, keys, common.quiet);
  emit(common, shown({read.path, read.format, &read.trace, {}}, common.format));
  return kDone;
}

int generate(const std::vector<std::string>& arguments) {
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
  add_format_name(command);
  add_to(command);
  CommonOptions common;
  const auto values = parse_command_line(command, arguments, common);
  if (!values) return kDone;
  const std::string out = required_argument(*values, "OUT", "corun trace generate");
  const Written format = written_format(*values, out);
  const std::string path = checked_output_path(out, "OUT");

  SyntheticOptions options;
  options.jobs = static_cast<std::uint32_t>(whole_option(*values, "jobs", 1, 100'000'000));
  options.seed = static_cast<std::uint64_t>(
      whole_option(*values, "seed", 0, std::numeric_limits<std::int64_t>::max()));
  const std::string pattern = (*values)["arrivals"].as<std::string>();
  constexpr std::array<std::string_view, 3> kPatterns{"poisson", "bursty", "diurnal"};
  const auto at = std::ranges::find(kPatterns, pattern);
  if (at == kPatterns.end()) {
    throw InputError("--arrivals", "no pattern '" + printable(pattern) +
                                       "': " + did_you_mean(pattern, kPatterns));
  }
  options.pattern = static_cast<ArrivalPattern>(at - kPatterns.begin());
  options.variation = number_option(*values, "variation", 0.01, 100, "a ratio");
  options.amplitude = number_option(*values, "amplitude", 0, 1, "a share");
  options.load = number_option(*values, "load", 1e-6, 1e6, "a ratio");
  options.gpus = static_cast<double>(whole_option(*values, "gpus", 1, 1'000'000));
  if (values->count("per-hour") != 0) {
    for (const char* other : {"load", "gpus"}) {
      if ((*values)[other].defaulted()) continue;
      throw InputError("--per-hour", std::string("--") + other +
                                         " was given as well; the rate follows from one of them");
    }
    options.rate = number_option(*values, "per-hour", 1e-6, 1e9, "a number of jobs") / 3600;
  }
  std::vector<NamedFile> outputs{{"OUT", path}};
  if (common.output) outputs.push_back({"--output", *common.output});
  check_outputs_differ(outputs, {});
  WorkloadKeys keys;
  std::optional<ReadTrace> like;
  if (values->count("like") != 0) {
    const std::string given = (*values)["like"].as<std::string>();
    check_outputs_differ(outputs, {{"--like", find_input_file(given, common, "--like")}});
    like = read_trace(given, *values, common, "--like", keys);
    check_outputs_differ(outputs, files_of(*like, "--like"));
    options.like = &like->trace;
  } else if (values->count("format-name") != 0) {
    throw InputError("--format-name", "is the format of --like FILE, which was not given");
  } else if (values->count("rates") != 0 || !(*values)["gpu-type"].defaulted()) {
    throw InputError(values->count("rates") != 0 ? "--rates" : "--gpu-type",
                     "is for the steps of --like FILE, which was not given");
  }
  Trace trace;
  try {
    trace = synthetic_trace(options);
  } catch (const InputError& e) {
    throw InputError("--jobs", e.what());
  }
  write_trace(path, format, trace, keys, common.quiet);
  const std::optional<double> gpus =
      options.rate ? std::nullopt : std::optional<double>(options.gpus);
  emit(common, shown({path, "synthetic", &trace, gpus}, common.format));
  return kDone;
}

struct Word {
  std::string_view name;
  std::string_view summary;
  int (*run)(const std::vector<std::string>&);
};

constexpr std::array<Word, 3> kWords{{
    {"info", "jobs, GPUs, arrivals, run times, gangs, load against a cluster", info},
    {"convert", "any format that corun reads to corun's own CSV or to SWF", convert},
    {"generate", "a synthetic trace: poisson, bursty or diurnal, like a real one or not", generate},
}};

}  // namespace

int trace_command(const std::vector<std::string>& arguments) {
  const std::string word = arguments.empty() ? "" : arguments.front();
  for (const Word& w : kWords) {
    if (w.name == word) return w.run({arguments.begin() + 1, arguments.end()});
  }
  if (word == "--help" || word == "-h") {
    std::cout << "usage: corun trace WORD [options]\n\nTraces of jobs.\n\n";
    for (const Word& w : kWords) std::cout << fmt::format("  {:<10}{}\n", w.name, w.summary);
    std::cout << "\n`corun trace WORD --help` teaches each of them; `corun list traces` has the "
                 "formats.\n\nExamples:\n  corun trace info examples/jobs.csv\n";
    return kDone;
  }
  std::vector<std::string_view> known;
  for (const Word& w : kWords) known.push_back(w.name);
  throw InputError("corun trace",
                   word.empty()
                       ? "do what? There is: " + fmt::format("{}", fmt::join(known, ", "))
                       : "no word '" + printable(word) + "': " + did_you_mean(word, known));
}

}  // namespace corun
