#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "live/workloads/device.hpp"
#include "live/workloads/recipe.hpp"

/// The loop around the steps of a workload, and the lines that it prints, one JSON object each. Live mode
/// reads the last line (told_rate()); users' programs may print the same.
///
///   {"event": "start", "workload": "gemm", "gpu": ..., "gemm": "cublas", "steps": 250, ...}
///   {"event": "step", "step": 25, "of": 250, "seconds": 1.01}
///   {"event": "end", "steps": 250, "seconds": 10.1, "steps_per_s": 24.7, "steady_steps_per_s": 24.8,
///    "checksum": 1.25}
///
/// `seconds` count from before the first step, without the start of the process and of CUDA. The steady
/// throughput is without the first tenth of the steps (at least one); null for a run of one step.
namespace corun::live {

/// The host's clock; tests replace it so that they need not wait.
struct HostClock {
  std::function<double()> now_s;        ///< steady [s]
  std::function<void(double)> sleep_s;  ///< [s]
};
HostClock real_clock();

using WriteLine = std::function<void(const std::string&)>;

struct WorkloadRun {
  Recipe recipe;  ///< dials set
  double intensity = 1;
  std::uint64_t seed = 1;
  std::int64_t steps = 1;
  std::int64_t report_every = 1;  ///< steps between two lines
};

/// Makes step number `step` (from 1) and the wait for input that follows some steps.
void make_step(const Recipe& recipe, std::int64_t step, WorkloadDevice& device,
               const HostClock& clock);

/// The first line.
std::string start_line(const WorkloadRun& run, const WorkloadDevice& device);

/// Makes all steps. Throws DeviceError if the GPU fails or its results are not finite.
void run_steps(const WorkloadRun& run, WorkloadDevice& device, const HostClock& clock,
               const WriteLine& write);

/// The throughput [steps/s] that a program reports: `steady_steps_per_s` in the last line of `output`, if
/// that is a line with "event": "end".
std::optional<double> told_rate(std::string_view output);

/// The number of steps (at least 1) that take `seconds` if no other process uses the GPU. Warms up, then
/// measures for a quarter of `seconds`, at least 0.5 s and at most 5 s. Throws as WorkloadDevice::step().
struct Calibration {
  std::int64_t steps = 1;
  double steps_per_s = 0;
};
Calibration calibrate(const Recipe& recipe, WorkloadDevice& device, const HostClock& clock,
                      double seconds);

/// The line printed after a calibration: {"event": "calibrated", ..., "steps": ...}.
std::string calibrated_line(const Recipe& recipe, const WorkloadDevice& device, double seconds,
                            const Calibration& found);

}  // namespace corun::live
