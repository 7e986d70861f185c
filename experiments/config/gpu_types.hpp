#pragma once

#include <array>
#include <span>
#include <string_view>

/// GPU types that a configuration may name, with their device memory. The configuration gives their
/// speed relative to the trace's reference GPU (cluster.gpu_speed), because it depends on the jobs.
namespace corun {

struct GpuTypeInfo {
  std::string_view name;
  double memory_mib;  ///< nominal device memory
};

inline std::span<const GpuTypeInfo> gpu_types() {
  static constexpr std::array<GpuTypeInfo, 23> kTypes{{
      {"V100-16GB", 16384},
      {"V100-32GB", 32768},
      {"T4", 16384},
      {"P100-16GB", 16384},
      {"K80", 12288},
      {"RTX-2080Ti", 11264},
      {"RTX-3090", 24576},
      {"A10", 24576},
      {"A100-40GB", 40960},
      {"A100-80GB", 81920},
      {"H100-80GB", 81920},
      {"H200-141GB", 144384},
      {"L40S", 49152},
      // Names in Alibaba's node lists. G1 to G3 are undisclosed models; their memory is the
      // stand-in value of the simulator published with the lists.
      {"P100", 16384},
      {"V100M16", 16384},
      {"V100M32", 32768},
      {"P4", 8192},
      {"2080", 11264},
      {"1080", 11264},
      {"M40", 12288},
      {"G1", 10000},
      {"G2", 20000},
      {"G3", 30000},
  }};
  return kTypes;
}

/// The name in a configuration for the GPU type of a pair table; Gavel's types are translated.
inline std::string_view gpu_type_of_table(std::string_view gpu) {
  if (gpu == "v100") return "V100-16GB";
  if (gpu == "p100") return "P100-16GB";
  if (gpu == "k80") return "K80";
  return gpu;
}

/// Gavel's name for a configuration's GPU type; empty for a type that Gavel lacks.
inline std::string_view gpu_of_gavel(std::string_view type) {
  for (const std::string_view gpu : {"v100", "p100", "k80"}) {
    if (gpu_type_of_table(gpu) == type) return gpu;
  }
  return {};
}

inline const GpuTypeInfo* find_gpu_type(std::string_view name) {
  for (const GpuTypeInfo& type : gpu_types()) {
    if (type.name == name) return &type;
  }
  return nullptr;
}

}  // namespace corun
