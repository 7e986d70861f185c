#pragma once

#include <fstream>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "live/gpu/nvml.hpp"
#include "sim/time.hpp"

/// A recording of NVML's answers during a session. The fake NVML of the tests plays it back to corun
/// (tests/live/gpu/nvml_replay.hpp). It has JSON lines. The first has the constant properties:
///
///   {"file": "corun-nvml-recording", "version": 1, "driver": "550.54", "cuda": "12.4", "gpus":
///    [{"name": "Tesla V100", "uuid": "GPU-...", "memory_mib": 16384, "mig": null, "compute_mode":
///    "default"}]}
///
/// Each further line is one answer, in order of time: a reading, a list of processes or a failure.
///
///   {"t_s": 0.5, "gpu": 0, "util_pct": 60, "mem_time_pct": 25, "memory_used_mib": 4099.5,
///    "temperature_c": 59, "power_w": 170, "power_limit_w": 250, "sm_clock_mhz": 1530,
///    "memory_clock_mhz": 877}
///   {"t_s": 0.5, "gpu": 0, "processes": [{"pid": 123, "memory_mib": 4096, "own": true}]}
///   {"t_s": 0.9, "gpu": 0, "error": 15, "why": "GPU is lost"}
///   {"t_s": 1.0, "end": true}
///
/// `t_s` is the time since the library was opened, rounded to microseconds, `gpu` a position in `gpus`,
/// `error` an nvmlReturn_t. Free memory is `memory_mib` less `memory_used_mib`. `own`: the process is a
/// descendant of corun. null: not reported. A recording without its last line was cut off.
namespace corun::live {

class NvmlRecording {
 public:
  /// Writes the first line. Throws InputError if the file exists or cannot be written.
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
  /// Writes one line at once. A failure is reported once on stderr; the session continues unrecorded.
  void write(const std::string& line);

  std::string path_;
  std::ofstream file_;
  Time origin_;
};

}  // namespace corun::live
