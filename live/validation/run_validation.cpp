#include "live/validation/run_validation.hpp"

#include <filesystem>
#include <map>
#include <memory>
#include <optional>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "live/run/run_files.hpp"
#include "policies/catalog.hpp"
#include "runner/config/config_yaml.hpp"
#include "sim/base/text.hpp"
#include "sim/error.hpp"
#include "traces/csv_reader.hpp"

namespace corun::live {

namespace fs = std::filesystem;

namespace {

constexpr const char* kPlace = "corun live validate";

/// Throws InputError if the run in `directory` is not of this configuration's queue.
void check_queue(const LiveConfig& config, const Trace& queue, const std::string& directory) {
  const auto differs = [&](const std::string& how) {
    throw InputError(config.queue_place, "the run in '" + printable(directory, 300) +
                                             "' is of another queue: " + how +
                                             "; run corun live run CONFIG again, or give the "
                                             "directory in place of CONFIG");
  };
  if (config.queue.size() != queue.jobs.size()) {
    differs("it has " + std::to_string(queue.jobs.size()) + " jobs, this one " +
            std::to_string(config.queue.size()));
  }
  for (std::size_t j = 0; j < queue.jobs.size(); ++j) {
    if (config.queue[j].name == queue.jobs[j].name &&
        config.queue[j].submit == queue.jobs[j].spec.submit) {
      continue;
    }
    differs("its job " + std::to_string(j + 1) + " is '" + queue.jobs[j].name + "' at " +
            csv_seconds(queue.jobs[j].spec.submit) + " s, here it is '" + config.queue[j].name +
            "' at " + csv_seconds(config.queue[j].submit) + " s");
  }
}

/// Validates one policy that has run; adds the files that it reads to `files`.
PolicyValidation validate_policy(const Experiment& experiment, const Trace& queue,
                                 const std::string& directory, const std::string& label,
                                 std::optional<double> predicted_ps,
                                 std::vector<std::string>& files) {
  const std::string runs = policy_file(directory, label, ".jobs.csv");
  files.push_back(runs);
  files.push_back(policy_file(directory, label, ".events.csv"));
  const std::unique_ptr<World> world = experiment.make_world(queue);
  const SoloOnGpus alone(experiment.cluster(), {queue.jobs, &TraceJob::spec}, world->on_types());
  const std::vector<JobsRow> rows = read_run(directory, label, queue, alone);
  try {
    return validate(experiment, queue, label, rows, predicted_ps);
  } catch (const PolicyError& e) {  // more jobs on a GPU than cluster.max_jobs_per_gpu
    throw InputError(runs, e.what());
  }
}

void validate_policies(const Experiment& experiment, const std::string& directory,
                       RunValidation& run) {
  const auto predicted_ps = read_prediction(directory, std::string(metric_info(Metric::kPs).name));
  for (const PolicyInstance& policy : experiment.policies()) {
    const std::string runs = policy_file(directory, policy.label, ".jobs.csv");
    std::error_code error;
    if (!fs::exists(runs, error)) {
      run.notes.push_back(fmt::format("{} is left out: no file '{}'", policy.label, runs));
      continue;
    }
    const auto found = predicted_ps.find(policy.label);
    const auto ps = found == predicted_ps.end() ? std::nullopt : std::optional(found->second);
    run.policies.push_back(
        validate_policy(experiment, *run.queue, directory, policy.label, ps, run.files));
    const PolicyValidation& p = run.policies.back();
    if (p.failed + p.not_run + p.beside == 0) continue;
    run.notes.push_back(
        fmt::format("{}: of {} jobs are left out: {} that did not finish, {} that were not run, {} "
                    "with a co-runner that ended badly",
                    p.label, run.queue->jobs.size(), p.failed, p.not_run, p.beside));
  }
  if (run.policies.empty()) {
    throw InputError(kPlace,
                     "no POLICY.jobs.csv in '" + printable(directory, 300) +
                         "': no policy came to its end there; run corun live run CONFIG again");
  }
}

}  // namespace

RunValidation validate_run(const ValidationRequest& request) {
  const std::string file = request.directory + "/" + kReplayFile;
  std::error_code error;
  if (!fs::is_regular_file(file, error)) {
    throw InputError(kPlace, "no file '" + printable(file, 300) +
                                 "': no run of a queue is there; corun live run CONFIG makes one");
  }
  Config config = read_config(file, shared_overrides(request.overrides), policy_catalog());
  config.belief = {};  // no policy decides again
  RunValidation run;
  const bool machines = config.cluster.machines.has_value();
  const std::string gpu_type = config.cluster.gpu_type;
  const Experiment experiment(std::move(config), request.data);
  run.gpu = machines ? fmt::format("{}", fmt::join(experiment.cluster().models(), ", ")) : gpu_type;
  run.gpus = experiment.cluster().gpu_count();
  run.queue = experiment.make_trace(0);
  if (request.live != nullptr) check_queue(*request.live, *run.queue, request.directory);
  run.notes = texts_of(experiment.notes());
  run.files = {file, request.directory + "/" + kPredictionFile};
  run.files.insert(run.files.end(), experiment.input_files().begin(),
                   experiment.input_files().end());
  validate_policies(experiment, request.directory, run);
  return run;
}

}  // namespace corun::live
