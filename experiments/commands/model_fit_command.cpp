#include <algorithm>
#include <array>
#include <cmath>
#include <iostream>
#include <limits>
#include <set>
#include <sstream>
#include <stdexcept>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "experiments/base/atomic_file.hpp"
#include "experiments/base/json.hpp"
#include "experiments/commands/model_words.hpp"
#include "experiments/knowledge/model_file.hpp"
#include "models/device.hpp"
#include "sim/base/text.hpp"
#include "sim/error.hpp"
#include "traces/pair_table.hpp"

/// `corun model fit` and `corun model predict`: what pairs of jobs cost each other, learnt from measured
/// pairs.
namespace corun {

namespace {

namespace po = boost::program_options;
/// What predicts a table: its features must be those that the model was fitted on.
void check_features(const InterferenceModel& model, const PairTable& table) {
  if (model.features() == table.speeds.features) return;
  std::vector<std::string> ours, theirs;
  for (const auto& f : model.features()) ours.push_back(f.name);
  for (const auto& f : table.speeds.features) theirs.push_back(f.name);
  throw InputError(table.source,
                   fmt::format("its features are {}, the model was fitted on {}; predict tables of "
                               "the form it was fitted on",
                               fmt::join(theirs, ", "), fmt::join(ours, ", ")));
}

/// Jobs that have a row.
std::size_t measured_jobs(const SpeedTable& table) {
  std::set<std::uint32_t> seen;
  for (const SpeedTable::Row& row : table.rows) {
    if (std::isnan(row.speed_a) && std::isnan(row.speed_b)) continue;
    seen.insert(row.a);
    seen.insert(row.b);
  }
  return seen.size();
}

}  // namespace

int model_fit(const std::vector<std::string>& arguments) {
  CommandLine command;
  command.name = "model fit";
  command.usage = "corun model fit --pairs FILE [--pairs FILE ...] --out MODEL [options]";
  command.summary =
      "Learns what pairs of jobs cost each other from tables of measured pairs (Lucid's, Gavel's, "
      "or\n"
      "*.corun.csv; docs/formats.md) and keeps it in a file for `corun model predict`. One model\n"
      "serves jobs that were measured in other company and jobs that were never measured.";
  command.examples =
      "  corun model fit --pairs examples/mine.corun.csv --out mine.model\n"
      "  corun model fit --pairs lucid/lucid_pairs.csv --out lucid.model    needs --data\n";
  command.configured = false;
  auto add = command.own.add_options();
  add("pairs", po::value<std::vector<std::string>>()->composing(),
      "table of measured pairs; once for each");
  add("out", po::value<std::string>(), "the model");
  add("model", po::value<std::string>()->default_value("default"),
      "which, of `corun list models`; the default is the first of them");
  add("seed", po::value<std::string>()->default_value("1"), "of the fit's draws");
  CommonOptions common;
  const auto parsed = parse_command_line(command, arguments, common);
  if (!parsed) return kDone;
  choose_device(common.device);
  const std::vector<std::string> pairs = list_option(*parsed, "pairs");
  if (pairs.empty()) throw InputError("corun model fit", "from what? Give --pairs FILE");
  const std::string name = (*parsed)["model"].as<std::string>();
  const InterferenceModelEntry* entry = find_interference_model(name);
  if (entry == nullptr) {
    std::vector<std::string_view> known{"default"};
    for (const InterferenceModelEntry& e : interference_model_catalog()) known.push_back(e.name);
    throw InputError("--model", "found '" + printable(name) + "': " + did_you_mean(name, known));
  }
  // --output is the same flag by the name that all commands have.
  if (parsed->count("out") != 0 && common.output) {
    throw InputError("--out", "is another name of --output; give one of them");
  }
  const auto out =
      parsed->count("out") != 0 ? std::optional((*parsed)["out"].as<std::string>()) : common.output;
  if (!out) throw InputError("corun model fit", "where to? Give --out MODEL");
  const std::string output = checked_output_path(*out, "--out");
  std::vector<NamedFile> inputs;
  for (const std::string& path : pairs) inputs.push_back({"--pairs", path});
  check_outputs_differ({{"--out", output}}, inputs);
  const std::int64_t seed =
      whole_option(*parsed, "seed", 0, std::numeric_limits<std::int64_t>::max());

  if (std::ranges::find(pairs, "papers-published") != pairs.end()) {
    throw InputError("--pairs",
                     "papers-published says what `corun model eval --split` scores; what is "
                     "fitted on is 'papers'");
  }
  WorkloadKeys keys;
  const PairTable table = read_pair_tables(pairs, common, keys);
  FitOptions options;
  options.seed = static_cast<std::uint64_t>(seed);
  options.threads = static_cast<int>(common.threads);
  std::shared_ptr<const InterferenceModel> model;
  try {
    model = entry->fit(table.speeds, options);
  } catch (const std::invalid_argument& e) {
    throw InputError(table.source, e.what());
  }
  const std::size_t jobs = measured_jobs(table.speeds);
  const std::string about =
      fmt::format("{} rows of {} jobs, seed {}", table.speeds.rows.size(), jobs, seed);
  write_model_file(output, {std::string(entry->name), model, workload_digests(*model, keys), about},
                   "--out");
  const std::size_t measured =
      static_cast<std::size_t>(std::count(table.scored.begin(), table.scored.end(), true));
  if (common.format == Format::kJson) {
    std::cout << Json{{"model", entry->name}, {"pairs", measured}, {"jobs", jobs}}.dump(2) << "\n";
  } else {
    std::cout << fmt::format("{}, fitted on {} measured pairs of {} jobs\n", entry->name, measured,
                             jobs);
  }
  if (!common.quiet) std::cerr << "note: wrote " << printable(output, 200) << "\n";
  return kDone;
}

int model_predict(const std::vector<std::string>& arguments) {
  CommandLine command;
  command.name = "model predict";
  command.usage = "corun model predict --model MODEL --pairs IN.csv --out OUT.csv";
  command.summary =
      "Predicts the normalised speeds of pairs of jobs: the table is written back, every row in "
      "its\n"
      "place, with pred_norm_a, pred_norm_b (the speed of each beside the other) and their "
      "standard\n"
      "deviations pred_sd_a, pred_sd_b. Columns of outcomes may be there or not; they are not "
      "used.";
  command.examples =
      "  corun model fit --pairs examples/mine.corun.csv --out m.model && corun model predict \\\n"
      "      --model m.model --pairs examples/mine.corun.csv --out predicted.csv\n";
  command.configured = false;
  auto add = command.own.add_options();
  add("model", po::value<std::string>(), "what `corun model fit` wrote");
  add("pairs", po::value<std::string>(), "table of pairs of the form it was fitted on");
  add("out", po::value<std::string>(), "the table with predictions");
  CommonOptions common;
  const auto parsed = parse_command_line(command, arguments, common);
  if (!parsed) return kDone;
  choose_device(common.device);
  for (const char* key : {"model", "pairs"}) {
    if (parsed->count(key) == 0) {
      throw InputError("corun model predict", std::string("--") + key + " is missing");
    }
  }
  if (parsed->count("out") != 0 && common.output) {
    throw InputError("--out", "is another name of --output; give one of them");
  }
  const auto out =
      parsed->count("out") != 0 ? std::optional((*parsed)["out"].as<std::string>()) : common.output;
  if (!out) throw InputError("corun model predict", "where to? Give --out OUT.csv");
  const std::string output = checked_output_path(*out, "--out");
  const std::string model_path =
      find_input_file((*parsed)["model"].as<std::string>(), common, "--model");
  const std::string pairs =
      find_input_file((*parsed)["pairs"].as<std::string>(), common, "--pairs");
  check_outputs_differ({{"--out", output}}, {{"--model", model_path}, {"--pairs", pairs}});

  WorkloadKeys keys;
  const PairTable table = read_pair_table(pairs, keys);
  const ModelFile file = read_model_file(model_path, keys, table.names);
  const InterferenceModel& model = *file.model;
  check_features(model, table);
  std::vector<PairJob> jobs;
  for (std::size_t j = 0; j < table.speeds.jobs.size(); ++j) {
    jobs.push_back({table.speeds.jobs[j], {table.speeds.of(j), table.speeds.features.size()}});
  }
  std::vector<PairQuery> queries;
  for (const SpeedTable::Row& row : table.speeds.rows) {
    queries.push_back({row.a, row.b});
    queries.push_back({row.b, row.a});
  }
  std::vector<SpeedPrediction> speeds;
  try {
    speeds = model.predict(jobs, queries);
  } catch (const std::invalid_argument& e) {
    throw InputError(table.source, e.what());
  }
  std::vector<std::array<double, 4>> predictions;
  for (std::size_t r = 0; r < table.speeds.rows.size(); ++r) {
    const SpeedPrediction& a = speeds[2 * r];
    const SpeedPrediction& b = speeds[2 * r + 1];
    predictions.push_back({a.speed, b.speed, a.sd, b.sd});
  }
  std::ostringstream text;
  write_predictions(text, table, predictions);
  write_file_atomically(output, text.str());
  // By the files' digests: models that go by features alone keep no keys.
  const std::set<std::string> seen(file.workloads.begin(), file.workloads.end());
  const auto unseen = std::ranges::count_if(
      table.names, [&](const std::string& name) { return !seen.contains(workload_digest(name)); });
  std::cout << fmt::format("{} pairs of {} jobs predicted, {}\n", predictions.size(),
                           table.speeds.jobs.size(),
                           seen.empty() ? file.name + " goes by features alone"
                                        : fmt::format("{} of the jobs never measured", unseen));
  return kDone;
}

}  // namespace corun
