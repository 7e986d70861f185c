#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "experiments/live/gpu/nvml.hpp"
#include "experiments/live/processes/session.hpp"
#include "experiments/live/processes/supervisor.hpp"

/// Which GPUs of this machine may be used, and how jobs share one.
namespace corun::live {

/// What is asked of a GPU before anything runs on it.
struct GpuRules {
  bool shared = true;         ///< several jobs at a time
  bool mps = false;           ///< they share it by MPS, not by time slices
  bool allow_others = false;  ///< use it although somebody else does
};

/// Why this GPU is not used under these rules, each reason with what to do; none: it is.
std::vector<std::string> refusals(const Nvml& nvml, std::size_t gpu, const GpuRules& rules);

/// Positions of the GPUs to use: those asked for by index (DeviceError if one is refused, InputError at
/// `place` if there is no such GPU), else all that are not refused (DeviceError if none is left).
std::vector<std::size_t> choose_gpus(const Nvml& nvml, std::span<const std::int64_t> asked,
                                     const GpuRules& rules, const std::string& place);

/// What these GPUs are; DeviceError if they are not all of one type, for solo times hold for one. Not empty.
const GpuFacts& only_type(const Nvml& nvml, std::span<const std::size_t> gpus);

/// Whether there is an MPS daemon to be started.
bool mps_installed();

/// How the GPUs can be shared here, in words: whether MPS is installed, and whose daemon runs.
std::string mps_state();

/// The variables that make jobs share a GPU as is wanted, and what has to run for it.
///
/// time-slicing: CUDA_MPS_PIPE_DIRECTORY names an empty directory, so that no job talks to an MPS daemon
/// that somebody else has started. mps: an MPS daemon of this session, in a directory of its own, under a
/// guard as every other process; daemons of others are never touched. It ends with this object, or with
/// corun.
class Sharing {
 public:
  /// DeviceError where MPS is asked for and cannot be had.
  Sharing(Session& session, const Nvml& nvml, std::span<const std::size_t> gpus, bool mps);

  const std::vector<std::string>& environment() const { return environment_; }
  /// False once the daemon has ended by itself.
  bool works();

 private:
  std::vector<std::string> environment_;
  std::unique_ptr<SupervisedProcess> daemon_;
};

}  // namespace corun::live
