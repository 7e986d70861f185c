#include <cstdint>
#include <iostream>
#include <limits>
#include <utility>

#include <fmt/format.h>

#include "cli/kb/kb_commands.hpp"
#include "cli/kb/kb_options.hpp"
#include "cli/note.hpp"
#include "cli/option_values.hpp"
#include "knowledge/corun_learning.hpp"
#include "knowledge/knowledge_catalog.hpp"
#include "knowledge/profile_clustering.hpp"
#include "models/scoring/device.hpp"
#include "runner/inputs/file_kind.hpp"
#include "sim/base/text.hpp"
#include "sim/error.hpp"
#include "support/atomic_file.hpp"
#include "traces/tables/profile_csv.hpp"

/// `corun kb build`: makes a knowledge base file from solo profiles and measured co-runs.
namespace corun::inline cli {

namespace {

namespace po = boost::program_options;

CommandLine build_command_line() {
  CommandLine command;
  command.name = "kb build";
  command.usage =
      "corun kb build [--profiles FILE | --like KB] [--coruns FILE ...] --output KB.yaml";
  command.summary =
      "Clusters solo profiles by k-means, with synthetic ones between the measured where asked, "
      "and\n"
      "learns from measured co-runs what jobs of these clusters cost each other. The outcome is "
      "one\n"
      "readable file that `corun recommend --kb` and `belief: {initial: FILE}` take. Without\n"
      "--profiles the clusters are those of --like.";
  command.examples =
      "  corun kb build --coruns examples/mine.corun.csv -o mine.kb.yaml\n"
      "  corun kb build --profiles alnair/alnair_dataset.csv --synthetic paper --coruns jrs \\\n"
      "      -o jrs.kb.yaml                          JRS from its raw profiles; needs --data\n"
      "  corun kb build --profiles examples/jobs.csv --coruns examples/mine.corun.csv \\\n"
      "      --clusters 2 --standardise -o two.kb.yaml\n";
  command.configured = false;
  command.output = OutputUse::kOwn;
  auto add = command.own.add_options();
  add("profiles", po::value<std::string>(), "table of solo profiles (docs/formats.md)");
  add("coruns", po::value<std::vector<std::string>>()->composing(),
      "measured co-runs: a *.corun.csv, or jrs or prirect for the papers' tables; give it once for "
      "each");
  add("like", po::value<std::string>()->default_value("jrs"),
      "without --profiles: the knowledge base whose clusters to take, a name or a file");
  add("synthetic", po::value<std::string>()->default_value("none"),
      "profiles between measured batch sizes: none, paper (the authors' 175 samples), best (least "
      "RMSE in the blind test), or a technique: linear, barycentric, krogh, pchip, cubicspline, "
      "spline2");
  add("over", po::value<std::string>()->default_value("row"),
      "axis of the interpolation: row (the papers'), batch-size, log2-batch-size");
  add("amplify", po::value<std::string>()->default_value("5"),
      "profiles per measured one: 5 puts 4 between each two");
  add("samples", po::value<std::string>(), "write the profiles that were clustered to this CSV");
  add("clusters", po::value<std::string>()->default_value("3"),
      "k, 1 to 64; 3 are numbered as the papers' (0 middling, 1 light, 2 heavy), others by "
      "utilisation");
  add("restarts", po::value<std::string>()->default_value("200"), "starts of k-means++");
  add("seed", po::value<std::string>()->default_value("1"), "of the starts");
  add("centres", po::value<std::string>(),
      "start Lloyd's algorithm from the centres in this CSV in place of k-means++");
  add("distance-centres", po::value<std::string>(),
      "take uncertainties to the centres in this CSV, labels to those found");
  add("standardise", po::bool_switch(), "features in units of their standard deviation");
  add("uncertainty", po::value<std::string>()->default_value("all-centres"),
      "all-centres (sum of distances, as the papers print) or own-centre (as their text says)");
  add("decay", po::value<std::string>()->default_value("0"),
      "weight that a co-run loses with each newer one of the same pair of clusters, 0 to 0.999");
  add("about", po::value<std::string>()->default_value(""), "one line kept in the file");
  return command;
}

bool given(const po::variables_map& values, const char* key) {
  return values.count(key) != 0 && !values[key].defaulted();
}

/// The path of the knowledge base. InputError if an output is also an input.
std::string checked_output(const po::variables_map& values, const CommonOptions& common) {
  if (!common.output) {
    throw InputError("corun kb build", "needs a file to write; give --output KB.yaml");
  }
  check_name(*common.output, "--output", {"yaml"});
  std::string output = checked_output_path(*common.output, "--output");
  std::vector<NamedFile> outputs{{"--output", output}};
  std::vector<NamedFile> inputs;
  for (const char* key : {"profiles", "centres", "distance-centres"}) {
    if (values.count(key) == 0) continue;
    const std::string flag = std::string("--") + key;
    inputs.push_back({flag, find_input_file(values[key].as<std::string>(), common, flag)});
  }
  inputs.push_back({"--like", values["like"].as<std::string>()});
  for (const std::string& name : list_option(values, "coruns")) {
    inputs.push_back(
        {"--coruns", is_corun_table(name) ? name : find_input_file(name, common, "--coruns")});
  }
  if (values.count("samples") != 0) {
    outputs.push_back({"--samples", values["samples"].as<std::string>()});
    check_name(outputs.back().path, "--samples", {"csv"});
    checked_output_path(outputs.back().path, "--samples");
  }
  check_outputs_differ(outputs, inputs);
  return output;
}

std::vector<FeatureVector> centres_option(const po::variables_map& values, const std::string& key,
                                          const CommonOptions& common) {
  return read_centres_csv(find_input_file(values[key].as<std::string>(), common, "--" + key));
}

ClusteringOptions clustering_options(const po::variables_map& values, const CommonOptions& common) {
  ClusteringOptions options;
  options.k = static_cast<int>(whole_option(values, "clusters", 1, 64));
  options.restarts = static_cast<int>(whole_option(values, "restarts", 1, 100'000));
  options.seed = static_cast<std::uint64_t>(
      whole_option(values, "seed", 0, std::numeric_limits<std::int64_t>::max()));
  options.standardise = values["standardise"].as<bool>();
  options.rule = choice_option(values, "uncertainty", {"all-centres", "own-centre"}) == "own-centre"
                     ? Uncertainty::kOwnCentre
                     : Uncertainty::kAllCentres;
  if (values.count("centres") != 0) {
    options.start = centres_option(values, "centres", common);
    if (given(values, "clusters") && options.k != static_cast<int>(options.start.size())) {
      throw InputError("--clusters", fmt::format("is {}, but --centres has {} rows; leave it out",
                                                 options.k, options.start.size()));
    }
    options.k = static_cast<int>(options.start.size());
  }
  if (values.count("distance-centres") != 0) {
    options.distance_centres = centres_option(values, "distance-centres", common);
    if (static_cast<int>(options.distance_centres.size()) != options.k) {
      throw InputError("--distance-centres",
                       fmt::format("{} centres for {} clusters, expected one each",
                                   options.distance_centres.size(), options.k));
    }
  }
  return options;
}

double decay_option(const po::variables_map& values) {
  const auto text = values["decay"].as<std::string>();
  const auto decay = parse_number(text);
  if (!decay || !(*decay >= 0 && *decay <= 0.999)) {
    throw InputError("--decay", "found '" + printable(text) + "', expected 0 to 0.999");
  }
  return *decay;
}

std::string about_option(const po::variables_map& values) {
  auto about = values["about"].as<std::string>();
  if (find_bad_text(about, false) < about.size()) {
    throw InputError("--about", "expected one line of text in UTF-8 without control characters");
  }
  return about;
}

SampleOptions sample_options(const po::variables_map& values) {
  SampleOptions options;
  options.synthetic = choice_option(values, "synthetic", synthetic_choices());
  if (given(values, "like")) {
    throw InputError("--like", "goes without --profiles: clusters come from one of them");
  }
  if (options.synthetic == "none" || options.synthetic == "paper") {
    for (const char* key : {"over", "amplify"}) {
      if (!given(values, key)) continue;
      throw InputError(std::string("--") + key,
                       "goes with --synthetic best or a technique, not with " + options.synthetic);
    }
  }
  const std::string axis = choice_option(values, "over", {"row", "batch-size", "log2-batch-size"});
  options.axis = axis == "row"          ? SampleAxis::kRow
                 : axis == "batch-size" ? SampleAxis::kBatchSize
                                        : SampleAxis::kLog2BatchSize;
  options.between = static_cast<int>(whole_option(values, "amplify", 1, 100)) - 1;
  return options;
}

/// Clusters and their origin.
struct BuiltClusters {
  Clusters clusters;
  std::string about;    ///< origin, one line for the file
  std::string found;    ///< summary, one line for the table; may be empty
  std::string samples;  ///< CSV of the clustered profiles, if requested
};

BuiltClusters cluster_profiles(const po::variables_map& values, const CommonOptions& common,
                               const ClusteringOptions& options) {
  const std::string path =
      find_input_file(values["profiles"].as<std::string>(), common, "--profiles");
  refuse_gpu_samples(path);
  const ProfileTable table = read_profile_csv(path);
  const SampleOptions sampling = sample_options(values);
  const SampleSet samples = draw_samples(table, sampling);
  for (const std::string& text : samples.notes) note(common, text);
  const ClusteringResult result = cluster_samples(samples, options);
  for (const std::string& text : result.notes) note(common, text);
  return {result.clusters, clusters_about(samples, options.k, sampling.synthetic),
          clustering_summary(samples, options, result),
          values.count("samples") != 0 ? samples_csv(samples) : ""};
}

BuiltClusters take_clusters(const po::variables_map& values, const ClusteringOptions& options) {
  for (const char* key : {"samples", "centres", "distance-centres", "synthetic", "over", "amplify",
                          "clusters", "restarts", "seed"}) {
    if (given(values, key)) throw InputError(std::string("--") + key, "goes with --profiles");
  }
  if (options.standardise) throw InputError("--standardise", "goes with --profiles");
  const auto like = values["like"].as<std::string>();
  Clusters clusters = open_knowledge(like, "corun kb").kb.clustering();
  if (given(values, "uncertainty")) clusters.rule = options.rule;
  return {std::move(clusters), "clusters of " + like, "", ""};
}

}  // namespace

int kb_build_command(const std::vector<std::string>& arguments) {
  CommonOptions common;
  const auto parsed = parse_command_line(build_command_line(), arguments, common);
  if (!parsed) return kDone;
  choose_device(common.device);
  const po::variables_map& values = *parsed;
  const std::string output = checked_output(values, common);
  const ClusteringOptions options = clustering_options(values, common);
  const double decay = decay_option(values);
  const std::string about = about_option(values);
  BuiltClusters built = values.count("profiles") != 0 ? cluster_profiles(values, common, options)
                                                      : take_clusters(values, options);

  KnowledgeFile file{
      KnowledgeBase(std::move(built.clusters), decay), about.empty() ? built.about : about, {}};
  learn_coruns(file, list_option(values, "coruns"), common);
  std::string shown = knowledge_output(file, common.format);
  if (common.format == Format::kTable) shown = built.found + shown;
  std::vector<OutputText> samples;
  if (!built.samples.empty()) {
    samples.push_back({"--samples", values["samples"].as<std::string>(), built.samples});
  }
  check_outputs(samples, common.existing);
  write_knowledge_file(output, file, "--output", common.existing);
  write_outputs(samples, common.existing);
  note(common, "wrote " + printable(output, 200));
  std::cout << shown;
  return kDone;
}

}  // namespace corun::inline cli
