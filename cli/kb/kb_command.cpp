#include <array>

#include "cli/cli.hpp"
#include "cli/kb/kb_commands.hpp"
#include "cli/subcommands.hpp"

/// `corun kb build | show | assign | update | eval`: commands about knowledge bases.
namespace corun::inline cli {

int kb_command(const std::vector<std::string>& arguments) {
  static constexpr std::array<Subcommand, 5> kAll{{
      {"build", "from solo profiles and measured co-runs to a knowledge base", kb_build_command},
      {"show", "what it knows: clusters, ISD and PS by pair of clusters, box plots",
       kb_show_command},
      {"assign", "cluster and uncertainty of profiles", kb_assign_command},
      {"update", "teach it more co-runs, or what another box has learnt", kb_update_command},
      {"eval", "how well each step works: the papers' claims, one by one", kb_eval_command},
  }};
  return run_subcommand({.name = "corun kb",
                         .usage = "WORD",
                         .about = "The knowledge base of PriRecT and JRS.",
                         .more = "",
                         .examples = "  corun kb show jrs\n"},
                        kAll, arguments);
}

}  // namespace corun::inline cli
