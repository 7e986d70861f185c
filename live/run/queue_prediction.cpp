#include "live/run/queue_prediction.hpp"

#include <algorithm>
#include <filesystem>
#include <sstream>
#include <utility>

#include <fmt/format.h>

#include "live/run/live_limits.hpp"
#include "live/run/run_files.hpp"
#include "runner/experiment/resolved_config.hpp"
#include "sim/base/text.hpp"
#include "sim/error.hpp"
#include "support/json.hpp"
#include "traces/csv_reader.hpp"
#include "traces/gpu_catalog.hpp"
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
    trace.jobs.push_back({job, entry.name, keys.of(name)});
  }
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
  for (const TraceJob& job : queue.jobs) {
    mean += to_seconds(job.spec.work) / static_cast<double>(queue.jobs.size());
  }
  return mean;
}

/// GPUs of one type that follow one another.
struct TypeOfBox {
  GpuFacts facts;
  std::size_t gpus = 0;
};

std::vector<TypeOfBox> types_of_box(std::span<const GpuFacts> gpus) {
  std::vector<TypeOfBox> types;
  for (const GpuFacts& gpu : gpus) {
    if (types.empty() || types.back().facts.name != gpu.name) types.push_back({gpu, 0});
    ++types.back().gpus;
  }
  return types;
}

/// The GPU type of the solo times; empty: not told.
std::string measured_on(const SoloTimes& alone) {
  return alone.rows.empty() ? "" : alone.rows.front().gpu_type;
}

/// The types as cluster.gpu_types: the memory that the driver reports, and else the catalogue's figures.
std::string gpu_types_yaml(const std::vector<TypeOfBox>& types) {
  std::string text = "# The GPU types of this machine.\n";
  for (const TypeOfBox& type : types) {
    const GpuSpec* known = find_gpu(type.facts.name);
    const GpuSpec spec = known != nullptr ? *known : GpuSpec{};
    text += fmt::format("- name: {}\n", Json(known ? known->name : type.facts.name).dump());
    text += fmt::format("  aliases: [{}]\n", Json(type.facts.name).dump());
    text += fmt::format("  memory_mib: {}\n", csv_number(type.facts.memory_mib));
    const auto add = [&](const char* key, double value) {
      if (value > 0) text += fmt::format("  {}: {}\n", key, csv_number(value));
    };
    add("sms", spec.sms);
    add("threads_per_sm", spec.threads_per_sm);
    add("bandwidth_gbs", spec.bandwidth_gbs);
    add("fp32_tflops", spec.fp32_tflops);
  }
  return text;
}

/// Sets the GPUs of the simulation and the type of the solo times.
void set_gpus(Config& config, const LiveConfig& live, const std::vector<TypeOfBox>& types,
              const SoloTimes& alone) {
  const std::string reference = measured_on(alone);
  if (types.size() == 1) {
    const GpuFacts& only = types.front().facts;
    config.cluster.nodes = 1;
    config.cluster.gpus_per_node = static_cast<std::int64_t>(types.front().gpus);
    config.cluster.gpu_type = only.name;
    config.cluster.gpu_memory_mib = only.memory_mib;
    if (!reference.empty() && !GpuTypes().same(reference, only.name)) {
      config.workload.gpu_type = reference;
    }
    return;
  }
  if (reference.empty()) {
    throw InputError(alone.file,
                     "has no column gpu_type, and the GPUs are of " + std::to_string(types.size()) +
                         " types, expected the type of its solo times; add it, or choose GPUs of "
                         "one type by live.gpus");
  }
  const std::string types_file = live.output + "/" + kGpuTypesFile;
  write_outputs({{"live.output", types_file, gpu_types_yaml(types)}}, live.existing);
  std::string machines;
  for (const TypeOfBox& type : types) {
    machines += fmt::format("{}1x{}:{}", machines.empty() ? "" : "+", type.gpus,
                            GpuTypes().standard_name(type.facts.name));
  }
  config.cluster.gpu_types = whole_path(types_file);
  config.cluster.machines = machines;
  config.workload.gpu_type = reference;
}

/// The live configuration as one of the simulator, with the queue in this file as the workload.
Config simulated_config(const LiveConfig& live, const std::vector<TypeOfBox>& types,
                        const SoloTimes& alone, const std::string& queue_file, double mean_s) {
  Config defaults = default_config();
  // A live job that does not fit waits until another one has ended. A simulated one fails after the ramp and
  // is retried: by default the ramp is about as long as such a wait.
  defaults.cluster.oom.ramp_s = mean_s;
  const std::string measured = live.output + "/measured.corun.csv";
  std::error_code error;
  if (fs::exists(measured, error)) defaults.world.path = whole_path(measured);
  std::erase_if(defaults.policies, [](const PolicyConfig& p) { return p.name == "oracle"; });
  Config config = with_defaults(live.config, std::move(defaults));
  config.workload.source = "csv";
  config.workload.path = whole_path(queue_file);
  config.replications = 1;  // a real run happens once
  set_gpus(config, live, types, alone);
  return config;
}

}  // namespace

QueuePrediction predict_queue(const LiveConfig& config, const SoloTimes& alone,
                              std::span<const GpuFacts> gpus, const std::string& data) {
  const std::string queue_file = config.output + "/" + kQueueFile;
  WorkloadKeys keys;
  const Trace queue = queue_trace(config, alone, keys);
  write_queue(queue, keys, queue_file, config.existing);
  const std::vector<TypeOfBox> types = types_of_box(gpus);
  QueuePrediction prediction;
  for (const TypeOfBox& type : types) {
    prediction.gpu_types += (prediction.gpu_types.empty() ? "" : ", ") + type.facts.name;
  }
  prediction.experiment = std::make_unique<const Experiment>(
      simulated_config(config, types, alone, queue_file, mean_solo_s(queue)), data);
  prediction.queue = prediction.experiment->make_trace(0);
  for (const PolicyInstance& policy : prediction.experiment->policies()) {
    check_live_policy(policy);
    PolicyRun run = prediction.experiment->run_policy(*prediction.queue, 0, policy, {});
    if (!run.failure.empty()) throw InputError(policy.place, run.failure);
    const auto moved = [](const JobRecord& r) { return r.preemptions > 0; };
    if (std::ranges::any_of(run.record.jobs, moved)) refuse_preemption(policy);
    prediction.policies.push_back({policy.label, run.metrics, std::move(run.record)});
  }
  return prediction;
}

}  // namespace corun::live
