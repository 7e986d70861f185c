#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "experiments/live/gpu/gpu_box.hpp"
#include "experiments/live/gpu/nvml.hpp"

/// What is on this machine, and for each GPU what would be refused. Nothing is started.
namespace corun::live {

/// A way to use a GPU.
struct GpuUse {
  std::string_view name;
  GpuRules rules;
};

inline constexpr std::array<GpuUse, 3> kGpuUses{{{"alone", {false, false, false}},
                                                 {"time-slicing", {true, false, false}},
                                                 {"mps", {true, true, false}}}};

struct ProbedGpu {
  GpuFacts facts;
  GpuReading now;
  std::optional<std::vector<GpuProcess>> processes;  ///< nothing where the driver does not tell
  /// By position in kGpuUses: why the GPU is not used so; none: it is.
  std::array<std::vector<std::string>, kGpuUses.size()> refused;
};

struct BoxProbe {
  std::string driver;  ///< empty where it does not say
  std::string cuda;    ///< the newest that the driver takes; empty where it does not say
  std::string mps;     ///< mps_state()
  std::vector<ProbedGpu> gpus;
};

/// DeviceError where a GPU does not answer.
BoxProbe probe_box(const Nvml& nvml);

}  // namespace corun::live
