#include <array>

#include "cli/cli.hpp"
#include "cli/data/data_commands.hpp"
#include "cli/subcommands.hpp"

/// `corun data list | derive`: the public data sets, which are not part of corun.
namespace corun::inline cli {

int data_command(const std::vector<std::string>& arguments) {
  static constexpr std::array<Subcommand, 2> kAll{{
      {"list",
       "every file that is read: what, whose, licence, present, checksum (also without a word)",
       data_list_command},
      {"derive", "tables of pairs from the files that Gavel's and Lucid's authors publish",
       data_derive_command},
  }};
  const bool has_word = !arguments.empty() && !arguments.front().starts_with('-');
  const bool asks_help =
      !arguments.empty() && (arguments.front() == "--help" || arguments.front() == "-h");
  if (!has_word && !asks_help) return data_list_command(arguments);
  return run_subcommand(
      {.name = "corun data",
       .usage = "[WORD]",
       .about = "The public data sets that experiments read. They are not part of corun: copy "
                "their files "
                "from the\nauthors' repositories into a directory and name it by --data DIR or "
                "CORUN_DATA.",
       .more = "",
       .examples =
           "  corun data\n  corun data list --data DIR --format csv\n"
           "  corun data derive gavel --from simulation_throughputs.json --out DIR/gavel\n"},
      kAll, arguments);
}

}  // namespace corun::inline cli
