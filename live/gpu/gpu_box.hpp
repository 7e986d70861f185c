#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "live/gpu/nvml.hpp"
#include "live/session/session.hpp"
#include "processes/supervisor.hpp"

/// Choice of the GPUs of this machine, and the way in which jobs share one.
namespace corun::live {

/// How jobs are to use a GPU.
struct GpuRules {
  bool shared = true;         ///< several jobs at a time
  bool mps = false;           ///< jobs share the GPU by MPS, not by time slices
  bool allow_others = false;  ///< use the GPU although other processes use it
};

/// The reasons against using nvml.gpus()[gpu] under these rules, each with a remedy; empty: it can be used.
/// Throws DeviceError if the GPU does not answer.
std::vector<std::string> refusals(const Nvml& nvml, std::size_t gpu, const GpuRules& rules);

/// Positions in nvml.gpus() of the GPUs to use. `asked`: their indices; empty: all that are not refused.
/// Throws DeviceError if an asked GPU is refused or no GPU is left, InputError at `place` if an index does
/// not exist or is named twice.
std::vector<std::size_t> choose_gpus(const Nvml& nvml, std::span<const std::int64_t> asked,
                                     const GpuRules& rules, const std::string& place);

/// The same GPUs, those of one type after the other; the types in order of their first GPU.
std::vector<std::size_t> by_type(const Nvml& nvml, std::span<const std::size_t> gpus);

/// Whether the MPS daemon's program, nvidia-cuda-mps-control, is in PATH.
bool mps_installed();

/// The state of MPS in words: whether it is installed, and whether a daemon of others runs.
std::string mps_state();

/// The environment variables by which jobs share a GPU in the wanted mode, and the daemon that MPS needs.
///
/// time-slicing: CUDA_MPS_PIPE_DIRECTORY names an empty directory, so that no job connects to an MPS daemon
/// of others. mps: an MPS daemon of this session, in a directory of its own, under a guard like every other
/// process. It ends with this object or with corun. Daemons of others are left alone.
class Sharing {
 public:
  /// Throws DeviceError if MPS is wanted and its daemon is missing or does not start.
  Sharing(Session& session, const Nvml& nvml, std::span<const std::size_t> gpus, bool mps);

  const std::vector<std::string>& environment() const { return environment_; }
  /// False once the daemon has ended by itself.
  bool works();

 private:
  std::vector<std::string> environment_;
  std::unique_ptr<SupervisedProcess> daemon_;
};

}  // namespace corun::live
