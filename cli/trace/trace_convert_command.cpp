#include "cli/trace/trace_commands.hpp"
#include "cli/trace/trace_options.hpp"

/// `corun trace convert`: converts any format that corun reads to corun's CSV or Standard Workload
/// Format.
namespace corun::inline cli {

int trace_convert_command(const std::vector<std::string>& arguments) {
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
  add_trace_format(command);
  add_written_format(command);
  CommonOptions common;
  const auto values = parse_command_line(command, arguments, common);
  if (!values) return kDone;
  const std::string in = required_argument(*values, "IN", "corun trace convert");
  const std::string out = required_argument(*values, "OUT", "corun trace convert");
  const WrittenFormat format = written_format(*values, out);
  const std::string path = checked_output_path(out, "OUT");
  std::vector<NamedFile> outputs{{"OUT", path}};
  if (common.output) outputs.push_back({"--output", *common.output});
  check_outputs_differ(outputs, {{"IN", find_input_file(in, common, "IN")}});
  WorkloadKeys keys;
  const ReadTrace read = read_trace(in, *values, common, "IN", keys);
  check_outputs_differ(outputs, files_of(read, "IN"));
  const OutputText written = trace_text(path, format, read.trace, keys, common);
  emit(common, trace_output({read.path, read.format, &read.trace, {}}, common.format), {written});
  return kDone;
}

}  // namespace corun::inline cli
