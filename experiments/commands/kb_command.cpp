#include <array>

#include <nlohmann/json.hpp>

#include "experiments/base/json.hpp"
#include "experiments/commands/kb_commands.hpp"
#include "experiments/commands/note.hpp"
#include "experiments/commands/subcommands.hpp"
#include "experiments/knowledge/corun_learning.hpp"
#include "experiments/knowledge/knowledge_report.hpp"

/// `corun kb build | show | assign | update | eval`: the knowledge base from raw profiles and measured
/// co-runs to what policies believe.
namespace corun {

void learn_coruns(KnowledgeFile& file, const std::vector<std::string>& tables,
                  const CommonOptions& common) {
  for (const std::string& name : tables) {
    const CorunTable table =
        read_corun_table(is_corun_table(name) ? name : find_input_file(name, common, "--coruns"));
    for (const std::string& text : learn_table(file, table)) note(common, text);
  }
}

std::string knowledge_output(const KnowledgeFile& file, Format format) {
  switch (format) {
    case Format::kCsv:
      return knowledge_csv(file.kb);
    case Format::kJson:
      return knowledge_file_json(file).dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
    case Format::kTable:
      break;
  }
  return knowledge_file_table(file);
}

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

}  // namespace corun
