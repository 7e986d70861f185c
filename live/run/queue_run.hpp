#pragma once

#include <atomic>
#include <cstddef>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "live/gpu/nvml.hpp"
#include "live/jobs/live_config.hpp"
#include "live/run/policy_result.hpp"
#include "live/run/queue_prediction.hpp"

/// A queue of real jobs under each policy of a configuration, with the policies and the control loop of the
/// simulator on the live backend (live_backend.hpp).
namespace corun::live {

struct QueueRun {
  std::string gpu_name;
  std::size_t gpus = 1;
  std::vector<PolicyResult> policies;  ///< those that were started, in the configured order
  bool interrupted = false;            ///< by `stop`: the last policy is incomplete
};

/// Runs the queue on these GPUs (positions in Nvml::gpus()), once under each predicted policy, until `stop`
/// becomes true; calls `on_policy` after each. Writes files (queue_run_files.hpp) to config.output: the
/// prediction before the first job starts, results after each policy and before it throws. Throws InputError
/// if a policy breaks a rule or preempts, DeviceError if a GPU does not answer or the MPS daemon ends.
QueueRun run_queue(const LiveConfig& config, const QueuePrediction& prediction, const Nvml& nvml,
                   std::span<const std::size_t> gpus, const std::atomic<bool>& stop,
                   const std::function<void(const PolicyResult&)>& on_policy);

}  // namespace corun::live
