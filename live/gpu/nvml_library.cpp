#include "live/gpu/nvml_library.hpp"

#include <algorithm>
#include <cstring>
#include <span>

#include <dlfcn.h>

#include "sim/base/text.hpp"
#include "sim/error.hpp"

namespace corun::live {

namespace {

/// The largest entry in a list of processes that any driver has written (process_entries()).
constexpr std::size_t kEntryMax = 32;
/// Fills the buffer before the driver writes to it.
constexpr unsigned char kUntouched = 0xA5;
constexpr unsigned kMostProcesses = 1U << 16;
constexpr unsigned long long kNoValue = ~0ULL;

/// The `count` entries that the driver wrote to `bytes`, each with pid at byte 0 and memory at byte 8. The
/// name of a call does not give their size, so it is measured by the bytes still untouched: 16 bytes in
/// calls without a version; 24 (GPU instance, compute instance) in _v2 and _v3; but 32 (protected memory) in
/// _v3 of drivers 535.43 to 535.86. nullopt for any other size.
std::optional<std::vector<GpuProcess>> process_entries(std::span<const unsigned char> bytes,
                                                       unsigned count) {
  std::size_t written = bytes.size();
  while (written > 0 && bytes[written - 1] == kUntouched) --written;
  std::vector<GpuProcess> found;
  if (count == 0) return found;
  const std::size_t size = written / count;
  if (size * count != written || (size != 16 && size != 24 && size != 32)) return std::nullopt;
  for (std::size_t i = 0; i < count; ++i) {
    unsigned pid = 0;
    unsigned long long used = 0;
    std::memcpy(&pid, &bytes[i * size], sizeof pid);
    std::memcpy(&used, &bytes[i * size + 8], sizeof used);
    GpuProcess p;
    p.pid = static_cast<pid_t>(pid);
    if (used != kNoValue) p.memory_mib = static_cast<double>(used) / kBytesPerMib;
    found.push_back(p);
  }
  return found;
}

}  // namespace

NvmlLibrary::NvmlLibrary(const std::string& file)
    : library_(dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL)) {
  if (library_ == nullptr) {
    throw DeviceError("no NVIDIA driver here: " + printable(file) +
                      " cannot be loaded; live mode needs a GPU, the simulator does not");
  }
  try {
    find_calls();
    if (init == nullptr || shutdown == nullptr || count == nullptr || handle == nullptr ||
        name == nullptr || uuid == nullptr || memory == nullptr) {
      throw DeviceError(printable(file) +
                        " lacks what every NVML has; is it the driver's own? Update the driver");
    }
    if (const Result result = init(); result != kSuccess) {
      throw DeviceError("the NVIDIA driver does not answer: " + why(result) + "; check nvidia-smi");
    }
  } catch (...) {
    dlclose(library_);
    throw;
  }
}

NvmlLibrary::~NvmlLibrary() {
  shutdown();
  dlclose(library_);
}

std::string NvmlLibrary::why(Result result) const {
  return error_string != nullptr ? error_string(result) : "error " + std::to_string(result);
}

template <typename F>
void NvmlLibrary::find(F& function, const char* symbol) {
  function = reinterpret_cast<F>(dlsym(library_, symbol));
}

void NvmlLibrary::find_all(std::vector<ProcessList>& functions, const std::string& symbol) {
  for (const char* version : {"_v3", "_v2", ""}) {
    ProcessList function = nullptr;
    find(function, (symbol + version).c_str());
    if (function != nullptr) functions.push_back(function);
  }
}

void NvmlLibrary::find_calls() {
  find(init, "nvmlInit_v2");
  find(shutdown, "nvmlShutdown");
  find(error_string, "nvmlErrorString");
  find(driver_version, "nvmlSystemGetDriverVersion");
  find(cuda_version, "nvmlSystemGetCudaDriverVersion_v2");
  find(count, "nvmlDeviceGetCount_v2");
  find(handle, "nvmlDeviceGetHandleByIndex_v2");
  find(name, "nvmlDeviceGetName");
  find(uuid, "nvmlDeviceGetUUID");
  find(memory, "nvmlDeviceGetMemoryInfo");
  find(utilization, "nvmlDeviceGetUtilizationRates");
  find(temperature, "nvmlDeviceGetTemperature");
  find(clock, "nvmlDeviceGetClockInfo");
  find(power, "nvmlDeviceGetPowerUsage");
  find(power_limit, "nvmlDeviceGetEnforcedPowerLimit");
  find(compute_mode, "nvmlDeviceGetComputeMode");
  find(mig_mode, "nvmlDeviceGetMigMode");
  find_all(compute_processes, "nvmlDeviceGetComputeRunningProcesses");
  find_all(mps_processes, "nvmlDeviceGetMPSComputeRunningProcesses");
}

std::optional<std::vector<GpuProcess>> list_processes(
    const std::vector<NvmlLibrary::ProcessList>& calls, NvmlLibrary::Device device) {
  unsigned room = 64;
  for (const NvmlLibrary::ProcessList call : calls) {
    NvmlLibrary::Result result = NvmlLibrary::kInsufficientSize;
    for (int attempt = 0; attempt < 4 && result == NvmlLibrary::kInsufficientSize; ++attempt) {
      std::vector<unsigned char> bytes(room * kEntryMax, kUntouched);
      unsigned count = room;
      result = call(device, &count, bytes.data());
      if (result == NvmlLibrary::kSuccess && count <= room) return process_entries(bytes, count);
      room = std::min(2 * std::max(count, room), kMostProcesses);  // more processes came meanwhile
    }
    if (result != NvmlLibrary::kFunctionNotFound)
      return std::nullopt;  // else the library is newer than the driver
  }
  return std::nullopt;
}

}  // namespace corun::live
