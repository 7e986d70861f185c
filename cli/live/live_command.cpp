#include "cli/live/live_command.hpp"

#include <array>
#include <iostream>
#include <string_view>

#include "cli/cli.hpp"
#include "cli/live/live_workload_command.hpp"
#include "sim/base/text.hpp"
#include "sim/error.hpp"

namespace corun::inline cli {

namespace {

struct Word {
  std::string_view name;
  std::string_view summary;
  int (*run)(const std::vector<std::string>&);
};

constexpr std::array<Word, 7> kWords{{
    {"probe", "the GPUs, driver and MPS of this machine, their users, and what would be refused",
     live::probe_command},
    {"profile", "run one command alone and watch it: 66 attributes and the three-feature profile",
     live::profile_command},
    {"solo", "solo times and profiles of the workloads of a configuration", live::solo_command},
    {"corun", "solo times and co-runs of all pairs: a *.corun.csv", live::corun_command},
    {"run", "a queue of real jobs under real policies, beside what the simulator predicts",
     live::run_command},
    {"validate", "what a run has measured, beside the prediction and a replay of its decisions",
     live::validate_command},
    {"workload", "a built-in training-like job: --list shows them", live::workload_command},
}};

void print_help() {
  std::cout << "corun live: the same policies on a real GPU box\n\nusage: corun live WORD "
               "[options]\n\nWords:\n";
  for (const Word& w : kWords) {
    std::cout << "  " << w.name << std::string(10 - w.name.size(), ' ') << w.summary << "\n";
  }
  std::cout << "\n`corun live WORD --help` describes each; see docs/live.md.\n";
}

}  // namespace

int live_command(const std::vector<std::string>& arguments) {
  if (arguments.empty() || arguments[0] == "--help" || arguments[0] == "-h") {
    print_help();
    return arguments.empty() ? kBadInput : kDone;
  }
  std::vector<std::string_view> known;
  for (const Word& w : kWords) {
    if (w.name == arguments[0]) return w.run({arguments.begin() + 1, arguments.end()});
    known.push_back(w.name);
  }
  throw InputError("corun live", "no word '" + printable(arguments[0]) +
                                     "': " + did_you_mean(arguments[0], known));
}

}  // namespace corun::inline cli
