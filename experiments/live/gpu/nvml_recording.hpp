#pragma once

#include <fstream>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "experiments/live/gpu/nvml.hpp"
#include "sim/time.hpp"

/// What NVML said in the course of a session, for later: to be looked at, or played to corun again by the
/// fake NVML of the tests (tests/experiments/live/gpu/nvml_replay.hpp). JSON lines. The first says what does not change:
///
///   {"file": "corun-nvml-recording", "version": 1, "driver": "550.54", "cuda": "12.4", "gpus":
///    [{"name": "Tesla V100", "uuid": "GPU-...", "memory_mib": 16384, "mig": null, "compute_mode": "default"}]}
///
/// Then there is a line for each answer, in order of time: readings, lists of processes, and failures.
///
///   {"t_s": 0.5, "gpu": 0, "util_pct": 60, "mem_time_pct": 25, "memory_used_mib": 4099.5,
///    "temperature_c": 59, "power_w": 170, "power_limit_w": 250, "sm_clock_mhz": 1530,
///    "memory_clock_mhz": 877}
///   {"t_s": 0.5, "gpu": 0, "processes": [{"pid": 123, "memory_mib": 4096, "own": true}]}
///   {"t_s": 0.9, "gpu": 0, "error": 15, "why": "GPU is lost"}
///   {"t_s": 1.0, "end": true}
///
/// `t_s` are seconds since the library was opened, to the microsecond, `gpu` the position in `gpus`,
/// `error` an nvmlReturn_t. Free memory is `memory_mib` less `memory_used_mib`. `own` says that the process
/// is below corun. null is what the driver does not tell. A recording without its last line was cut off.
namespace corun::live {

class NvmlRecording {
 public:
  /// Writes the first line. InputError where the file is there already or cannot be written.
  NvmlRecording(const std::string& path, const std::string& driver, const std::string& cuda,
                std::span<const GpuFacts> gpus);
  /// Writes the last line.
  ~NvmlRecording();
  NvmlRecording(const NvmlRecording&) = delete;
  NvmlRecording& operator=(const NvmlRecording&) = delete;

  void take(std::size_t gpu, const GpuReading& reading);
  void take(std::size_t gpu, const std::optional<std::vector<GpuProcess>>& processes);
  void take_failure(std::size_t gpu, int error, const std::string& why);

 private:
  double now_s() const;
  /// One line, at once. Where that fails, the session goes on without: it says so, once, on stderr.
  void write(const std::string& line);

  std::string path_;
  std::ofstream file_;
  Time origin_;
};

}  // namespace corun::live
