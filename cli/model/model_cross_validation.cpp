#include <algorithm>
#include <array>
#include <set>
#include <string_view>

#include <nlohmann/json.hpp>

#include "cli/model/model_commands.hpp"
#include "cli/model/model_options.hpp"
#include "cli/note.hpp"
#include "evaluation/pair_evaluation_output.hpp"
#include "evaluation/table_prediction.hpp"
#include "sim/base/text.hpp"
#include "sim/error.hpp"
#include "support/atomic_file.hpp"
#include "support/json.hpp"
#include "support/progress.hpp"

/// `corun model eval --split ...`: cross-validation of interference models over tables of pairs.
namespace corun::inline cli {

namespace {

/// The requested splits that the table allows.
std::vector<PairSplit> splits_of(const std::string& asked, const Measurements& table) {
  const std::set<std::string> families(table.families.begin(), table.families.end());
  const bool has_families = families.size() > 1 && !families.contains("");
  std::vector<PairSplit> splits;
  for (const PairSplit s : {PairSplit::kPairs, PairSplit::kJob, PairSplit::kFamily}) {
    const bool possible = s != PairSplit::kFamily || has_families;
    if (asked == name_of(s) || (asked == "all" && possible)) splits.push_back(s);
  }
  if (splits.empty()) {
    constexpr std::array<std::string_view, 4> kKnown{"pairs", "job", "family", "all"};
    throw InputError("--split", "found '" + printable(asked) + "': " + did_you_mean(asked, kKnown));
  }
  return splits;
}

/// InputError if an output is also an input.
void check_files(const CrossValidation& asked, const CommonOptions& common,
                 const std::vector<std::string>& models, const std::string& figure) {
  std::vector<NamedFile> outputs;
  if (!figure.empty()) outputs.push_back({"--figure", figure});
  if (common.output) outputs.push_back({"--output", *common.output});
  std::vector<NamedFile> inputs = as_inputs(models);
  for (const std::string& path : asked.tables) {
    if (papers_named(path)) continue;
    inputs.push_back({"--pairs", find_input_file(path, common, "--pairs")});
  }
  check_outputs_differ(outputs, inputs);
}

/// Evaluates every split at every point of the curves; 0 rows means all.
std::vector<PairEvaluation> evaluate_all(const CrossValidation& asked, const Measurements& table,
                                         const std::vector<PairSplit>& splits,
                                         PairEvaluationOptions options, bool quiet) {
  const auto or_none = [](const std::vector<std::size_t>& points) {
    return points.empty() ? std::vector<std::size_t>{0} : points;
  };
  std::vector<PairEvaluation> all;
  for (const PairSplit split : splits) {
    for (const std::size_t rows : or_none(asked.rows)) {
      for (const std::size_t probes : or_none(asked.probes)) {
        options.rows = rows;
        options.probes = probes;
        Progress progress("fitting", quiet);
        all.push_back(evaluate_pairs(table, split, options, [&](std::size_t done, std::size_t of) {
          progress.update(done, of);
        }));
      }
    }
  }
  return all;
}

PairFigure figure_of(const CrossValidation& asked) {
  if (asked.rows.size() > 1) return PairFigure::kOverRows;
  return asked.probes.size() > 1 ? PairFigure::kOverProbes : PairFigure::kCalibration;
}

}  // namespace

int model_cross_validate(const CrossValidation& asked, const CommonOptions& common) {
  WorkloadKeys keys;
  const Measurements table = read_pair_tables(asked.tables, common, keys);
  const std::vector<PairSplit> splits = splits_of(asked.split, table);
  if (!table.speeds.groups.empty()) {
    note(common, std::to_string(table.speeds.groups.size()) +
                     " groups of more than two jobs are left out: pairs are judged");
  }
  if (!asked.probes.empty() && asked.split != "job" && asked.split != "family") {
    throw InputError("--probes", "goes with --split job or family, which hold out jobs");
  }
  PairEvaluationOptions options;
  const ModelsAsked models = models_asked(asked.models, common);
  options.models = models.models;
  options.fitted = read_fitted_models(models.files, common, keys);
  for (std::size_t m = 0; m < options.fitted.size(); ++m) {
    const FittedModel& fitted = options.fitted[m];
    for (const std::string& text : check_features(*fitted.model, table.speeds, table.source)) {
      note(common, fitted.name + ": " + text);
    }
    note_origin(models.files[m], *fitted.model, table.speeds, common);
  }
  options.seed = asked.seed;
  options.effort = asked.effort;
  note_fits(options.models, options.effort, common);
  options.queues = asked.queues;
  options.threads = common.threads;
  const std::string figure =
      asked.figure.empty() ? "" : checked_output_path(asked.figure, "--figure");
  check_files(asked, common, models.files, figure);
  check_name(figure, "--figure", {"svg"});
  const std::vector<PairEvaluation> all = evaluate_all(asked, table, splits, options, common.quiet);
  std::vector<OutputText> files;
  if (!figure.empty()) {
    files.push_back(
        {"--figure", figure, pair_evaluation_figure(all, figure_of(asked), asked.seed)});
  }
  emit(common,
       common.format == Format::kJson  ? json_text(pair_evaluation_json(all))
       : common.format == Format::kCsv ? pair_evaluation_csv(all)
                                       : pair_evaluation_table(all),
       std::move(files));
  return kDone;
}

}  // namespace corun::inline cli
