#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "experiments/live/workloads/device.hpp"
#include "experiments/live/workloads/recipe.hpp"

/// The loop around the steps of a workload, and the lines that it prints: one JSON object each. Live
/// mode reads the last of them (told_rate()), and users' programs may print the same.
///
///   {"event": "start", "workload": "gemm", "gpu": ..., "gemm": "cublas", "steps": 250, ...}
///   {"event": "step", "step": 25, "of": 250, "seconds": 1.01}
///   {"event": "end", "steps": 250, "seconds": 10.1, "steps_per_s": 24.7, "steady_steps_per_s": 24.8,
///    "checksum": 1.25}
///
/// `seconds` count from before the first step, without the start of the process and of CUDA. The steady
/// throughput leaves out the first tenth of the steps; null for a run of one step.
namespace corun::live {

/// The host's time, so that tests need not wait.
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

/// The first line.
std::string start_line(const WorkloadRun& run, const WorkloadDevice& device);

/// Makes all steps. DeviceError when the GPU fails or its results are not numbers.
void run_steps(const WorkloadRun& run, WorkloadDevice& device, const HostClock& clock,
               const WriteLine& write);

/// What a program says of its throughput: `steady_steps_per_s` of the last line of `output`, where that is
/// such a line with "event": "end". Users' programs may end with it as the built-in workloads do.
std::optional<double> told_rate(std::string_view output);

/// How many steps take `seconds` here, when nobody else uses the GPU: at least 1. Warms up, then measures
/// for a quarter of that time, between half a second and five.
struct Calibration {
  std::int64_t steps = 1;
  double steps_per_s = 0;
};
Calibration calibrate(const Recipe& recipe, WorkloadDevice& device, const HostClock& clock,
                      double seconds);

/// What it prints in place of the lines above: {"event": "calibrated", ..., "steps": ...}.
std::string calibrated_line(const Recipe& recipe, const WorkloadDevice& device, double seconds,
                            const Calibration& found);

}  // namespace corun::live
