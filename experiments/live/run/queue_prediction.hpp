#pragma once

#include <memory>
#include <string>
#include <vector>

#include "experiments/config/config.hpp"
#include "experiments/experiment/experiment.hpp"
#include "experiments/live/gpu/nvml.hpp"
#include "experiments/live/jobs/live_config.hpp"
#include "experiments/live/jobs/solo_csv.hpp"
#include "sim/metrics.hpp"
#include "sim/run_record.hpp"
#include "traces/trace.hpp"

/// What the simulator says of a live queue, before its first job starts.
namespace corun::live {

struct PredictedPolicy {
  std::string label;
  MetricValues metrics{};
  RunRecord record;
};

struct QueuePrediction {
  Config config;  ///< of the simulation: `corun replay` makes the prediction again from it
  std::unique_ptr<const Experiment> experiment;
  std::shared_ptr<const Trace> queue;     ///< job j is entry j of LiveConfig::queue
  std::vector<PredictedPolicy> policies;  ///< in the order of the experiment's
};

/// What is known of the workloads alone, and from which file.
struct SoloTimes {
  std::string file;
  std::vector<SoloRow> rows;
};

/// Where the jobs will run.
struct LiveCluster {
  GpuFacts gpu;  ///< what all of them are
  std::size_t gpus = 1;
};

/// Simulates the queue under every policy, with the solo times in `alone`, which must have one for each
/// workload of the queue. Writes the queue to config.output (run_files.hpp: kQueueFile), from where it is
/// simulated; takes what was measured there (measured.corun.csv) as the world, where none is configured.
/// `data`: the directory of public data, may be empty. InputError where a policy cannot decide over real
/// jobs (live_limits.hpp).
QueuePrediction predict_queue(const LiveConfig& config, const SoloTimes& alone,
                              const LiveCluster& cluster, const std::string& data);

}  // namespace corun::live
