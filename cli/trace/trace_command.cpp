#include <array>

#include "cli/cli.hpp"
#include "cli/subcommands.hpp"
#include "cli/trace/trace_commands.hpp"

/// `corun trace info | convert | cut | generate`: traces of jobs.
namespace corun::inline cli {

int trace_command(const std::vector<std::string>& arguments) {
  static constexpr std::array<Subcommand, 4> kAll{{
      {"info", "jobs, GPUs, arrivals, run times, gangs, load against a cluster",
       trace_info_command},
      {"convert", "any format that corun reads to corun's own CSV or to SWF",
       trace_convert_command},
      {"cut", "a time window, a sample, small jobs, or another load", trace_cut_command},
      {"generate", "a synthetic trace: poisson, bursty or diurnal, like a real one or not",
       trace_generate_command},
  }};
  return run_subcommand({.name = "corun trace",
                         .usage = "WORD",
                         .about = "Traces of jobs.",
                         .more = "; `corun list traces` has the formats",
                         .examples = "  corun trace info examples/jobs.csv\n"},
                        kAll, arguments);
}

}  // namespace corun::inline cli
