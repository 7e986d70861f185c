#include <algorithm>
#include <cmath>
#include <filesystem>
#include <iostream>
#include <limits>
#include <set>
#include <stdexcept>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "experiments/base/atomic_file.hpp"
#include "experiments/base/checksum.hpp"
#include "experiments/base/json.hpp"
#include "experiments/commands/cli.hpp"
#include "experiments/knowledge/kb_pipeline.hpp"
#include "experiments/knowledge/knowledge_catalog.hpp"
#include "experiments/knowledge/knowledge_file.hpp"
#include "experiments/knowledge/knowledge_report.hpp"
#include "models/device.hpp"
#include "sim/base/text.hpp"
#include "sim/error.hpp"
#include "traces/csv_reader.hpp"
#include "traces/profile_csv.hpp"

/// `corun kb build | show | assign | update | eval`: the knowledge base from raw profiles and measured
/// co-runs to what policies believe.
namespace corun {

namespace {

namespace po = boost::program_options;
std::string choice(const po::variables_map& values, const char* key,
                   const std::vector<std::string_view>& known) {
  std::string value = values[key].as<std::string>();
  if (std::find(known.begin(), known.end(), value) == known.end()) {
    throw InputError(std::string("--") + key,
                     "found '" + printable(value) + "': " + did_you_mean(value, known));
  }
  return value;
}

/// One of the named knowledge bases, or a file.
KnowledgeFile knowledge_of(const std::string& name) {
  if (const KnowledgeEntry* entry = find_knowledge(name)) {
    return {entry->make(), std::string(entry->description), {}};
  }
  std::error_code error;
  if (!std::filesystem::exists(name, error)) {
    std::vector<std::string_view> known;
    for (const KnowledgeEntry& e : knowledge_catalog()) known.push_back(e.name);
    throw InputError("corun kb", "no file and no knowledge base '" + printable(name) +
                                     "': " + did_you_mean(name, known));
  }
  return read_knowledge_file(name);
}

void say(const CommonOptions& common, const std::string& note) {
  if (!common.quiet) std::cerr << "note: " << note << "\n";
}

/// Learns every table of co-runs, each once.
void learn_all(KnowledgeFile& file, const std::vector<std::string>& names,
               const CommonOptions& common) {
  for (const std::string& name : names) {
    const CorunTable table =
        read_corun_table(is_corun_table(name) ? name : find_input_file(name, common, "--coruns"));
    for (const std::string& note : learn_table(file, table)) say(common, note);
  }
}

std::string knowledge_output(const KnowledgeFile& file, const CommonOptions& common) {
  if (common.format == Format::kCsv) return knowledge_csv(file.kb);
  if (common.format == Format::kJson) {
    Json json = knowledge_json(file.kb);
    json["about"] = file.about;
    json["sources"] = Json::array();
    for (const KnowledgeSource& s : file.sources) {
      json["sources"].push_back({{"name", s.name},
                                 {"sha256", s.sha256},
                                 {"pairs", s.pairs},
                                 {"measured_on", s.measured_on}});
    }
    return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
  }
  std::string out = file.about.empty() ? "" : printable(file.about, 200) + "\n";
  out += knowledge_table(file.kb);
  if (!file.sources.empty()) out += "\nlearnt from\n";
  for (const KnowledgeSource& s : file.sources) {
    out +=
        fmt::format("  {}: {} pairs on {}\n", printable(s.name), s.pairs, printable(s.measured_on));
  }
  return out;
}

// ---- build --------------------------------------------------------------------------------------

int build(const std::vector<std::string>& arguments) {
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
  CommonOptions common;
  const auto parsed = parse_command_line(command, arguments, common);
  if (!parsed) return kDone;
  choose_device(common.device);
  const po::variables_map& values = *parsed;
  if (!common.output) {
    throw InputError("corun kb build", "where to? Give --output KB.yaml");
  }
  const std::string output = checked_output_path(*common.output, "--output");
  std::vector<NamedFile> outputs{{"--output", output}};
  std::vector<NamedFile> inputs;
  for (const char* key : {"profiles", "centres", "distance-centres", "like"}) {
    if (values.count(key) != 0) {
      inputs.push_back({std::string("--") + key, values[key].as<std::string>()});
    }
  }
  for (const std::string& name : list_option(values, "coruns"))
    inputs.push_back({"--coruns", name});
  if (values.count("samples") != 0) {
    outputs.push_back({"--samples", values["samples"].as<std::string>()});
    checked_output_path(outputs.back().path, "--samples");
  }
  check_outputs_differ(outputs, inputs);

  ClusteringOptions options;
  options.k = static_cast<int>(whole_option(values, "clusters", 1, 64));
  options.restarts = static_cast<int>(whole_option(values, "restarts", 1, 100'000));
  options.seed = static_cast<std::uint64_t>(
      whole_option(values, "seed", 0, std::numeric_limits<std::int64_t>::max()));
  options.standardise = values["standardise"].as<bool>();
  options.rule = choice(values, "uncertainty", {"all-centres", "own-centre"}) == "own-centre"
                     ? Uncertainty::kOwnCentre
                     : Uncertainty::kAllCentres;
  if (values.count("centres") != 0) {
    options.start =
        read_centres_csv(find_input_file(values["centres"].as<std::string>(), common, "--centres"));
    if (!values["clusters"].defaulted() && options.k != static_cast<int>(options.start.size())) {
      throw InputError("--clusters", fmt::format("is {}, but --centres has {} rows; leave it out",
                                                 options.k, options.start.size()));
    }
    options.k = static_cast<int>(options.start.size());
  }
  if (values.count("distance-centres") != 0) {
    options.distance_centres = read_centres_csv(find_input_file(
        values["distance-centres"].as<std::string>(), common, "--distance-centres"));
    if (static_cast<int>(options.distance_centres.size()) != options.k) {
      throw InputError("--distance-centres",
                       fmt::format("{} centres for {} clusters, expected one each",
                                   options.distance_centres.size(), options.k));
    }
  }
  const auto decay = parse_number(values["decay"].as<std::string>());
  if (!decay || !(*decay >= 0 && *decay <= 0.999)) {
    throw InputError("--decay", "found '" + printable(values["decay"].as<std::string>()) +
                                    "', expected 0 to 0.999");
  }

  Clusters clusters;
  std::string about = values["about"].as<std::string>();
  std::string found;
  std::string table_of_samples;
  if (find_bad_text(about, false) < about.size()) {
    throw InputError("--about", "expected one line of text in UTF-8 without control characters");
  }
  if (values.count("profiles") != 0) {
    const ProfileTable table = read_profile_csv(
        find_input_file(values["profiles"].as<std::string>(), common, "--profiles"));
    SampleOptions sampling;
    sampling.synthetic = choice(values, "synthetic", synthetic_choices());
    if (!values["like"].defaulted()) {
      throw InputError("--like", "goes without --profiles: clusters come from one of them");
    }
    if (sampling.synthetic == "none" || sampling.synthetic == "paper") {
      for (const char* key : {"over", "amplify"}) {
        if (values[key].defaulted()) continue;
        throw InputError(
            std::string("--") + key,
            "goes with --synthetic best or a technique, not with " + sampling.synthetic);
      }
    }
    const std::string axis = choice(values, "over", {"row", "batch-size", "log2-batch-size"});
    sampling.axis = axis == "row"          ? SampleAxis::kRow
                    : axis == "batch-size" ? SampleAxis::kBatchSize
                                           : SampleAxis::kLog2BatchSize;
    sampling.between = static_cast<int>(whole_option(values, "amplify", 1, 100)) - 1;
    const SampleSet samples = draw_samples(table, sampling);
    for (const std::string& note : samples.notes) say(common, note);
    const ClusteringResult result = cluster_samples(samples, options);
    for (const std::string& note : result.notes) say(common, note);
    clusters = result.clusters;
    if (values.count("samples") != 0) table_of_samples = samples_csv(samples);
    found = fmt::format(
        "{} profiles, {} of them synthetic; inertia {:.0f}{}\n", samples.profiles.size(),
        std::count(samples.measured.begin(), samples.measured.end(), false), result.inertia,
        options.start.empty()
            ? fmt::format(", the best of {} starts", options.restarts)
            : (result.start_was_fixed
                   ? ", from the given centres, a fixed point"
                   : fmt::format(", {} moves from the given centres", result.iterations)));
    if (about.empty()) {
      const auto made = std::count(samples.measured.begin(), samples.measured.end(), false);
      about = fmt::format("{} clusters of {} profiles", options.k, samples.profiles.size());
      if (made > 0) about += fmt::format(", {} of them synthetic ({})", made, sampling.synthetic);
    }
  } else {
    for (const char* key : {"samples", "centres", "distance-centres"}) {
      if (values.count(key) != 0) {
        throw InputError(std::string("--") + key, "goes with --profiles");
      }
    }
    for (const char* key : {"synthetic", "over", "amplify", "clusters", "restarts", "seed"}) {
      if (!values[key].defaulted()) {
        throw InputError(std::string("--") + key, "goes with --profiles");
      }
    }
    if (options.standardise) throw InputError("--standardise", "goes with --profiles");
    clusters = knowledge_of(values["like"].as<std::string>()).kb.clustering();
    if (!values["uncertainty"].defaulted()) clusters.rule = options.rule;
    if (about.empty()) about = "clusters of " + values["like"].as<std::string>();
  }

  KnowledgeFile file{KnowledgeBase(std::move(clusters), *decay), about, {}};
  learn_all(file, list_option(values, "coruns"), common);
  std::string shown = knowledge_output(file, common);
  if (common.format == Format::kTable) shown = found + shown;
  write_knowledge_file(output, file, "--output");
  if (!table_of_samples.empty()) {
    write_file_atomically(values["samples"].as<std::string>(), table_of_samples);
  }
  say(common, "wrote " + printable(output, 200));
  std::cout << shown;
  return kDone;
}

// ---- show ---------------------------------------------------------------------------------------

int show(const std::vector<std::string>& arguments) {
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
  command.own.add_options()("figure", po::value<std::string>(), "write box plots to this SVG");
  CommonOptions common;
  const auto parsed = parse_command_line(command, arguments, common);
  if (!parsed) return kDone;
  choose_device(common.device);
  const std::string name = parsed->count("kb") != 0 ? (*parsed)["kb"].as<std::string>() : "jrs";
  if (common.output) {
    throw InputError("--output", "corun kb show prints; write its figure with --figure FILE");
  }
  const KnowledgeFile file = knowledge_of(name);
  const std::string shown = knowledge_output(file, common);
  if (parsed->count("figure") != 0) {
    const std::string figure = (*parsed)["figure"].as<std::string>();
    check_outputs_differ({{"--figure", figure}}, {{"corun kb show", name}});
    write_file_atomically(checked_output_path(figure, "--figure"),
                          knowledge_figure(file.kb, file.about.empty() ? name : file.about));
  }
  std::cout << shown;
  return kDone;
}

// ---- assign -------------------------------------------------------------------------------------

int assign(const std::vector<std::string>& arguments) {
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
    throw InputError("corun kb assign", "assign what? Give --profiles FILE");
  }
  const std::string name = parsed->count("kb") != 0 ? (*parsed)["kb"].as<std::string>() : "jrs";
  const std::string profiles =
      find_input_file((*parsed)["profiles"].as<std::string>(), common, "--profiles");
  if (common.output) {
    check_outputs_differ({{"--output", *common.output}},
                         {{"--profiles", profiles}, {"corun kb assign", name}});
  }
  const KnowledgeBase kb = knowledge_of(name).kb;
  const ProfileTable table = read_profile_csv(profiles);
  const AssignmentTable rows = assign_profiles(kb.clustering(), table);
  emit(common,
       common.format == Format::kJson
           ? assignment_json(rows).dump(2, ' ', false, Json::error_handler_t::replace) + "\n"
       : common.format == Format::kCsv ? assignment_csv(rows)
                                       : assignment_table(rows));
  return kDone;
}

// ---- update -------------------------------------------------------------------------------------

int update(const std::vector<std::string>& arguments) {
  CommandLine command;
  command.name = "kb update";
  command.usage = "corun kb update KB.yaml [--coruns FILE ...] [--merge KB.yaml ...] [options]";
  command.summary =
      "Teaches a knowledge base file more co-runs, or what another box has learnt over the same\n"
      "clusters. The file changes as a whole or not at all, whatever stops the program; several\n"
      "updates at once wait for each other; a file of co-runs that is already in is left out.";
  command.examples =
      "  corun kb build -o kb.yaml && corun kb update kb.yaml --coruns examples/mine.corun.csv\n";
  command.positional = "kb";
  command.configured = false;
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
    throw InputError("corun kb update", "learn what? Give --coruns FILE or --merge KB.yaml");
  }
  std::string shown;
  update_knowledge_file(
      path,
      [&](KnowledgeFile& file) {
        for (const std::string& name : others) {
          for (const std::string& note : merge_knowledge(file, knowledge_of(name), name)) {
            say(common, note);
          }
        }
        learn_all(file, coruns, common);
        shown = knowledge_output(file, common);
      },
      "corun kb update");
  std::cout << shown;
  return kDone;
}

struct Word {
  std::string_view name;
  std::string_view summary;
  int (*run)(const std::vector<std::string>&);
};

constexpr std::array<Word, 5> kWords{{
    {"build", "from solo profiles and measured co-runs to a knowledge base", build},
    {"show", "what it knows: clusters, ISD and PS by pair of clusters, box plots", show},
    {"assign", "cluster and uncertainty of profiles", assign},
    {"update", "teach it more co-runs, or what another box has learnt", update},
    {"eval", "how well each step works: the papers' claims, one by one", kb_eval_command},
}};

}  // namespace

int kb_command(const std::vector<std::string>& arguments) {
  const std::string word = arguments.empty() ? "" : arguments.front();
  for (const Word& w : kWords) {
    if (w.name == word) return w.run({arguments.begin() + 1, arguments.end()});
  }
  if (word == "--help" || word == "-h") {
    std::cout << "usage: corun kb WORD [options]\n\nThe knowledge base of PriRecT and JRS.\n\n";
    for (const Word& w : kWords) std::cout << fmt::format("  {:<8}{}\n", w.name, w.summary);
    std::cout
        << "\n`corun kb WORD --help` teaches each of them.\n\nExamples:\n  corun kb show jrs\n";
    return kDone;
  }
  std::vector<std::string_view> known;
  for (const Word& w : kWords) known.push_back(w.name);
  throw InputError(
      "corun kb", word.empty() ? "do what? There is: " + fmt::format("{}", fmt::join(known, ", "))
                               : "no word '" + printable(word) + "': " + did_you_mean(word, known));
}

}  // namespace corun
