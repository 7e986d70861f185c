#include <cmath>
#include <iostream>
#include <stdexcept>
#include <utility>

#include <fmt/format.h>

#include "experiments/base/atomic_file.hpp"
#include "experiments/commands/model/model_options.hpp"
#include "experiments/commands/note.hpp"
#include "experiments/commands/predictor/predictor_commands.hpp"
#include "experiments/commands/predictor/predictor_options.hpp"
#include "experiments/predictors/predictor_file.hpp"
#include "sim/base/csv_text.hpp"
#include "sim/error.hpp"

/// `corun predictor apply`: predicts the jobs of a table.
namespace corun {

namespace {

namespace po = boost::program_options;

CommandLine predictor_apply_command_line() {
  CommandLine command;
  command.name = "predictor apply";
  command.usage = "corun predictor apply --model FILE --jobs TABLE --out CSV [--seen TABLE]";
  command.summary =
      "Predicts the jobs of a table: it is written back, every row in its place, with the columns\n"
      "pred (the median), pred_lo and pred_hi (90 % of single jobs lie between), in MiB, ms or\n"
      "percent. Columns of what was measured may be there or not; they are not used. A row that\n"
      "cannot be predicted has empty cells.";
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
  add_gpu_types_option(command);
  return command;
}

std::string table_with_predictions(const JobTable& table,
                                   const std::vector<Prediction>& predictions) {
  std::string text;
  for (const std::string& name : table.header) text += csv_text(name) + ",";
  text += "pred,pred_lo,pred_hi\n";
  for (std::size_t r = 0; r < table.rows.size(); ++r) {
    for (const std::string& field : table.fields[r]) text += csv_text(field) + ",";
    const Prediction& p = predictions[r];
    text += csv_number(p.median) + "," + csv_number(p.lo) + "," + csv_number(p.hi) + "\n";
  }
  return text;
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
  check_outputs_differ({{"--out", output}}, inputs);
  const GpuTypes types = gpu_types_option(*parsed, common);
  const PredictorFile file = read_predictor_file(model);
  const Target target = file.predictor->target();
  const JobTable table = read_job_table(jobs, target, types, true);
  std::shared_ptr<const Predictor> predictor = file.predictor;
  if (!seen.empty()) {
    const std::vector<MeasuredJob> measured = read_job_table(seen, target, types).measured();
    try {
      predictor = file.predictor->with_seen(measured);
    } catch (const std::invalid_argument& e) {
      throw InputError(seen, e.what());
    }
    note(common, fmt::format("refitted on {} jobs", measured.size()));
  }
  std::vector<PredictorJob> described;
  for (const JobTableRow& row : table.rows) described.push_back(row.job);
  const std::vector<Prediction> predictions = predictor->predict(described);
  std::size_t missing = 0;
  for (const Prediction& p : predictions) missing += std::isnan(p.median) ? 1 : 0;
  write_outputs({{"--out", output, table_with_predictions(table, predictions)}}, common.existing);
  note_missing(common, missing, predictions.size());
  std::cout << fmt::format("{} jobs: {} predicted [{}], with 90 % intervals\n",
                           predictions.size() - missing, name_of(target), unit_of(target));
  return kDone;
}

}  // namespace corun
