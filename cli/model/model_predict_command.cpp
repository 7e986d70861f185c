#include <algorithm>
#include <iostream>
#include <set>
#include <sstream>
#include <utility>

#include <fmt/format.h>

#include "cli/model/model_commands.hpp"
#include "cli/model/model_options.hpp"
#include "cli/note.hpp"
#include "evaluation/table_prediction.hpp"
#include "knowledge/model_file.hpp"
#include "models/scoring/device.hpp"
#include "runner/inputs/file_kind.hpp"
#include "sim/base/text.hpp"
#include "sim/error.hpp"
#include "support/atomic_file.hpp"
#include "traces/tables/predictions_csv.hpp"

/// `corun model predict`: predicts a table of pairs with a fitted model.
namespace corun::inline cli {

namespace {

namespace po = boost::program_options;

CommandLine predict_command_line() {
  CommandLine command;
  command.name = "model predict";
  command.usage =
      "corun model predict --model MODEL --pairs IN.csv | --groups IN.csv --out OUT.csv";
  command.summary =
      "Predicts the normalised speeds of pairs of jobs: the table is written back, every row in "
      "its\n"
      "place (of FILE.corun.csv a table of its pairs), with pred_norm_a, pred_norm_b (the speed "
      "of\n"
      "each beside the other) and their standard deviations pred_sd_a, pred_sd_b. A table of "
      "groups\n"
      "gets pred_norm, the speed of the row's job beside all others of its group, and pred_sd.\n"
      "Columns of outcomes may be there or not; they are not used.";
  command.examples =
      "  corun model fit --pairs examples/mine.corun.csv --out m.model && corun model predict \\\n"
      "      --model m.model --pairs examples/mine.corun.csv --out predicted.csv\n"
      "  corun model fit --groups examples/groups.csv --out g.model && corun model predict \\\n"
      "      --model g.model --groups examples/groups.csv --out groups-predicted.csv\n";
  command.configured = false;
  command.output = OutputUse::kOwn;
  auto add = command.own.add_options();
  add("model", po::value<std::string>(),
      "what `corun model fit` wrote, or prefitted: what comes with corun");
  add("pairs", po::value<std::string>(),
      "table of pairs or groups; features that the model does not know are ignored");
  add("groups", po::value<std::string>(), "table of groups of two jobs and more");
  add("out", po::value<std::string>(), "the table with predictions");
  return command;
}

/// A note on the number of the table's jobs that the model has not seen, by the digests in its
/// file. Models that use features alone keep no digests.
std::string unseen_jobs(const ModelFile& file, const std::vector<std::string>& names) {
  const std::set<std::string> seen(file.workloads.begin(), file.workloads.end());
  if (seen.empty()) return file.name + " uses features only";
  const auto unseen = std::ranges::count_if(
      names, [&](const std::string& name) { return !seen.contains(workload_digest(name)); });
  return fmt::format("{} of the jobs never measured", unseen);
}

void note_features(const ModelFile& file, const SpeedTable& table, const std::string& source,
                   const CommonOptions& common) {
  for (const std::string& text : check_features(*file.model, table, source)) note(common, text);
}

struct Predicted {
  std::string csv;
  std::string told;
};

Predicted predicted_table(const std::string& model, const std::string& path,
                          const CommonOptions& common) {
  WorkloadKeys keys;
  Measurements table = read_measurements(path, keys);
  for (const std::string& text : table.notes) note(common, text);
  const ModelForTable read = read_model_for(model, keys, table.speeds, table.names);
  const auto predictions = predict_table(read.file.model, table);
  note_features(read.file, table.speeds, table.source, common);
  note_origin(model, *read.file.model, table.speeds, common);
  note_effort(printable(model), read.file.model->effort(), common);
  std::ostringstream text;
  write_predictions(text, table, predictions);
  return {std::move(text).str(),
          fmt::format("{} {} of {} jobs predicted, {}\n",
                      table.speeds.rows.size() + table.speeds.groups.size(),
                      table.lines.empty() ? "pairs" : "groups", table.speeds.jobs.size(),
                      unseen_jobs(read.file, read.names))};
}

}  // namespace

int model_predict_command(const std::vector<std::string>& arguments) {
  CommonOptions common;
  const auto parsed = parse_command_line(predict_command_line(), arguments, common);
  if (!parsed) return kDone;
  choose_device(common.device);
  if (parsed->count("model") == 0) throw InputError("corun model predict", "--model is missing");
  if (parsed->count("pairs") + parsed->count("groups") != 1) {
    throw InputError("corun model predict", "needs one table; give --pairs FILE or --groups FILE");
  }
  const bool has_groups = parsed->count("groups") != 0;
  const std::string option = has_groups ? "--groups" : "--pairs";
  const std::string output = model_output_option(*parsed, common, "corun model predict", "OUT.csv");
  check_name(output, "--out", {"csv"});
  const std::string model_path = find_fitted_model((*parsed)["model"].as<std::string>(), common);
  const std::string path =
      find_input_file((*parsed)[has_groups ? "groups" : "pairs"].as<std::string>(), common, option);
  std::vector<NamedFile> inputs = as_inputs({model_path});
  inputs.push_back({option, path});
  check_outputs_differ({{"--out", output}}, inputs);
  if (has_groups) {
    check_kind(path, {FileKind::kGroups}, "a table of groups of jobs");
  } else {
    check_kind(path, {FileKind::kPairs, FileKind::kGroups}, "a table of co-runs");
  }
  const Predicted predicted = predicted_table(model_path, path, common);
  write_outputs({{"--out", output, predicted.csv}}, common.existing);
  std::cout << predicted.told;
  return kDone;
}

}  // namespace corun::inline cli
