#include <algorithm>
#include <iostream>
#include <set>
#include <sstream>
#include <utility>

#include <fmt/format.h>

#include "experiments/base/atomic_file.hpp"
#include "experiments/commands/model/model_commands.hpp"
#include "experiments/commands/model/model_options.hpp"
#include "experiments/commands/note.hpp"
#include "experiments/evaluation/table_prediction.hpp"
#include "experiments/inputs/file_kind.hpp"
#include "experiments/knowledge/model_file.hpp"
#include "models/scoring/device.hpp"
#include "sim/error.hpp"

/// `corun model predict`: predicts a table of pairs with a fitted model.
namespace corun {

namespace {

namespace po = boost::program_options;

CommandLine predict_command_line() {
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
  command.output = OutputUse::kOwn;
  auto add = command.own.add_options();
  add("model", po::value<std::string>(), "what `corun model fit` wrote");
  add("pairs", po::value<std::string>(), "table of pairs of the form it was fitted on");
  add("out", po::value<std::string>(), "the table with predictions");
  return command;
}

/// A note on the number of the table's jobs that the model has not seen, by the digests in its
/// file. Models that use features alone keep no digests.
std::string unseen_jobs(const ModelFile& file, const PairTable& table) {
  const std::set<std::string> seen(file.workloads.begin(), file.workloads.end());
  if (seen.empty()) return file.name + " uses features only";
  const auto unseen = std::ranges::count_if(
      table.names, [&](const std::string& name) { return !seen.contains(workload_digest(name)); });
  return fmt::format("{} of the jobs never measured", unseen);
}

}  // namespace

int model_predict_command(const std::vector<std::string>& arguments) {
  CommonOptions common;
  const auto parsed = parse_command_line(predict_command_line(), arguments, common);
  if (!parsed) return kDone;
  choose_device(common.device);
  for (const char* key : {"model", "pairs"}) {
    if (parsed->count(key) == 0) {
      throw InputError("corun model predict", std::string("--") + key + " is missing");
    }
  }
  const std::string output = model_output_option(*parsed, common, "corun model predict", "OUT.csv");
  check_name(output, "--out", {"csv"});
  const std::string model_path =
      find_input_file((*parsed)["model"].as<std::string>(), common, "--model");
  const std::string pairs =
      find_input_file((*parsed)["pairs"].as<std::string>(), common, "--pairs");
  check_outputs_differ({{"--out", output}}, {{"--model", model_path}, {"--pairs", pairs}});

  check_kind(pairs, {FileKind::kPairs}, "a table of pairs of jobs");
  WorkloadKeys keys;
  const PairTable table = read_pair_table(pairs, keys);
  for (const std::string& text : table.notes) note(common, text);
  const ModelFile file = read_model_file(model_path, keys, table.names);
  const auto predictions = predict_table(*file.model, table);
  std::ostringstream text;
  write_predictions(text, table, predictions);
  write_outputs({{"--out", output, std::move(text).str()}}, common.existing);
  std::cout << fmt::format("{} pairs of {} jobs predicted, {}\n", predictions.size(),
                           table.speeds.jobs.size(), unseen_jobs(file, table));
  return kDone;
}

}  // namespace corun
