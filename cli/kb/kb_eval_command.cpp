#include <algorithm>
#include <array>
#include <filesystem>
#include <string_view>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "cli/cli.hpp"
#include "evaluation/paper_sections/kb_clusters.hpp"
#include "evaluation/paper_sections/kb_features.hpp"
#include "evaluation/paper_sections/kb_interference.hpp"
#include "evaluation/paper_sections/kb_privacy.hpp"
#include "evaluation/paper_sections/kb_synthetic.hpp"
#include "models/scoring/device.hpp"
#include "runner/inputs/file_kind.hpp"
#include "sim/base/text.hpp"
#include "sim/error.hpp"
#include "support/atomic_file.hpp"
#include "support/json.hpp"
#include "traces/tables/profile_csv.hpp"

/// `corun kb eval`: evaluates each step of the knowledge base and checks the papers' claims about
/// it.
namespace corun::inline cli {

namespace {

namespace po = boost::program_options;

constexpr std::string_view kDataSet = "alnair/alnair_dataset.csv";

CommandLine kb_eval_command_line() {
  CommandLine command;
  command.name = "kb eval";
  command.usage = "corun kb eval features|synthetic|clusters|interference|privacy [options]";
  command.summary =
      "How well each step from profiles to recommendations works, and whether what the papers say\n"
      "of it holds:\n"
      "  features      which attributes tell of GPU utilisation and memory (PriRecT fig. 2)\n"
      "  synthetic     the blind test of synthetic profiles (PriRecT Table II, fig. 3; JRS fig. "
      "2)\n"
      "  clusters      how many; Tables IV and VII of JRS from raw profiles; other ways to "
      "cluster\n"
      "  interference  how well cluster means predict a pair left out; which pairs cost least\n"
      "  privacy       how well the model is guessed from the three features\n"
      "All but `interference` need the profiles of the Futurewei mini-ML Workload Dataset.";
  command.examples =
      "  corun kb eval interference\n"
      "  corun kb eval clusters                          needs the data directory, see --data\n"
      "  corun kb eval features --figure ranking.svg     all attributes, as PriRecT's figure 2\n";
  command.positional = "section";
  command.configured = false;
  auto add = command.own.add_options();
  add("profiles", po::value<std::string>(),
      "table of profiles; default: alnair/alnair_dataset.csv of the data directory");
  add("figure", po::value<std::string>(), "write the section's figure to this SVG");
  return command;
}

std::string section_option(const po::variables_map& values) {
  constexpr std::array<std::string_view, 5> kSections{"features", "synthetic", "clusters",
                                                      "interference", "privacy"};
  std::string section = values.count("section") != 0 ? values["section"].as<std::string>() : "";
  if (std::find(kSections.begin(), kSections.end(), section) == kSections.end()) {
    throw InputError(
        "corun kb eval",
        section.empty()
            ? fmt::format("which section? One of {}", fmt::join(kSections, ", "))
            : "no section '" + printable(section) + "': " + did_you_mean(section, kSections));
  }
  return section;
}

std::string data_set_path(const CommonOptions& common) {
  return common.data.empty() ? "" : common.data + "/" + std::string(kDataSet);
}

/// InputError if an output is also an input.
void check_files(const po::variables_map& values, const CommonOptions& common,
                 const std::string& section, const std::string& figure) {
  std::vector<NamedFile> outputs;
  if (!figure.empty()) outputs.push_back({"--figure", figure});
  if (common.output) outputs.push_back({"--output", *common.output});
  std::vector<NamedFile> inputs;
  if (!common.data.empty()) inputs.push_back({"corun kb eval", data_set_path(common)});
  if (values.count("profiles") != 0) {
    inputs.push_back({"--profiles", values["profiles"].as<std::string>()});
    if (section == "interference") {
      throw InputError("--profiles", "interference takes the papers' co-runs and no profiles");
    }
  }
  check_outputs_differ(outputs, inputs);
}

/// --profiles, else the papers' data set.
ProfileTable read_profiles(const po::variables_map& values, const CommonOptions& common) {
  std::string path = data_set_path(common);
  std::error_code error;
  if (values.count("profiles") != 0) {
    path = values["profiles"].as<std::string>();
  } else if (path.empty() || !std::filesystem::exists(path, error)) {
    throw InputError("corun kb eval",
                     fmt::format("{} is not in the data directory{}; give --profiles FILE, --data "
                                 "DIR or CORUN_DATA",
                                 kDataSet, path.empty() ? " (there is none)" : ""));
  }
  refuse_gpu_samples(path);
  return read_profile_csv(path);
}

StudySection evaluate(const std::string& section, const po::variables_map& values,
                      const CommonOptions& common) {
  if (section == "interference") return interference_section();
  const ProfileTable table = read_profiles(values, common);
  if (section == "features") return features_section(table, common.threads, common.quiet);
  if (section == "synthetic") return synthetic_section(table);
  if (section == "clusters") return clusters_section(table);
  return privacy_section(table);
}

}  // namespace

int kb_eval_command(const std::vector<std::string>& arguments) {
  CommonOptions common;
  const auto parsed = parse_command_line(kb_eval_command_line(), arguments, common);
  if (!parsed) return kDone;
  const std::string section = section_option(*parsed);
  const std::string figure =
      parsed->count("figure") != 0
          ? checked_output_path((*parsed)["figure"].as<std::string>(), "--figure")
          : "";
  check_name(figure, "--figure", {"svg"});
  choose_device(common.device);
  check_files(*parsed, common, section, figure);
  const StudySection outcome = evaluate(section, *parsed, common);
  std::vector<OutputText> files;
  if (!figure.empty()) {
    if (outcome.figure.empty()) throw InputError("--figure", "section " + section + " has none");
    files.push_back({"--figure", figure, outcome.figure});
  }
  emit(common,
       common.format == Format::kJson  ? json_text(outcome.json)
       : common.format == Format::kCsv ? claims_csv(outcome)
                                       : outcome.text,
       std::move(files));
  return kDone;
}

}  // namespace corun::inline cli
