#include <iostream>

#include "cli/kb/kb_commands.hpp"
#include "cli/kb/kb_options.hpp"
#include "knowledge/knowledge_catalog.hpp"
#include "knowledge/knowledge_report.hpp"
#include "models/scoring/device.hpp"
#include "runner/inputs/file_kind.hpp"
#include "sim/error.hpp"
#include "support/atomic_file.hpp"

/// `corun kb show`: prints a knowledge base.
namespace corun::inline cli {

namespace po = boost::program_options;

int kb_show_command(const std::vector<std::string>& arguments) {
  CommandLine command;
  command.name = "kb show";
  command.usage = "corun kb show [NAME|KB.yaml] [options]";
  command.summary =
      "What a knowledge base knows: its clusters, and what jobs of each pair of clusters cost "
      "each\n"
      "other, least mean ISD and greatest mean PS first. (`corun recommend` ranks pairs of "
      "clusters\n"
      "by its objective, which adds the ISDs of both jobs.)";
  command.examples =
      "  corun kb show jrs\n"
      "  corun kb show prirect --figure prirect.svg    box plots, as PriRecT's figures 5 and 6\n"
      "  corun kb show examples/kb.yaml --format csv\n";
  command.positional = "kb";
  command.configured = false;
  command.output = OutputUse::kOwn;
  command.own.add_options()("figure", po::value<std::string>(), "write box plots to this SVG");
  CommonOptions common;
  const auto parsed = parse_command_line(command, arguments, common);
  if (!parsed) return kDone;
  choose_device(common.device);
  const std::string name = parsed->count("kb") != 0 ? (*parsed)["kb"].as<std::string>() : "jrs";
  if (common.output) {
    throw InputError("--output", "corun kb show prints; write its figure with --figure FILE");
  }
  check_kind(name, {FileKind::kKnowledgeBase}, "a knowledge base");
  const KnowledgeFile file = open_knowledge(name, "corun kb");
  const std::string shown = knowledge_output(file, common.format);
  if (parsed->count("figure") != 0) {
    const std::string figure = (*parsed)["figure"].as<std::string>();
    check_name(figure, "--figure", {"svg"});
    check_outputs_differ({{"--figure", figure}}, {{"corun kb show", name}});
    write_outputs(
        {{"--figure", figure, knowledge_figure(file.kb, file.about.empty() ? name : file.about)}},
        common.existing);
  }
  std::cout << shown;
  return kDone;
}

}  // namespace corun::inline cli
