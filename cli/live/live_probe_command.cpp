#include "cli/live/live_command.hpp"
#include "cli/live/live_options.hpp"
#include "live/gpu/box_probe_output.hpp"
#include "sim/error.hpp"

/// `corun live probe`: describes the GPUs of this machine.
namespace corun::live {

int probe_command(const std::vector<std::string>& arguments) {
  CommandLine command;
  command.name = "live probe";
  command.usage = "corun live probe [options]";
  command.summary =
      "What is here, and for each GPU whether jobs may run on it alone and share it, or why not.\n"
      "Starts nothing. Exit code 3 where no GPU answers; JSON then has the reason as 'error'.";
  command.examples = "  corun live probe\n  corun live probe --format json\n";
  command.configured = false;
  add_live_options(command, false);
  CommonOptions common;
  const auto parsed = parse_command_line(command, arguments, common);
  if (!parsed) return kDone;

  std::vector<NamedFile> outputs;
  if (common.output) outputs.push_back({"--output", *common.output});
  const BoxProbe box = [&] {
    try {
      return probe_box(open_nvml(*parsed, outputs));
    } catch (const DeviceError& e) {
      if (common.format == Format::kJson) emit(common, json_text(probe_json({}, e.what())));
      throw;
    }
  }();
  emit(common, common.format == Format::kJson  ? json_text(probe_json(box))
               : common.format == Format::kCsv ? probe_csv(box)
                                               : probe_table(box));
  return kDone;
}

}  // namespace corun::live
