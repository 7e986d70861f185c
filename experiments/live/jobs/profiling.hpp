#pragma once

#include <atomic>
#include <optional>
#include <string>
#include <vector>

#include "experiments/live/gpu/nvml.hpp"
#include "experiments/live/jobs/job_run.hpp"

/// The job profiler on one command, alone on one GPU.
namespace corun::live {

struct ProfilingRequest {
  JobCommand job;
  std::size_t gpu = 0;   ///< position in Nvml::gpus()
  Duration interval{0};  ///< between two looks
  /// What it prints is kept in OUTPUT.out and OUTPUT.err; without it, nowhere.
  std::optional<std::string> output;
  bool keep_samples = false;
};

struct ProfiledCommand {
  std::string name;
  std::size_t gpu = 0;
  std::string gpu_name;
  RunOutcome outcome;
  std::vector<Sample> samples;  ///< where they are kept; times since its start
  double profiler_cpu_s = 0;    ///< that corun and the guard took while it ran
  std::string last_words;       ///< the end of its stderr, where it ended badly

  /// It ran to its end, or for as long as was asked: there is a profile.
  bool ended_well() const {
    return outcome.end == RunEnd::kFinished || outcome.end == RunEnd::kTimeout;
  }
  /// The profiler's own CPU time, of one core over the length of the run [%].
  double profiler_cpu_pct() const;
};

/// When `stop` becomes true, the command is stopped. InputError where it cannot be started; DeviceError
/// where the GPU does not answer any more.
ProfiledCommand profile_alone(const ProfilingRequest& request, const Nvml& nvml,
                              const std::atomic<bool>& stop);

}  // namespace corun::live
