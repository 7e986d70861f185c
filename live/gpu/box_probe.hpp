#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "live/gpu/gpu_box.hpp"
#include "live/gpu/nvml.hpp"

/// The GPUs of this machine and, for each GPU, the uses that would be refused. Nothing is started.
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
  std::optional<std::vector<GpuProcess>> processes;  ///< nullopt: not reported by the driver
  /// One entry per use in kGpuUses: the reasons against it; empty: the GPU can be used so.
  std::array<std::vector<std::string>, kGpuUses.size()> refused;
};

struct BoxProbe {
  std::string driver;  ///< empty: not reported
  std::string cuda;    ///< newest version that the driver supports; empty: not reported
  std::string mps;     ///< mps_state()
  std::vector<ProbedGpu> gpus;
};

/// Throws DeviceError if a GPU does not answer.
BoxProbe probe_box(const Nvml& nvml);

}  // namespace corun::live
