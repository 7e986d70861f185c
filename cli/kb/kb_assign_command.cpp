#include <nlohmann/json.hpp>

#include "cli/cli.hpp"
#include "cli/kb/kb_commands.hpp"
#include "knowledge/cluster_assignment.hpp"
#include "knowledge/knowledge_catalog.hpp"
#include "models/scoring/device.hpp"
#include "runner/inputs/file_kind.hpp"
#include "sim/error.hpp"
#include "support/atomic_file.hpp"
#include "support/json.hpp"
#include "traces/tables/profile_csv.hpp"

/// `corun kb assign`: the cluster and uncertainty of each profile.
namespace corun::inline cli {

namespace po = boost::program_options;

int kb_assign_command(const std::vector<std::string>& arguments) {
  CommandLine command;
  command.name = "kb assign";
  command.usage = "corun kb assign [NAME|KB.yaml] --profiles FILE [options]";
  command.summary =
      "The cluster of each profile and how uncertain that is, by both scores: the sum of the\n"
      "distances to all centres (what the papers print) and the distance to its own centre (what\n"
      "their text describes). Ranks are within the cluster: rank 1 is recommended first.";
  command.examples =
      "  corun kb assign jrs --profiles examples/jobs.csv\n"
      "  corun kb assign prirect-paper --profiles alnair/alnair_dataset.csv --format csv\n";
  command.positional = "kb";
  command.configured = false;
  command.own.add_options()("profiles", po::value<std::string>(),
                            "table of solo profiles (docs/formats.md)");
  CommonOptions common;
  const auto parsed = parse_command_line(command, arguments, common);
  if (!parsed) return kDone;
  choose_device(common.device);
  if (parsed->count("profiles") == 0) {
    throw InputError("corun kb assign", "needs profiles; give --profiles FILE");
  }
  const std::string name = parsed->count("kb") != 0 ? (*parsed)["kb"].as<std::string>() : "jrs";
  const std::string profiles =
      find_input_file((*parsed)["profiles"].as<std::string>(), common, "--profiles");
  refuse_gpu_samples(profiles);
  if (common.output) {
    check_outputs_differ({{"--output", *common.output}},
                         {{"--profiles", profiles}, {"corun kb assign", name}});
  }
  check_kind(name, {FileKind::kKnowledgeBase}, "a knowledge base");
  const KnowledgeBase kb = open_knowledge(name, "corun kb").kb;
  const ProfileTable table = read_profile_csv(profiles);
  const AssignmentTable rows = assign_profiles(kb.clustering(), table);
  emit(common, common.format == Format::kJson  ? json_text(assignment_json(rows))
               : common.format == Format::kCsv ? assignment_csv(rows)
                                               : assignment_table(rows));
  return kDone;
}

}  // namespace corun::inline cli
