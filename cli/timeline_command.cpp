#include <iostream>
#include <memory>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cli/cli.hpp"
#include "cli/note.hpp"
#include "results/timeline/log_events.hpp"
#include "results/timeline/results_events.hpp"
#include "results/timeline/run_trace.hpp"
#include "runner/inputs/file_kind.hpp"
#include "sim/base/text.hpp"
#include "sim/error.hpp"
#include "support/atomic_file.hpp"
#include "support/output_file.hpp"

/// `corun timeline`: writes a run as a Chrome trace, which Perfetto opens.
namespace corun::inline cli {

namespace {

namespace po = boost::program_options;
constexpr const char* kPlace = "corun timeline";

CommandLine timeline_command_line() {
  CommandLine command;
  command.name = "timeline";
  command.usage = "corun timeline RESULTS.h5|EVENTS.csv [options]";
  command.summary =
      "Writes a run as a Chrome trace (JSON), which https://ui.perfetto.dev and chrome://tracing "
      "open.\n"
      "Input: results of corun replay or corun live run, or an event log of corun replay "
      "--timeline.\n\n"
      "  GPUs        a track per GPU; a slice is the stay of a job. Jobs that share a GPU overlap "
      "in\n"
      "              time: each takes the lowest free lane of the GPU, a track of its own\n"
      "  instants    decisions (start, probe, profile, preempt), submissions, failures; on the "
      "GPUs,\n"
      "              out of memory, given up, preempted\n"
      "  counters    jobs waiting and running, GPUs busy and shared; utilisation of all GPUs (%, "
      "from\n"
      "              results: means over at most 256 slices of the run)\n\n"
      "A results file has the events of replication 0, the first 400000 rows of each policy. An "
      "event\n"
      "log has all events of its policy. Without --output the trace goes to stdout.";
  command.examples =
      "  corun replay --replications 1 --output results.h5 && corun timeline results.h5 -o "
      "trace.json\n"
      "  corun timeline results.h5 --policy min-slowdown -o min-slowdown.json\n"
      "  corun replay --replications 1 --policies fcfs --timeline logs && corun timeline "
      "logs/fcfs.csv -o fcfs.json\n";
  command.positional = "RESULTS";
  command.configured = false;
  command.output = OutputUse::kOwn;
  auto add = command.own.add_options();
  add("policy", po::value<std::string>(), "label of the policy (default: the first of the file)");
  add("replication", po::value<std::string>()->default_value("0"),
      "number of the replication; a results file has the events of 0 alone");
  return command;
}

/// Says which run it is. `jobs_if_cut`: the jobs of the run if the file lacks events.
std::unique_ptr<RunEvents> read_results(const std::string& path, const po::variables_map& values,
                                        const CommonOptions& common, std::size_t& jobs_if_cut) {
  RunChoice choice;
  if (values.count("policy") != 0) {
    choice.policy = values["policy"].as<std::string>();
    if (choice.policy.empty()) throw InputError("--policy", "is empty, expected a label");
  }
  choice.replication = whole_option(values, "replication", 0, std::int64_t{1} << 53);
  auto events = std::make_unique<ResultsEvents>(path, choice);
  if (choice.policy.empty() && events->policies().size() > 1) {
    note(common, fmt::format("this is the run of {}; --policy chooses another: {}",
                             events->policy(), fmt::join(events->policies(), ", ")));
  }
  if (events->is_cut()) jobs_if_cut = events->jobs();
  return events;
}

std::unique_ptr<RunEvents> read_log(const std::string& path, const po::variables_map& values) {
  for (const char* key : {"policy", "replication"}) {
    if (values.count(key) == 0 || values[key].defaulted()) continue;
    throw InputError(std::string("--") + key,
                     "chooses in a results file; an event log has one run: leave it out");
  }
  return std::make_unique<LogEvents>(path);
}

}  // namespace

int timeline_command(const std::vector<std::string>& arguments) {
  CommonOptions common;
  const auto parsed = parse_command_line(timeline_command_line(), arguments, common);
  if (!parsed) return kDone;
  const po::variables_map& values = *parsed;
  if (values.count("RESULTS") == 0) {
    throw InputError(kPlace, "needs results of corun replay, such as results.h5; see --help");
  }
  if (!values["format"].defaulted() && common.format != Format::kJson) {
    throw InputError("--format", "a trace is JSON; leave it out");
  }
  const std::string path = find_input_file(values["RESULTS"].as<std::string>(), common, kPlace);
  if (common.output) {
    check_name(*common.output, "--output", {"json"});
    checked_output_path(*common.output, "--output");
    check_outputs_differ({{"--output", *common.output}}, {{kPlace, path}});
  }
  std::size_t jobs = 0;  // of a run of which some events may be missing
  std::unique_ptr<RunEvents> events;
  if (is_event_log(path)) {
    events = read_log(path, values);
  } else {
    constexpr const char* kExpected = "results of corun replay or an event log";
    check_kind(path, {FileKind::kHdf5}, kExpected);
    if (kind_of_file(path).kind != FileKind::kHdf5) {
      throw InputError(printable(path),
                       fmt::format("is neither results of corun replay (HDF5) nor an event log, "
                                   "which begins with '{}'",
                                   kEventLogHeader));
    }
    events = read_results(path, values, common, jobs);
  }
  const RunTrace trace(*events);
  const TraceSummary& summary = trace.summary();
  if (summary.ended < jobs) {
    note(
        common,
        fmt::format("the file has the first 400000 rows of the events alone, up to {:.0f} s: {} of "
                    "{} jobs end in the trace. corun replay --timeline DIR writes all, one log "
                    "per policy, for corun timeline DIR/POLICY.csv",
                    to_seconds(summary.last), summary.ended, jobs));
  }
  if (!common.output) {
    trace.write([](std::string_view bytes) { std::cout << bytes; });
    return kDone;
  }
  write_output({"--output", *common.output, [&](const ByteSink& sink) { trace.write(sink); }},
               common.existing);
  return kDone;
}

}  // namespace corun::inline cli
