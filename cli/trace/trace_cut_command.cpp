#include <algorithm>
#include <limits>

#include <fmt/format.h>

#include "cli/note.hpp"
#include "cli/option_values.hpp"
#include "cli/trace/trace_commands.hpp"
#include "cli/trace/trace_options.hpp"
#include "sim/error.hpp"
#include "traces/trace_cut.hpp"

/// `corun trace cut`: a part of a trace, or its jobs at another load.
namespace corun::inline cli {

namespace {

namespace po = boost::program_options;

CommandLine cut_command_line() {
  CommandLine command;
  command.name = "trace cut";
  command.usage = "corun trace cut IN OUT [options]";
  command.summary =
      "Writes a part of a trace of jobs, in any format that corun reads, as corun's own CSV, and\n"
      "prints its figures. In this order: takes the jobs of a time window, then those that need "
      "at\n"
      "most so many GPUs, then a random sample, and then changes the load. The same options and\n"
      "seed give the same bytes. What is left out is counted.";
  command.examples =
      "  corun trace cut examples/jobs.csv hour.csv --from 600 --to 4200\n"
      "  corun trace cut examples/jobs.csv busy.csv --sample 0.5 --scale-load 2 --gpus 1\n";
  command.positional = "IN";
  command.second_positional = "OUT";
  command.configured = false;
  auto add = command.own.add_options();
  add("from", po::value<std::string>()->default_value("0"),
      "jobs submitted at this second of the trace or later; times of OUT count from it");
  add("to", po::value<std::string>(), "jobs submitted before this second of the trace");
  add("gpus", po::value<std::string>(), "jobs that need at most so many GPUs");
  add("sample", po::value<std::string>()->default_value("1"),
      "each job with this probability, above 0 to 1; with one seed a larger share contains a "
      "smaller one");
  add("scale-load", po::value<std::string>()->default_value("1"),
      "divide submission times by this: 2 offers the same jobs in half the time");
  add("seed", po::value<std::string>()->default_value("1"), "seed of --sample");
  add_trace_format(command);
  return command;
}

TraceCutOptions cut_options(const po::variables_map& values) {
  constexpr double kTimeMax = 4e9;
  constexpr double kLeast = 1e-9;
  TraceCutOptions options;
  options.from_s = number_option(values, "from", 0, kTimeMax, "a number of seconds");
  if (values.count("to") != 0) {
    options.to_s = number_option(values, "to", 0, kTimeMax, "a number of seconds");
    if (options.to_s <= options.from_s) {
      throw InputError(
          "--to", fmt::format("found {}, expected a time after --from {}",
                              values["to"].as<std::string>(), values["from"].as<std::string>()));
    }
  }
  if (values.count("gpus") != 0) options.gpus = whole_option(values, "gpus", 1, 1'000'000);
  options.sample = number_option(values, "sample", kLeast, 1, "a probability");
  options.load = number_option(values, "scale-load", 1e-6, 1e6, "a factor");
  options.seed = static_cast<std::uint64_t>(
      whole_option(values, "seed", 0, std::numeric_limits<std::int64_t>::max()));
  return options;
}

/// The part; InputError if no job is left.
TraceCut cut(const ReadTrace& read, const TraceCutOptions& options) {
  TraceCut part = [&] {
    try {
      return cut_trace(read.trace, options);
    } catch (const InputError& e) {
      throw InputError("--scale-load", e.what());
    }
  }();
  if (!part.trace.jobs.empty()) return part;
  throw InputError("corun trace cut",
                   fmt::format("no job is left: {} outside --from and --to, {} with too many GPUs, "
                               "{} not in the sample; take a larger part",
                               part.outside, part.too_large, part.not_sampled));
}

}  // namespace

int trace_cut_command(const std::vector<std::string>& arguments) {
  CommonOptions common;
  const auto values = parse_command_line(cut_command_line(), arguments, common);
  if (!values) return kDone;
  const std::string in = required_argument(*values, "IN", "corun trace cut");
  const std::string out = required_argument(*values, "OUT", "corun trace cut");
  const TraceCutOptions options = cut_options(*values);
  check_name(out, "OUT", {"csv"});
  const std::string path = checked_output_path(out, "OUT");
  std::vector<NamedFile> outputs{{"OUT", path}};
  if (common.output) outputs.push_back({"--output", *common.output});
  check_outputs_differ(outputs, {{"IN", find_input_file(in, common, "IN")}});
  WorkloadKeys keys;
  const ReadTrace read = read_trace(in, *values, common, "IN", keys);
  check_outputs_differ(outputs, files_of(read, "IN"));
  const TraceCut part = cut(read, options);
  if (part.outside + part.too_large + part.not_sampled > 0) {
    note(common, fmt::format("left out {} jobs outside --from and --to, {} with too many GPUs, {} "
                             "not in the sample",
                             part.outside, part.too_large, part.not_sampled));
  }
  const OutputText written = trace_text(path, WrittenFormat::kJobCsv, part.trace, keys, common);
  emit(common, trace_output({path, "csv", &part.trace, {}}, common.format), {written});
  return kDone;
}

}  // namespace corun::inline cli
