#include <iostream>

#include "cli/kb/kb_commands.hpp"
#include "cli/kb/kb_options.hpp"
#include "cli/note.hpp"
#include "knowledge/corun_learning.hpp"
#include "knowledge/knowledge_catalog.hpp"
#include "models/scoring/device.hpp"
#include "sim/error.hpp"

/// `corun kb update`: adds co-runs or another knowledge base to a knowledge base file.
namespace corun::inline cli {

namespace po = boost::program_options;

int kb_update_command(const std::vector<std::string>& arguments) {
  CommandLine command;
  command.name = "kb update";
  command.usage = "corun kb update KB.yaml [--coruns FILE ...] [--merge KB.yaml ...] [options]";
  command.summary =
      "Teaches a knowledge base file more co-runs, or what another box has learnt over the same\n"
      "clusters. The file changes as a whole or not at all, even if the program is killed; "
      "several\n"
      "updates at once wait for each other; a file of co-runs that is already in is left out.";
  command.examples =
      "  corun kb build -o kb.yaml && corun kb update kb.yaml --coruns examples/mine.corun.csv\n";
  command.positional = "kb";
  command.configured = false;
  command.output = OutputUse::kOwn;
  auto add = command.own.add_options();
  add("coruns", po::value<std::vector<std::string>>()->composing(),
      "measured co-runs, *.corun.csv; once for each");
  add("merge", po::value<std::vector<std::string>>()->composing(),
      "another knowledge base file with the same clusters; repeatable");
  CommonOptions common;
  const auto parsed = parse_command_line(command, arguments, common);
  if (!parsed) return kDone;
  choose_device(common.device);
  if (parsed->count("kb") == 0) throw InputError("corun kb update", "which file? Give KB.yaml");
  const std::string path = (*parsed)["kb"].as<std::string>();
  if (find_knowledge(path) != nullptr) {
    throw InputError("corun kb update",
                     "'" + path + "' comes with corun and never changes; `corun kb build --like " +
                         path + " --output KB.yaml` makes a file of it");
  }
  if (common.output) {
    throw InputError("--output", "corun kb update changes the file it is given; copy it first");
  }
  const std::vector<std::string> coruns = list_option(*parsed, "coruns");
  const std::vector<std::string> others = list_option(*parsed, "merge");
  if (coruns.empty() && others.empty()) {
    throw InputError("corun kb update",
                     "needs co-runs or a knowledge base; give --coruns FILE or --merge KB.yaml");
  }
  std::string shown;
  update_knowledge_file(
      path,
      [&](KnowledgeFile& file) {
        for (const std::string& name : others) {
          for (const std::string& text :
               merge_knowledge(file, open_knowledge(name, "corun kb"), name)) {
            note(common, text);
          }
        }
        learn_coruns(file, coruns, common);
        shown = knowledge_output(file, common.format);
      },
      "corun kb update");
  std::cout << shown;
  return kDone;
}

}  // namespace corun::inline cli
