#pragma once

#include <atomic>
#include <optional>
#include <string>
#include <vector>

#include "live/gpu/nvml.hpp"
#include "live/jobs/job_run.hpp"

/// The job profiler on one command, alone on one GPU.
namespace corun::live {

struct ProfilingRequest {
  JobCommand job;
  std::size_t gpu = 0;   ///< position in Nvml::gpus()
  Duration interval{0};  ///< between two samples
  /// stdout is kept in OUTPUT.out, stderr in OUTPUT.err; nullopt: neither is kept.
  std::optional<std::string> output;
  bool keep_samples = false;
};

struct ProfiledCommand {
  std::string name;
  std::size_t gpu = 0;
  std::string gpu_name;
  RunOutcome outcome;
  std::vector<Sample> samples;  ///< if keep_samples; times since its start
  double profiler_cpu_s = 0;    ///< CPU time of corun and the guard during the run
  std::string last_words;       ///< the end of its stderr, if it ended badly

  /// Whether there is a profile: it finished or reached its time-out.
  bool ended_well() const {
    return outcome.end == RunEnd::kFinished || outcome.end == RunEnd::kTimeout;
  }
  /// The profiler's CPU time over the length of the run [% of one core].
  double profiler_cpu_pct() const;
};

/// Stops the command when `stop` becomes true. Throws InputError if its program, directory or output cannot
/// be used, DeviceError if the GPU does not answer.
ProfiledCommand profile_alone(const ProfilingRequest& request, const Nvml& nvml,
                              const std::atomic<bool>& stop);

}  // namespace corun::live
