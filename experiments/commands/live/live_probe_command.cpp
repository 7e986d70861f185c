#include "experiments/commands/live/live_command.hpp"
#include "experiments/commands/live/live_options.hpp"
#include "experiments/live/gpu/box_probe_output.hpp"

/// `corun live probe`: describes the GPUs of this machine.
namespace corun::live {

int probe_command(const std::vector<std::string>& arguments) {
  CommandLine command;
  command.name = "live probe";
  command.usage = "corun live probe [options]";
  command.summary =
      "What is here, and for each GPU whether jobs may run on it alone and share it, or why not.\n"
      "Starts nothing. Exit code 3 where there is no GPU at all.";
  command.examples = "  corun live probe\n  corun live probe --format json\n";
  command.configured = false;
  add_live_options(command, false);
  CommonOptions common;
  const auto parsed = parse_command_line(command, arguments, common);
  if (!parsed) return kDone;

  std::vector<NamedFile> outputs;
  if (common.output) outputs.push_back({"--output", *common.output});
  const Nvml nvml = open_nvml(*parsed, outputs);
  const BoxProbe box = probe_box(nvml);
  emit(common, common.format == Format::kJson  ? json_text(probe_json(box))
               : common.format == Format::kCsv ? probe_csv(box)
                                               : probe_table(box));
  return kDone;
}

}  // namespace corun::live
