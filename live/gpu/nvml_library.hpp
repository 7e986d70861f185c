#pragma once

#include <optional>
#include <string>
#include <vector>

#include "live/gpu/nvml.hpp"

/// NVIDIA's management library at run time: its calls, and those names and layouts of nvml.h that corun uses.
namespace corun::live {

struct NvmlLibrary {
  using Result = int;  ///< nvmlReturn_t
  static constexpr Result kSuccess = 0;
  static constexpr Result kInsufficientSize = 7;
  static constexpr Result kFunctionNotFound = 13;
  static constexpr unsigned kTemperatureGpu = 0;
  static constexpr unsigned kClockSm = 1;
  static constexpr unsigned kClockMemory = 2;
  using Device = void*;
  struct Utilization {
    unsigned gpu = 0;
    unsigned memory = 0;
  };
  struct Memory {  ///< bytes
    unsigned long long total = 0;
    unsigned long long free = 0;
    unsigned long long used = 0;
  };

  /// Loads and starts the library. Throws DeviceError if it, one of its basic calls or the driver is missing.
  explicit NvmlLibrary(const std::string& file);
  ~NvmlLibrary();
  NvmlLibrary(const NvmlLibrary&) = delete;
  NvmlLibrary& operator=(const NvmlLibrary&) = delete;

  std::string why(Result result) const;

  // Null if the library lacks the call; never null: init, shutdown, count, handle, name, uuid, memory.
  Result (*init)() = nullptr;
  Result (*shutdown)() = nullptr;
  const char* (*error_string)(Result) = nullptr;
  Result (*driver_version)(char*, unsigned) = nullptr;
  Result (*cuda_version)(int*) = nullptr;
  Result (*count)(unsigned*) = nullptr;
  Result (*handle)(unsigned, Device*) = nullptr;
  Result (*name)(Device, char*, unsigned) = nullptr;
  Result (*uuid)(Device, char*, unsigned) = nullptr;
  Result (*memory)(Device, Memory*) = nullptr;
  Result (*utilization)(Device, Utilization*) = nullptr;
  Result (*temperature)(Device, unsigned, unsigned*) = nullptr;
  Result (*clock)(Device, unsigned, unsigned*) = nullptr;
  Result (*power)(Device, unsigned*) = nullptr;
  Result (*power_limit)(Device, unsigned*) = nullptr;
  Result (*compute_mode)(Device, unsigned*) = nullptr;
  Result (*mig_mode)(Device, unsigned*, unsigned*) = nullptr;
  /// All versions that the library has, newest first.
  using ProcessList = Result (*)(Device, unsigned*, void*);
  std::vector<ProcessList> compute_processes;
  std::vector<ProcessList> mps_processes;

 private:
  template <typename F>
  void find(F& function, const char* symbol);
  void find_all(std::vector<ProcessList>& functions, const std::string& symbol);
  void find_calls();

  void* library_ = nullptr;
};

inline constexpr double kBytesPerMib = 1024.0 * 1024.0;

/// The processes by the first of these calls that the driver supports; nullopt if none is or the call fails.
std::optional<std::vector<GpuProcess>> list_processes(
    const std::vector<NvmlLibrary::ProcessList>& calls, NvmlLibrary::Device device);

}  // namespace corun::live
