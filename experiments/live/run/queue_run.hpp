#pragma once

#include <atomic>
#include <cstddef>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "experiments/live/gpu/nvml.hpp"
#include "experiments/live/jobs/live_config.hpp"
#include "experiments/live/run/policy_result.hpp"
#include "experiments/live/run/queue_prediction.hpp"

/// One queue of real jobs under each policy of a configuration: the policies and the control loop of the
/// simulator, on the backend of what is there (live_backend.hpp).
namespace corun::live {

struct QueueRun {
  std::string gpu_name;
  std::size_t gpus = 1;
  std::vector<PolicyResult>
      policies;              ///< those that came to run, in the order of the configuration
  bool interrupted = false;  ///< by `stop`: the last of them was cut short
};

/// Runs the queue on these GPUs (positions in Nvml::gpus()), once under each predicted policy, until `stop`
/// becomes true; `on_policy` is called after each. Its files (queue_run_files.hpp) go to config.output: the
/// prediction before the first job starts, results after each policy, and before anything is thrown.
/// InputError where a policy breaks a rule or moves running jobs; DeviceError where a GPU or the MPS daemon
/// goes away.
QueueRun run_queue(const LiveConfig& config, const QueuePrediction& prediction, const Nvml& nvml,
                   std::span<const std::size_t> gpus, const std::atomic<bool>& stop,
                   const std::function<void(const PolicyResult&)>& on_policy);

}  // namespace corun::live
