#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "live/gpu/nvml.hpp"
#include "live/jobs/live_config.hpp"
#include "live/jobs/solo_csv.hpp"
#include "runner/config/config.hpp"
#include "runner/experiment/experiment.hpp"
#include "sim/records/metrics.hpp"
#include "sim/records/run_record.hpp"
#include "traces/trace.hpp"

/// The simulator's prediction of a live queue, made before its first job starts.
namespace corun::live {

struct PredictedPolicy {
  std::string label;
  MetricValues metrics{};
  RunRecord record;
};

struct QueuePrediction {
  /// `corun replay` repeats the prediction from its configuration.
  std::unique_ptr<const Experiment> experiment;
  std::shared_ptr<const Trace> queue;     ///< job j is entry j of LiveConfig::queue
  std::vector<PredictedPolicy> policies;  ///< in the order of experiment->policies()
  std::string gpu_types;                  ///< of the GPUs, separated by commas
};

/// Solo times of workloads and the file that holds them.
struct SoloTimes {
  std::string file;
  std::vector<SoloRow> rows;
};

/// Simulates the queue under every policy, with the solo times in `alone`, on these GPUs (not empty), those of one
/// type after the other. On a type other than that of `alone` solo times follow as in a simulation: from
/// workload.solo_times if that is set, else from the specifications of the types. Writes the queue and the GPU
/// types to config.output (run_files.hpp: kQueueFile, kGpuTypesFile), from which it is simulated. The world is measured.corun.csv in config.output,
/// if it exists and no world.path is configured. `data`: the directory of public data, may be empty. Throws
/// InputError if `alone` lacks a workload of the queue or, with several types, its GPU type, or a policy cannot run live (live_limits.hpp).
QueuePrediction predict_queue(const LiveConfig& config, const SoloTimes& alone,
                              std::span<const GpuFacts> gpus, const std::string& data);

}  // namespace corun::live
