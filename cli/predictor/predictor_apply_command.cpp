#include <algorithm>
#include <array>
#include <cmath>
#include <iostream>
#include <map>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cli/model/model_options.hpp"
#include "cli/note.hpp"
#include "cli/predictor/predictor_commands.hpp"
#include "cli/predictor/predictor_options.hpp"
#include "predictors/tables/predictor_file.hpp"
#include "sim/base/csv_text.hpp"
#include "sim/base/text.hpp"
#include "sim/error.hpp"
#include "support/atomic_file.hpp"
#include "traces/input_file.hpp"

/// `corun predictor apply`: predicts the jobs of a table.
namespace corun::inline cli {

namespace {

namespace po = boost::program_options;

CommandLine predictor_apply_command_line() {
  CommandLine command;
  command.name = "predictor apply";
  command.usage =
      "corun predictor apply --model FILE --jobs TABLE --out CSV [--seen TABLE] "
      "[--capacity MIB]";
  command.summary =
      "Predicts the jobs of a table: it is written back, every row in its place, with the columns\n"
      "pred (the median), pred_lo and pred_hi (90 % of single jobs lie between), in MiB, ms or\n"
      "percent. Columns of what was measured may be there or not; their numbers are checked but\n"
      "not used. A row that cannot be predicted, or is unlike the jobs that predictors learn from\n"
      "(another precision, no cuDNN), has empty cells. --capacity adds the column oom: 1 where "
      "the\n"
      "job is expected to run out of so much memory, by the limit of `corun predict`, else 0.";
  command.examples =
      "  corun predictor fit --target memory --jobs examples/measured_jobs.csv --out m.predictor "
      "&& \\\n"
      "      corun predictor apply --model m.predictor --jobs examples/measured_jobs.csv --out "
      "predicted.csv\n";
  command.configured = false;
  command.output = OutputUse::kOwn;
  auto add = command.own.add_options();
  add("model", po::value<std::string>(), "what `corun predictor fit` wrote");
  add("jobs", po::value<std::string>(), "table of jobs");
  add("out", po::value<std::string>(), "the table with predictions");
  add("seen", po::value<std::string>(),
      "table of a few measured jobs to refit the predictor first: of a new GPU type or software "
      "stack, or another batch size of a model");
  add("capacity", po::value<std::string>(),
      "for memory: MiB that jobs can have, or a GPU type of `corun list gpus`; adds the column "
      "oom");
  add_constants_option(command);
  add_gpu_types_option(command);
  return command;
}

/// The number or the GPU type's memory [MiB].
double capacity_of(const std::string& text, const GpuTypes& types) {
  constexpr double kMost = 1e9;
  if (const auto number = parse_number(text)) {
    if (*number >= 1 && *number <= kMost) return *number;
  } else if (const GpuSpec* type = types.find(text)) {
    if (type->memory_mib > 0) return type->memory_mib;
  }
  throw InputError("--capacity", "found '" + printable(text) +
                                     "', expected MiB, from 1 to 1e9, or the name of a GPU type "
                                     "with known memory; corun list gpus shows them");
}

std::vector<std::string> added_columns(bool with_oom) {
  std::vector<std::string> names{"pred", "pred_lo", "pred_hi"};
  if (with_oom) names.emplace_back("oom");
  return names;
}

/// `oom`: one entry per row, or none.
std::string table_with_predictions(const JobTable& table,
                                   const std::vector<Prediction>& predictions,
                                   const std::vector<bool>& oom) {
  std::string text;
  for (const std::string& name : table.header) text += csv_text(name) + ",";
  text += fmt::format("{}\n", fmt::join(added_columns(!oom.empty()), ","));
  for (std::size_t r = 0; r < table.rows.size(); ++r) {
    for (const std::string& field : table.fields[r]) text += csv_text(field) + ",";
    const Prediction& p = predictions[r];
    text += csv_number(p.median) + "," + csv_number(p.lo) + "," + csv_number(p.hi);
    if (!oom.empty()) text += std::isnan(p.median) ? "," : oom[r] ? ",1" : ",0";
    text += "\n";
  }
  return text;
}

/// Empties the rows that are unlike what predictors learn from, and says so. Returns their number.
std::size_t leave_unlike(const CommonOptions& common, const JobTable& table,
                         std::vector<Prediction>& predictions) {
  std::map<std::string, std::size_t> reasons;
  std::size_t left = 0;
  for (std::size_t r = 0; r < table.rows.size(); ++r) {
    if (table.rows[r].unlike.empty()) continue;
    ++reasons[table.rows[r].unlike];
    ++left;
    predictions[r] = {};
  }
  std::string counts;
  for (const auto& [reason, count] : reasons) {
    counts += fmt::format("{}{} {}", counts.empty() ? "" : ", ", count, reason);
  }
  if (left > 0) {
    note(common, fmt::format("{} of {} rows are left empty: {}; predictors of {} do not learn from "
                             "such jobs",
                             left, table.rows.size(), counts, name_of(table.target)));
  }
  return left;
}

/// Columns that rows without prediction lack, as the table calls them.
std::vector<std::string> lacking_columns(const Predictor& predictor, const JobTable& table,
                                         const std::vector<Prediction>& predictions) {
  std::vector<std::string> columns;
  for (std::size_t r = 0; r < table.rows.size(); ++r) {
    if (!std::isnan(predictions[r].median) || !table.rows[r].unlike.empty()) continue;
    for (const std::string_view figure : predictor.lacking(table.rows[r].job)) {
      std::string column(table.form->column_of(figure));
      if (std::ranges::find(columns, column) == columns.end()) columns.push_back(std::move(column));
    }
  }
  return columns;
}

}  // namespace

int predictor_apply_command(const std::vector<std::string>& arguments) {
  CommonOptions common;
  const auto parsed = parse_command_line(predictor_apply_command_line(), arguments, common);
  if (!parsed) return kDone;
  const std::string name = "corun predictor apply";
  const std::string model =
      find_input_file(needed_option(*parsed, "model", name, "FILE"), common, "--model");
  const std::string jobs =
      find_input_file(needed_option(*parsed, "jobs", name, "TABLE"), common, "--jobs");
  const std::string output = model_output_option(*parsed, common, name, "CSV");
  check_name(output, "--out", {"csv"});
  std::vector<NamedFile> inputs{{"--model", model}, {"--jobs", jobs}};
  std::string seen;
  if (parsed->count("seen") != 0) {
    seen = find_input_file((*parsed)["seen"].as<std::string>(), common, "--seen");
    inputs.push_back({"--seen", seen});
  }
  const GpuTypes types = gpu_types_option(*parsed, common, inputs);
  check_outputs_differ({{"--out", output}}, inputs);
  constexpr std::array kParts{PhysicsPart::kProbes};
  const PhysicsConstants constants = constants_option(*parsed, kParts);
  if (parsed->count("constants") != 0 && seen.empty()) {
    throw InputError("--constants",
                     "goes with --seen: a predictor that is only applied has its own");
  }
  const PredictorFile file = read_predictor_file(model);
  const Target target = file.predictor->target();
  double capacity = 0;
  if (parsed->count("capacity") != 0) {
    if (target != Target::kMemory) {
      throw InputError("--capacity",
                       fmt::format("goes with a predictor of memory, and {} predicts {}",
                                   shown_path(model), name_of(target)));
    }
    capacity = capacity_of((*parsed)["capacity"].as<std::string>(), types);
  }
  const JobTable table = read_job_table(jobs, target, types, true);
  for (const std::string& column : added_columns(capacity > 0)) {
    if (std::ranges::find(table.header, column) != table.header.end()) {
      throw InputError(table.source + ":1:1", "has a column '" + column +
                                                  "' already, which would be there twice; "
                                                  "rename or remove it");
    }
  }
  std::shared_ptr<const Predictor> predictor = file.predictor;
  if (!seen.empty()) {
    const std::vector<MeasuredJob> measured = read_job_table(seen, target, types).measured();
    try {
      predictor = file.predictor->with_seen(measured, constants);
    } catch (const std::invalid_argument& e) {
      throw InputError(seen, e.what());
    }
    note(common, fmt::format("refitted on {} jobs", measured.size()));
  }
  std::vector<PredictorJob> described;
  for (const JobTableRow& row : table.rows) described.push_back(row.job);
  std::vector<Prediction> predictions = predictor->predict(described);
  const std::size_t unlike = leave_unlike(common, table, predictions);
  std::size_t missing = 0;
  for (const Prediction& p : predictions) missing += std::isnan(p.median) ? 1 : 0;
  std::vector<bool> oom;
  for (std::size_t r = 0; capacity > 0 && r < described.size(); ++r) {
    oom.push_back(predictor->runs_out(described[r], predictions[r], capacity));
  }
  write_outputs({{"--out", output, table_with_predictions(table, predictions, oom)}},
                common.existing);
  note_missing(common, missing - unlike, predictions.size(),
               lacking_columns(*predictor, table, predictions));
  std::cout << fmt::format("{} jobs: {} predicted [{}], with 90 % intervals\n",
                           predictions.size() - missing, name_of(target), unit_of(target));
  return kDone;
}

}  // namespace corun::inline cli
