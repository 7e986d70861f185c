#include "cli/trace/trace_options.hpp"

#include <algorithm>
#include <filesystem>
#include <optional>
#include <sstream>
#include <string_view>

#include "cli/key_options.hpp"
#include "cli/note.hpp"
#include "runner/experiment/trace_experiment.hpp"
#include "runner/inputs/file_kind.hpp"
#include "sim/base/text.hpp"
#include "sim/error.hpp"
#include "support/json.hpp"
#include "traces/catalog.hpp"
#include "traces/gpu_catalog.hpp"
#include "traces/input_file.hpp"
#include "traces/job_csv.hpp"
#include "traces/public_formats/standard_workload.hpp"

namespace corun::inline cli {

namespace {

namespace po = boost::program_options;

/// Names of the formats of files of jobs: "csv", "helios" ...
std::vector<std::string_view> format_names() {
  std::vector<std::string_view> names;
  for (const TraceEntry& entry : trace_catalog()) {
    if (entry.reads_file && !entry.generates) names.push_back(entry.name);
  }
  return names;
}

/// The rates of --rates that convert steps of a trace to time; empty for a format with times. Sets
/// `read.rates` to their path.
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
                         "' counts steps, expected the rates that convert them to time; give them: "
                         "--rates simulation_throughputs.json");
  }
  const std::string type = values["gpu-type"].as<std::string>();
  const std::string_view gpu = gpu_of_gavel(type);
  if (gpu.empty()) {
    throw InputError("--gpu-type", "found '" + printable(type) +
                                       "', but Gavel has rates for V100-16GB, P100-16GB and K80; "
                                       "take one of them");
  }
  read.rates = find_input_file(values["rates"].as<std::string>(), common, "--rates");
  return read_gavel_throughputs(read.rates, gpu, keys);
}

}  // namespace

void add_trace_format(CommandLine& command) {
  add_log_options(command);
  command.own.add_options()("format-name", po::value<std::string>(),
                            "format of the trace, one of `corun list traces`; else it is known by "
                            "how the file begins")(
      "rates", po::value<std::string>(),
      "of traces that count steps (Gavel's): the file of the rates that convert them to time, "
      "simulation_throughputs.json")("gpu-type",
                                     po::value<std::string>()->default_value("V100-16GB"),
                                     "whose rates are taken: V100-16GB, P100-16GB or K80");
}

ReadTrace read_trace(const std::string& given, const po::variables_map& values,
                     const CommonOptions& common, const std::string& flag, WorkloadKeys& keys) {
  const std::string path = find_input_file(given, common, flag);
  check_kind(path, {FileKind::kJobs, FileKind::kProfiles}, "a job trace");
  const TraceEntry* entry = nullptr;
  if (values.count("format-name") != 0) {
    const std::string name = values["format-name"].as<std::string>();
    const auto known = format_names();
    if (std::ranges::find(known, name) == known.end()) {
      throw InputError("--format-name",
                       "no format '" + printable(name) + "': " + did_you_mean(name, known));
    }
    entry = find_trace(name);
  } else if (values.count("columns") != 0 ||
             (is_job_trace(path) && kind_of_file(path).kind != FileKind::kJobs)) {
    entry = find_trace("csv");
  } else {
    entry = &recognise_trace(path);
  }
  ReadTrace read{{}, std::string(entry->name), path, ""};
  const std::optional<GavelThroughputs> rates = read_rates(*entry, values, common, keys, read);
  TraceRequest request;
  request.path = path;
  request.columns = columns_option(values);
  if (!request.columns.empty() && !entry->takes_columns) {
    throw InputError("--columns",
                     "is for format csv and known logs, found " + std::string(entry->name));
  }
  request.rates = rates ? &*rates : nullptr;
  request.rules.strict = values.count("strict") != 0;
  if (values.count("states") != 0) {
    request.rules.states = parse_chosen_states(values["states"].as<std::string>(), "--states");
  }
  read.trace = entry->make(request, keys);
  for (const LeftOut& left_out : read.trace.left_out) note(common, "left out " + text_of(left_out));
  for (const std::string& assumption : read.trace.assumptions) note(common, assumption);
  return read;
}

std::vector<NamedFile> files_of(const ReadTrace& read, const std::string& place) {
  std::vector<NamedFile> files{{place, read.path}};
  for (const std::string& file : read.trace.files_beside) files.push_back({place, file});
  if (!read.rates.empty()) files.push_back({"--rates", read.rates});
  return files;
}

void add_written_format(CommandLine& command) {
  command.own.add_options()("to", po::value<std::string>(),
                            "format of OUT: csv (corun's own) or swf; else by its ending: .swf, or "
                            ".csv and endings that corun does not know");
}

WrittenFormat written_format(const po::variables_map& values, const std::string& out) {
  const std::string ending = std::filesystem::path(out).extension().string();
  if (ending == ".gz" || ending == ".zst") {
    throw InputError("OUT", "'" + printable(out) + "' names an archive, expected a name without " +
                                ending + "; compress the file afterwards");
  }
  if (values.count("to") == 0) {
    check_name(out, "OUT", {"csv", "swf"});
    return format_of_name(out) == "swf" ? WrittenFormat::kStandardWorkload : WrittenFormat::kJobCsv;
  }
  const std::string to = values["to"].as<std::string>();
  if (to != "csv" && to != "swf") {
    throw InputError("--to", "found '" + printable(to) + "', expected csv or swf");
  }
  check_name(out, "OUT", {to});
  return to == "csv" ? WrittenFormat::kJobCsv : WrittenFormat::kStandardWorkload;
}

OutputText trace_text(const std::string& path, WrittenFormat format, const Trace& trace,
                      const WorkloadKeys& keys, const CommonOptions& common) {
  std::ostringstream text;
  if (format == WrittenFormat::kJobCsv) {
    write_job_csv(text, trace, keys);
  } else {
    write_standard_workload(text, trace);
    note(
        common,
        "swf keeps whole seconds, GPUs and virtual clusters: names, profiles, shares and models of "
        "GPUs are not in " +
            printable(path));
  }
  return {"OUT", path, std::move(text).str()};
}

std::string required_argument(const po::variables_map& values, const std::string& key,
                              const std::string& command) {
  if (values.count(key) == 0) {
    throw InputError(command, "needs " + key + "; see " + command + " --help");
  }
  return values[key].as<std::string>();
}

std::string trace_output(const TraceReport& report, Format format) {
  switch (format) {
    case Format::kJson:
      return json_text(trace_report_json(report));
    case Format::kCsv:
      return trace_report_csv(report);
    case Format::kTable:
      break;
  }
  return trace_report_table(report);
}

}  // namespace corun::inline cli
