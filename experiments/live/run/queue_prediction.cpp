#include "experiments/live/run/queue_prediction.hpp"

#include <algorithm>
#include <filesystem>
#include <sstream>
#include <utility>

#include "experiments/experiment/model_files.hpp"
#include "experiments/live/run/live_limits.hpp"
#include "experiments/live/run/run_files.hpp"
#include "sim/base/text.hpp"
#include "sim/error.hpp"
#include "traces/job_csv.hpp"

namespace corun::live {

namespace fs = std::filesystem;

namespace {

std::string whole_path(const std::string& path) {
  return fs::absolute(path).lexically_normal().string();
}

Trace queue_trace(const LiveConfig& config, const SoloTimes& alone, WorkloadKeys& keys) {
  Trace trace;
  for (const QueueEntry& entry : config.queue) {
    const std::string& name = config.workloads[entry.workload].name;
    const SoloRow* row = find_solo(alone.rows, name);
    if (row == nullptr) {
      throw InputError(config.queue_place, "no solo time of '" + name + "' in " +
                                               printable(alone.file) +
                                               "; measure it: corun live solo CONFIG");
    }
    JobSpec job;
    job.submit = entry.submit;
    job.work = from_seconds(row->solo_s);
    job.profile = row->profile;
    add_job(trace, job, entry.name, keys.of(name), kUnknownCluster, kUnknownUncertainty);
  }
  order_arrivals(trace);
  return trace;
}

/// Writes the queue as a file of jobs, which `corun replay` reads as well.
void write_queue(const Trace& queue, const WorkloadKeys& keys, const std::string& path,
                 Existing existing) {
  std::ostringstream text;
  write_job_csv(text, queue, keys);
  write_outputs({{"live.output", path, std::move(text).str()}}, existing);
}

double mean_solo_s(const Trace& queue) {
  double mean = 0;
  for (const JobSpec& job : queue.workload.jobs) {
    mean += to_seconds(job.work) / static_cast<double>(queue.workload.jobs.size());
  }
  return mean;
}

/// The live configuration as one of the simulator, with the queue in this file as the workload.
Config simulated_config(const LiveConfig& live, const LiveCluster& cluster,
                        const std::string& queue_file, double mean_s) {
  Config config = live.config;
  config.workload.source = "csv";
  config.workload.path = whole_path(queue_file);
  config.replications = 1;  // a real run happens once
  config.cluster.nodes = 1;
  config.cluster.gpus_per_node = static_cast<std::int64_t>(cluster.gpus);
  config.cluster.gpu_type = cluster.gpu.name;
  config.cluster.gpu_memory_mib = cluster.gpu.memory_mib;
  // A live job that does not fit waits until another one has ended. A simulated one fails after the ramp and
  // is retried: by default the ramp is about as long as such a wait.
  if (!config.places.contains("cluster.oom.ramp_s")) config.cluster.oom.ramp_s = mean_s;
  const std::string measured = live.output + "/measured.corun.csv";
  std::error_code error;
  if (!config.places.contains("world.path") && fs::exists(measured, error)) {
    config.world.path = whole_path(measured);
  }
  if (!config.places.contains("policies")) {
    std::erase_if(config.policies, [](const PolicyConfig& p) { return p.name == "oracle"; });
  }
  return config;
}

}  // namespace

QueuePrediction predict_queue(const LiveConfig& config, const SoloTimes& alone,
                              const LiveCluster& cluster, const std::string& data) {
  const std::string queue_file = config.output + "/" + kQueueFile;
  WorkloadKeys keys;
  const Trace queue = queue_trace(config, alone, keys);
  write_queue(queue, keys, queue_file, config.existing);
  QueuePrediction prediction;
  prediction.config =
      with_models_of_files(simulated_config(config, cluster, queue_file, mean_solo_s(queue)), data,
                           std::make_shared<InputCache>());
  prediction.experiment = std::make_unique<const Experiment>(prediction.config, data);
  prediction.queue = prediction.experiment->make_trace(0);
  for (const PolicyInstance& policy : prediction.experiment->policies()) {
    check_live_policy(policy);
    PolicyRun run = prediction.experiment->run_policy(*prediction.queue, 0, policy, {});
    const auto moved = [](const JobRecord& r) { return r.preemptions > 0; };
    if (std::ranges::any_of(run.record.jobs, moved)) refuse_preemption(policy);
    prediction.policies.push_back({policy.label, run.metrics, std::move(run.record)});
  }
  return prediction;
}

}  // namespace corun::live
