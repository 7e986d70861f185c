#include <cmath>
#include <iostream>
#include <limits>
#include <stdexcept>

#include <fmt/format.h>

#include "cli/model/model_options.hpp"
#include "cli/note.hpp"
#include "cli/predictor/predictor_commands.hpp"
#include "cli/predictor/predictor_options.hpp"
#include "predictors/tables/predictor_file.hpp"
#include "sim/base/text.hpp"
#include "sim/error.hpp"
#include "support/atomic_file.hpp"
#include "support/json.hpp"

/// `corun predictor fit`: fits a predictor to tables of measured jobs.
namespace corun::inline cli {

namespace {

namespace po = boost::program_options;

CommandLine predictor_fit_command_line() {
  CommandLine command;
  command.name = "predictor fit";
  command.usage = "corun predictor fit --target memory|time|utilisation --jobs TABLE --out FILE";
  command.summary =
      "Learns from measured jobs what a job needs before it has run: peak memory in MiB, the time\n"
      "of a step in ms, or GPU utilisation in percent. Tables are recognised by their columns\n"
      "(docs/predictors.md). Jobs that ran out of memory count as such.";
  command.examples =
      "  corun predictor fit --target memory --jobs examples/measured_jobs.csv --out "
      "memory.predictor\n"
      "  corun predictor fit --target time --jobs "
      "jobs/pytorch_gpu_benchmark/iteration_times.csv \\\n"
      "      --out time.predictor                                          needs --data\n";
  command.configured = false;
  command.output = OutputUse::kOwn;
  auto add = command.own.add_options();
  add("target", po::value<std::string>(), "memory, time or utilisation");
  add("jobs", po::value<std::vector<std::string>>()->composing(),
      "table of measured jobs; once for each");
  add("out", po::value<std::string>(), "the predictor");
  add("kind", po::value<std::vector<std::string>>()->composing(),
      "one of `corun list predictors`; the default is the first of them");
  add("seed", po::value<std::string>()->default_value("1"), "of the fit's draws");
  add_gpu_types_option(command);
  return command;
}

}  // namespace

int predictor_fit_command(const std::vector<std::string>& arguments) {
  CommonOptions common;
  const auto parsed = parse_command_line(predictor_fit_command_line(), arguments, common);
  if (!parsed) return kDone;
  const std::string name = "corun predictor fit";
  const Target target = target_option(*parsed, name);
  const std::vector<std::string> tables = list_option(*parsed, "jobs");
  if (tables.empty()) throw InputError(name, "needs measured jobs; give --jobs TABLE");
  const std::vector<const PredictorEntry*> kinds = kinds_option(*parsed, target);
  if (kinds.size() != 1) throw InputError("--kind", "one predictor is fitted at a time");
  const std::string output = model_output_option(*parsed, common, name, "FILE");
  std::vector<NamedFile> inputs;
  const GpuTypes types = gpu_types_option(*parsed, common, inputs);
  PredictorOptions options;
  options.seed = static_cast<std::uint64_t>(
      whole_option(*parsed, "seed", 0, std::numeric_limits<std::int64_t>::max()));
  options.threads = static_cast<int>(common.threads);
  std::vector<MeasuredJob> jobs;
  std::size_t rows = 0;
  for (const std::string& path : tables) {
    inputs.push_back({"--jobs", find_input_file(path, common, "--jobs")});
    const JobTable table = read_job_table(inputs.back().path, target, types);
    rows += table.rows.size();
    const std::vector<MeasuredJob> more = table.measured();
    jobs.insert(jobs.end(), more.begin(), more.end());
  }
  check_outputs_differ({{"--out", output}}, inputs);
  std::size_t crashed = 0;
  for (const MeasuredJob& job : jobs) crashed += std::isnan(job.value) ? 1 : 0;
  PredictorFile file;
  file.kind = kinds.front()->name;
  file.about = fmt::format("{} of {} jobs, seed {}", name_of(target), jobs.size(), options.seed);
  try {
    file.predictor = kinds.front()->fit(target, jobs, options);
  } catch (const std::invalid_argument& e) {
    throw InputError(inputs.front().path,
                     fmt::format("cannot be fitted: {} (of {} rows, {} have a {} that counts)",
                                 e.what(), rows, jobs.size() - crashed, name_of(target)));
  }
  write_predictor_file(output, file, "--out", common.existing);
  if (common.format == Format::kJson) {
    std::cout << json_text(Json{{"kind", file.kind},
                                {"target", name_of(target)},
                                {"rows", rows},
                                {"jobs", jobs.size() - crashed},
                                {"out_of_memory", crashed}});
  } else {
    std::cout << fmt::format(
        "{} of jobs, {}: fitted on {} of {} rows{}\n", name_of(target), file.kind,
        jobs.size() - crashed, rows,
        crashed > 0 ? fmt::format(" and {} that ran out of memory", crashed) : "");
  }
  note(common, "wrote " + printable(output, 200));
  return kDone;
}

}  // namespace corun::inline cli
