#include <algorithm>
#include <array>
#include <csignal>
#include <exception>
#include <filesystem>
#include <iostream>
#include <new>
#include <string>
#include <system_error>
#include <vector>

#include <fcntl.h>
#ifdef __GLIBC__
#include <malloc.h>
#endif

#include "cli/cli.hpp"
#include "models/scoring/device.hpp"
#include "sim/base/text.hpp"
#include "sim/error.hpp"
#include "support/build_info.hpp"
#include "support/printable_stream.hpp"

namespace {

using Arguments = std::vector<std::string>;

struct Command {
  std::string_view name;
  std::string_view summary;
  int (*run)(const Arguments&);
};

constexpr std::array<Command, 16> kCommands{{
    {"replay", "compare scheduling policies on one workload over many seeds (the main job)",
     corun::replay_command},
    {"sweep", "many configurations on all cores or a cluster, and what they answer",
     corun::sweep_command},
    {"report", "results of a replay, live run or sweep as one HTML page", corun::report_command},
    {"timeline", "a run as a Chrome trace: jobs on GPUs over time, for Perfetto",
     corun::timeline_command},
    {"recommend", "which jobs should share a GPU: a queue of profiles in, groups out",
     corun::recommend_command},
    {"kb", "knowledge base: from profiles and measured co-runs to what policies believe",
     corun::kb_command},
    {"model", "interference models: fit, predict, and how far they can be trusted",
     corun::model_command},
    {"predict", "memory, time and utilisation of a model before it has run, by GPU type",
     corun::predict_command},
    {"predictor", "predictors of these: fit, apply, and how far they can be trusted",
     corun::predictor_command},
    {"trace", "traces of jobs: what is in one, conversion, synthetic ones", corun::trace_command},
    {"service", "latency of a service from its load, measured times and replicas",
     corun::service_command},
    {"validate", "how far corun is from published runs on a real cluster, job by job",
     corun::validate_command},
    {"live", "the same policies on a real GPU box: profile, measure, run a queue",
     corun::live_command},
    {"data", "public data sets: which files, whose, are they here; tables derived from them",
     corun::data_command},
    {"list", "what there is: policies, models, traces, knowledge bases, experiments, keys",
     corun::list_command},
    {"explain",
     "what corun models and what not, and what to use instead; a key, a policy, a figure",
     corun::explain_command},
}};

void print_help() {
  std::cout << "corun " << corun::version()
            << ": which jobs should share a GPU, and what does it cost?\n\n"
               "usage: corun COMMAND [options]\n\nCommands:\n";
  for (const Command& c : kCommands) {
    std::cout << "  " << c.name << std::string(12 - c.name.size(), ' ') << c.summary << "\n";
  }
  std::cout << "\n`corun COMMAND --help` describes each. To begin:\n"
               "  corun replay                  the measured JRS queue under nine policies\n"
               "  corun recommend --queue jrs-queue --kb jrs --objective min-slowdown\n"
               "  corun list policies\n";
}

/// Whether this machine has an NVIDIA driver, in Linux or in WSL.
bool has_driver() {
  std::error_code error;
  return std::filesystem::exists("/proc/driver/nvidia", error) ||
         std::filesystem::exists("/dev/dxg", error);
}

/// A GPU is never needed to simulate, so its absence is no fault. The reason why there is none is of
/// use to a machine with a driver only.
void print_version() {
  std::cout << "corun " << corun::version() << " (" << corun::commit() << ")\n";
  const corun::DeviceReport device = corun::probe_devices();
  if (device.cuda_devices > 0) {
    std::cout << "GPU: " << device.reason << "\n";
    return;
  }
  std::cout << "GPU: none is used, and the simulator needs none"
            << (has_driver() ? " (" + device.reason + ")" : "") << "\n";
}

/// Lets no file that corun opens take the number of a standard stream that was closed at its start: what is
/// meant for the stream would be written into that file. Reading and writing the stream still fail; only
/// stderr, on which nothing depends, takes what is written.
void keep_standard_streams() {
  constexpr std::array<int, 3> kModes{O_WRONLY, O_RDONLY, O_WRONLY};
  for (int stream = 0; stream < 3; ++stream) {
    if (::fcntl(stream, F_GETFD) < 0)
      ::open("/dev/null", kModes.at(static_cast<std::size_t>(stream)));
  }
}

/// Makes a file at its size limit (ulimit -f) an error of write() instead of the end of the program. The
/// signal is handled and not ignored, because programs that corun starts would ignore it, too.
void survive_size_limits() {
  struct sigaction action {};
  action.sa_handler = [](int) {};
  action.sa_flags = SA_RESTART;
  ::sigaction(SIGXFSZ, &action, nullptr);
}

/// Keeps memory that is freed for later allocations. A fit allocates matrices of some megabytes hundreds of times; by
/// default each goes back to the system at once, and taking it again costs up to a fifth of the time of a fit of gp.
void keep_freed_memory() {
#ifdef __GLIBC__
  constexpr int kMebibyte = 1 << 20;
  ::mallopt(M_MMAP_THRESHOLD, 32 * kMebibyte);  // the most that it takes
  ::mallopt(M_TRIM_THRESHOLD, 256 * kMebibyte);
#endif
}

int dispatch(Arguments arguments) {
  if (arguments.empty() || arguments[0] == "--help" || arguments[0] == "-h" ||
      arguments[0] == "help") {
    print_help();
    return arguments.empty() ? corun::kBadInput : corun::kDone;
  }
  if (arguments[0] == "--version") {
    print_version();
    return corun::kDone;
  }
  const std::string name = arguments.front();
  arguments.erase(arguments.begin());
  for (const Command& c : kCommands) {
    if (c.name == name) return c.run(arguments);
  }
  std::vector<std::string_view> known;
  for (const Command& c : kCommands) known.push_back(c.name);
  throw corun::InputError(
      "corun", "no command '" + corun::printable(name) + "': " + corun::did_you_mean(name, known));
}

}  // namespace

int main(int argc, char** argv) {
  keep_standard_streams();
  survive_size_limits();
  keep_freed_memory();
  const corun::PrintableStream out(std::cout);
  const corun::PrintableStream err(std::cerr);
  // Every error is one line, whatever it quotes.
  const auto one_line = [](const char* text) { return corun::printable(text, std::string::npos); };
  try {
    const int code = dispatch(Arguments(argv + std::min(argc, 1), argv + argc));
    std::cout.flush();
    if (!std::cout) {
      std::cerr << "corun: standard output cannot be written\n";
      return corun::kBadInput;
    }
    return code;
  } catch (const corun::InputError& e) {
    std::cerr << one_line(e.what()) << "\n";
    return corun::kBadInput;
  } catch (const corun::DeviceError& e) {
    std::cerr << one_line(e.what()) << "\n";
    return corun::kDeviceMissing;
  } catch (const std::bad_alloc&) {
    std::cerr << "corun: out of memory\n";
    return corun::kInternalError;
  } catch (const std::exception& e) {
    std::cerr << "corun: internal error: " << one_line(e.what()) << "\n";
    return corun::kInternalError;
  }
}
