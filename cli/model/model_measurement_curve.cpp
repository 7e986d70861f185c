#include <algorithm>
#include <utility>

#include "cli/model/model_commands.hpp"
#include "cli/model/model_options.hpp"
#include "evaluation/measurement_curve.hpp"
#include "sim/error.hpp"
#include "support/atomic_file.hpp"
#include "support/progress.hpp"

/// `corun model eval --measure ...`: what the list of `corun model suggest` is worth.
namespace corun::inline cli {

int model_measurement_curve(const MeasurementCurveAsked& asked, const CommonOptions& common) {
  WorkloadKeys keys;
  const Measurements table = read_pair_tables(asked.tables, common, keys);
  const ModelsAsked models = models_asked(
      asked.models.empty() ? std::vector<std::string>{"default"} : asked.models, common);
  if (models.models.size() != 1 || !models.files.empty()) {
    throw InputError("--model",
                     "with --measure expected one model of `corun list models`, which is "
                     "fitted again and again");
  }
  std::vector<NamedFile> outputs, inputs;
  if (common.output) outputs.push_back({"--output", *common.output});
  if (!asked.figure.empty()) {
    outputs.push_back({"--figure", checked_output_path(asked.figure, "--figure")});
    check_name(asked.figure, "--figure", {"svg"});
  }
  for (const std::string& path : asked.tables) {
    if (!papers_named(path))
      inputs.push_back({"--pairs", find_input_file(path, common, "--pairs")});
  }
  check_outputs_differ(outputs, inputs);
  MeasurementCurveOptions options;
  options.model = models.models.front();
  options.seed = asked.seed;
  options.effort = asked.effort;
  note_fits({&options.model, 1}, options.effort, common);
  options.queues = asked.queues;
  options.known = asked.known;
  options.measured = asked.measured;
  options.threads = common.threads;
  Progress progress("queues", common.quiet);
  const MeasurementCurve curve = measurement_curve(
      table, options, [&](std::size_t done, std::size_t of) { progress.update(done, of); });
  std::vector<OutputText> files;
  if (!asked.figure.empty()) {
    files.push_back({"--figure", asked.figure, measurement_curve_figure(curve, asked.seed)});
  }
  emit(common,
       common.format == Format::kJson  ? measurement_curve_json(curve)
       : common.format == Format::kCsv ? measurement_curve_csv(curve)
                                       : measurement_curve_table(curve),
       std::move(files));
  return kDone;
}

}  // namespace corun::inline cli
