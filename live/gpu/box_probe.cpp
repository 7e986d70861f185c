#include "live/gpu/box_probe.hpp"

namespace corun::live {

BoxProbe probe_box(const Nvml& nvml) {
  BoxProbe box{nvml.driver_version(), nvml.cuda_version(), mps_state(), {}};
  for (std::size_t g = 0; g < nvml.gpus().size(); ++g) {
    ProbedGpu gpu{nvml.gpus()[g], nvml.read(g), nvml.processes(g), {}};
    for (std::size_t u = 0; u < kGpuUses.size(); ++u) {
      gpu.refused[u] = refusals(nvml, g, kGpuUses[u].rules);
      if (kGpuUses[u].rules.mps && !mps_installed()) {
        gpu.refused[u].emplace_back(
            "MPS is not installed: nvidia-cuda-mps-control, which comes with the driver, "
            "is not in PATH");
      }
    }
    box.gpus.push_back(std::move(gpu));
  }
  return box;
}

}  // namespace corun::live
