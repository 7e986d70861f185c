#include <algorithm>
#include <limits>
#include <string_view>

#include <fmt/format.h>

#include "cli/option_values.hpp"
#include "cli/predictor/predictor_commands.hpp"
#include "cli/predictor/predictor_options.hpp"
#include "predictors/tables/evaluation_output.hpp"
#include "sim/base/text.hpp"
#include "sim/error.hpp"
#include "support/atomic_file.hpp"
#include "support/progress.hpp"

/// `corun predictor eval`: cross-validation of predictors.
namespace corun::inline cli {

namespace {

namespace po = boost::program_options;

CommandLine predictor_eval_command_line() {
  CommandLine command;
  command.name = "predictor eval";
  command.usage =
      "corun predictor eval --target memory|time|utilisation --jobs TABLE [--split ...] [options]";
  command.summary =
      "Predicts each job of a table by a predictor that was fitted without it, and without all "
      "jobs\n"
      "of its model, family, GPU type or architecture where these are held out. Prints errors and "
      "how many of\n"
      "the measured values lie within the 90 % intervals; for memory also, by capacity, how many\n"
      "of the jobs that do not fit are caught, and how many false alarms there are. Folds are\n"
      "nested: intervals and limits come from folds within each fit, which has not seen the "
      "held-out\n"
      "jobs. Shapes of trees and priors are fixed (--constants): experiments/predictors/README.md "
      "says how they "
      "were\n"
      "chosen.";
  command.examples =
      "  corun predictor eval --target memory --jobs examples/measured_jobs.csv\n"
      "  corun predictor eval --target time --jobs jobs/cnn_benchmarks/cnn_times.csv --kind all   "
      "needs --data\n"
      "  corun predictor eval --target time --split gpu --known 0,5 --phase train \\\n"
      "      --jobs jobs/pytorch_gpu_benchmark/iteration_times.csv        needs --data\n";
  command.configured = false;
  auto add = command.own.add_options();
  add("target", po::value<std::string>(), "memory, time or utilisation");
  add("jobs", po::value<std::string>(), "table of measured jobs");
  add("split", po::value<std::string>()->default_value("all"),
      "what is held out: random, model, family, gpu, architecture (of the GPU), family+gpu, or all "
      "that the table has");
  add("kind", po::value<std::vector<std::string>>()->composing(),
      "a predictor of `corun list predictors`, once for each, or all; else the default");
  add("known", po::value<std::string>()->default_value("0"),
      "so many jobs of each group held out are known, as 0,5; the mean of 20 draws");
  add("capacity", po::value<std::string>(),
      "for memory: capacities in GiB, as 8,11,16,24,32; else those below the largest job");
  add("phase", po::value<std::string>(), "only jobs that train, or inference");
  add("no-execution", "forget the memory of a shape-only execution of the graph");
  add("seed", po::value<std::string>()->default_value("1"), "of the folds and the fits");
  add("medians",
      "fit no intervals, which is faster: no coverage and nothing of jobs that do not fit");
  add_constants_option(command);
  add_gpu_types_option(command);
  return command;
}

std::vector<JobSplit> splits_option(const po::variables_map& values, const JobTable& table) {
  std::vector<JobSplit> possible = job_splits(table);
  const std::string asked = choice_option(
      values, "split", {"all", "random", "model", "family", "gpu", "architecture", "family+gpu"});
  if (asked == "all") return possible;
  for (const JobSplit split : possible) {
    if (asked == name_of(split)) return {split};
  }
  throw InputError("--split",
                   fmt::format("found '{}', but the jobs of {} are of one {}, or of none "
                               "that is named; take another split",
                               asked, table.source, asked));
}

/// "8,11.5" as numbers above 0.
std::vector<double> numbers_of(const std::string& text, const std::string& flag, double least) {
  std::vector<double> numbers;
  for (const std::string& part : split_text(text, ',')) {
    const auto number = parse_number(part);
    constexpr double kMost = 1e6;
    if (!number || !(*number >= least && *number <= kMost)) {
      throw InputError(flag, fmt::format("found '{}', expected numbers from {} to {} with commas "
                                         "between",
                                         printable(part), least, kMost));
    }
    numbers.push_back(*number);
  }
  return numbers;
}

}  // namespace

int predictor_eval_command(const std::vector<std::string>& arguments) {
  CommonOptions common;
  const auto parsed = parse_command_line(predictor_eval_command_line(), arguments, common);
  if (!parsed) return kDone;
  const std::string name = "corun predictor eval";
  const Target target = target_option(*parsed, name);
  const std::string path =
      find_input_file(needed_option(*parsed, "jobs", name, "TABLE"), common, "--jobs");
  std::vector<NamedFile> inputs{{"--jobs", path}};
  const GpuTypes types = gpu_types_option(*parsed, common, inputs);
  if (common.output) check_outputs_differ({{"--output", *common.output}}, inputs);
  PredictorEvaluationOptions options;
  options.predictors = kinds_option(*parsed, target);
  options.known.clear();
  for (const double known : numbers_of((*parsed)["known"].as<std::string>(), "--known", 0)) {
    options.known.push_back(static_cast<std::size_t>(known));
  }
  std::vector<double> capacities;
  if (parsed->count("capacity") != 0) {
    if (target != Target::kMemory) throw InputError("--capacity", "goes with --target memory");
    capacities = numbers_of((*parsed)["capacity"].as<std::string>(), "--capacity", 0.01);
  }
  options.seed = static_cast<std::uint64_t>(
      whole_option(*parsed, "seed", 0, std::numeric_limits<std::int64_t>::max()));
  options.threads = static_cast<int>(common.threads);
  options.intervals = parsed->count("medians") == 0;
  std::vector<PhysicsPart> parts{PhysicsPart::kTime};
  if (target != Target::kTime) parts = {PhysicsPart::kResidual};
  if (target == Target::kMemory) {
    parts.push_back(PhysicsPart::kMemory);
    if (options.intervals) parts.push_back(PhysicsPart::kLimits);
    const bool knows = std::ranges::any_of(options.known, [](std::size_t n) { return n > 0; });
    if (options.intervals && knows) parts.push_back(PhysicsPart::kProbes);
  }
  options.constants = constants_option(*parsed, parts);

  JobTable table = read_job_table(path, target, types);
  if (parsed->count("phase") != 0) {
    const bool training = choice_option(*parsed, "phase", {"train", "inference"}) == "train";
    std::erase_if(table.rows, [&](const JobTableRow& row) {
      return (row.job.figures.training == 1) != training;
    });
  }
  double largest = 0, limit = 0;
  for (JobTableRow& row : table.rows) {
    JobFigures& f = row.job.figures;
    if (parsed->count("no-execution") != 0) {
      f.kept_bytes = f.peak_bytes = kNaN;
      f.lean_reserved_bytes = f.reserved_bytes = f.workspace_bytes = kNaN;
    }
    if (row.value > largest) largest = row.value;
    if (row.at_least > limit) limit = row.at_least;
  }
  constexpr double kGib = 1024;
  for (const double gib : capacities) options.capacities_mib.push_back(gib * kGib);
  if (capacities.empty() && target == Target::kMemory) {
    for (const double gib : {8, 11, 16, 24, 32, 40, 80}) {
      if (gib * kGib < largest) options.capacities_mib.push_back(gib * kGib);
    }
    if (limit > 0) options.capacities_mib.push_back(limit);
  }
  options.splits = splits_option(*parsed, table);
  Progress progress("fitting", common.quiet);
  const std::vector<PredictorEvaluation> evaluations = evaluate_predictors(
      table, options, [&](std::size_t done, std::size_t of) { progress.update(done, of); });
  emit(common, common.format == Format::kJson
                   ? json_text(predictor_evaluation_json(table, evaluations))
               : common.format == Format::kCsv ? predictor_evaluation_csv(evaluations)
                                               : predictor_evaluation_table(table, evaluations));
  return kDone;
}

}  // namespace corun::inline cli
