// libnvidia-ml.so.1 for a machine without GPU. It reports the processes of a fake box (fake_box.hpp) or, if
// the box has a file `recording.jsonl`, the answers recorded there (nvml_replay.hpp; the file `speed` in the
// box has a factor on the recorded time). The environment variable FAKE_GPU_BOX names the box.
//
// It is built several times, because drivers differ. Definitions:
//   FAKE_NVML_LISTS=3|2|1|0   newest version of the process lists; older drivers lack the newer ones
//   FAKE_NVML_ENTRY_BYTES=32  of a list of version 3, as in drivers 535.43 to 535.86; else 24
//   FAKE_NVML_MPS             all processes but the first are clients of MPS
//   FAKE_NVML_LACKS           calls that corun does not need are missing
//   FAKE_NVML_UNSUPPORTED     they exist and are not supported
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <optional>
#include <string>

#include "tests/live/gpu/nvml_replay.hpp"
#include "tests/live/run/fake_box.hpp"

#ifndef FAKE_NVML_LISTS
#define FAKE_NVML_LISTS 3
#endif
#ifndef FAKE_NVML_ENTRY_BYTES
#define FAKE_NVML_ENTRY_BYTES 24
#endif

namespace {

using corun::test::FakeGpu;
using corun::test::FakeUse;
using corun::test::NvmlReplay;

constexpr int kSuccess = 0;
constexpr int kUninitialized = 1;
constexpr int kInvalidArgument = 2;
constexpr int kNotSupported = 3;
constexpr int kInsufficientSize = 7;
constexpr int kDriverNotLoaded = 9;
constexpr int kGpuIsLost = 15;
constexpr int kUnknown = 999;
constexpr double kMib = 1024.0 * 1024.0;

std::string box() {
  const char* set = std::getenv("FAKE_GPU_BOX");
  return set != nullptr ? set : "";
}

std::unique_ptr<NvmlReplay> replay;
std::string failed;  // the reason, if it is not one of NVML's own errors

using Gpu = NvmlReplay::Gpu;
using Reading = NvmlReplay::Reading;
using Processes = NvmlReplay::Processes;

std::vector<Gpu> gpus() {
  if (replay) return replay->gpus();
  std::vector<Gpu> list;
  for (const FakeGpu& g : corun::test::fake_gpus(box())) {
    list.push_back({g.name, g.memory_mib, g.mig != 0, static_cast<unsigned>(g.mode)});
  }
  return list;
}

/// A device handle is the address of an element, so that wrong handles such as indices are found.
int slots[64];

std::size_t number_of(void* device) {
  return static_cast<std::size_t>(static_cast<int*>(device) - slots);
}
Gpu gpu_of(void* device) { return gpus()[number_of(device)]; }

int check(void* device) {
  if (device < slots || device >= slots + gpus().size()) return kInvalidArgument;
  if (replay) {
    const auto failure = replay->failure(number_of(device));
    if (failure) failed = failure->second;
    return failure ? failure->first : kSuccess;
  }
  return std::filesystem::exists(box() + "/lost") ? kGpuIsLost : kSuccess;
}

Reading reading(void* device) {
  if (replay) return replay->reading(number_of(device));
  FakeUse sum;
  for (const FakeUse& use : corun::test::fake_uses(box(), static_cast<int>(number_of(device)))) {
    sum.util += use.util;
    sum.mem_time += use.mem_time;
    sum.memory_mib += use.memory_mib;
  }
  const double util = std::min(100.0, sum.util);
  return {std::min(gpu_of(device).memory_mib, sum.memory_mib),
          util,
          std::min(100.0, sum.mem_time),
          35 + util * 0.4,
          50 + util * 2,
          250,
          1530,
          877};
}

Processes processes(void* device) {
  if (replay) return replay->processes(number_of(device));
  Processes list(std::in_place);
  for (const FakeUse& use : corun::test::fake_uses(box(), static_cast<int>(number_of(device)))) {
    list->push_back({use.pid, use.memory_mib});
  }
  return list;
}

int text(const std::string& value, char* out, unsigned length) {
  if (value.size() + 1 > length) return kInsufficientSize;
  value.copy(out, value.size());
  out[value.size()] = '\0';
  return kSuccess;
}

[[maybe_unused]] int number(const std::optional<double>& value, double factor, unsigned* out) {
  if (!value) return kNotSupported;
  *out = static_cast<unsigned>(std::floor(*value * factor + 1e-6));
  return kSuccess;
}

/// For calls that corun does not need: the answer of this variant, else that of the box.
int check_optional(void* device) {
#ifdef FAKE_NVML_UNSUPPORTED
  static_cast<void>(device);
  return kNotSupported;
#else
  return check(device);
#endif
}

int write_list(const Processes& list, unsigned* count, void* out, std::size_t entry_bytes) {
  if (!list) return kNotSupported;
  const unsigned room = *count;
  *count = static_cast<unsigned>(list->size());
  if (*count > room) return kInsufficientSize;
  for (std::size_t i = 0; i < list->size(); ++i) {
    char* entry = static_cast<char*>(out) + i * entry_bytes;
    const auto pid = static_cast<unsigned>((*list)[i].pid);
    const auto& memory = (*list)[i].memory_mib;
    const unsigned long long used =
        memory ? static_cast<unsigned long long>(*memory * kMib) : ~0ULL;
    std::memcpy(entry, &pid, sizeof pid);
    std::memcpy(entry + 8, &used, sizeof used);
    if (entry_bytes >= 24) std::memset(entry + 16, 0xFF, 8);  // no MIG instances
    if (entry_bytes >= 32) std::memset(entry + 24, 0, 8);     // no protected memory
  }
  return kSuccess;
}

[[maybe_unused]] int compute_list(void* device, unsigned* count, void* out, std::size_t bytes) {
  if (const int result = check_optional(device); result != kSuccess) return result;
  Processes list = processes(device);
#ifdef FAKE_NVML_MPS
  if (list && list->size() > 1) list->resize(1);
#endif
  return write_list(list, count, out, bytes);
}

[[maybe_unused]] int mps_list(void* device, unsigned* count, void* out, std::size_t bytes) {
  if (const int result = check_optional(device); result != kSuccess) return result;
#ifdef FAKE_NVML_MPS
  return write_list(processes(device), count, out, bytes);
#else
  return write_list(Processes(std::in_place), count, out, bytes);
#endif
}

struct Utilization {
  unsigned gpu;
  unsigned memory;
};
struct Memory {
  unsigned long long total;
  unsigned long long free;
  unsigned long long used;
};

}  // namespace

extern "C" {

int nvmlInit_v2() {
  replay.reset();
  failed.clear();
  const std::string recording = box() + "/recording.jsonl";
  if (std::filesystem::exists(recording)) {
    double speed = 1;
    std::ifstream(box() + "/speed") >> speed;
    try {
      replay = std::make_unique<NvmlReplay>(recording, box(), speed);
    } catch (const std::exception& e) {
      failed = e.what();
      return kUnknown;
    }
    return kSuccess;
  }
  return std::filesystem::exists(box() + "/gpus") ? kSuccess : kDriverNotLoaded;
}
int nvmlShutdown() {
  replay.reset();
  return kSuccess;
}
const char* nvmlErrorString(int result) {
  return !failed.empty()              ? failed.c_str()
         : result == kDriverNotLoaded ? "Driver Not Loaded"
         : result == kGpuIsLost       ? "GPU is lost"
         : result == kUninitialized   ? "Uninitialized"
         : result == kNotSupported    ? "Not Supported"
                                      : "Invalid Argument";
}
int nvmlDeviceGetCount_v2(unsigned* count) {
  *count = static_cast<unsigned>(gpus().size());
  return kSuccess;
}
int nvmlDeviceGetHandleByIndex_v2(unsigned index, void** device) {
  *device = slots + index;
  return index < gpus().size() ? kSuccess : kInvalidArgument;
}
int nvmlDeviceGetName(void* device, char* out, unsigned length) {
  return text(gpu_of(device).name, out, length);
}
int nvmlDeviceGetUUID(void* device, char* out, unsigned length) {
  return text("GPU-fake-" + std::to_string(number_of(device)), out, length);
}
int nvmlDeviceGetMemoryInfo(void* device, Memory* memory) {
  if (const int result = check(device); result != kSuccess) return result;
  const auto total = static_cast<unsigned long long>(gpu_of(device).memory_mib * kMib);
  const auto used = static_cast<unsigned long long>(reading(device).memory_used_mib * kMib);
  *memory = {total, total - std::min(used, total), used};
  return kSuccess;
}

#ifndef FAKE_NVML_LACKS
int nvmlSystemGetDriverVersion(char* out, unsigned length) {
  return text(replay ? replay->driver() : "550.00.fake", out, length);
}
int nvmlSystemGetCudaDriverVersion_v2(int* version) {
  int major = 12;
  int minor = 4;
  if (replay) std::sscanf(replay->cuda().c_str(), "%d.%d", &major, &minor);
  *version = major * 1000 + minor * 10;
  return kSuccess;
}
int nvmlDeviceGetUtilizationRates(void* device, Utilization* rates) {
  if (const int result = check_optional(device); result != kSuccess) return result;
  const Reading now = reading(device);
  if (!now.util_pct || !now.mem_time_pct) return kNotSupported;
  *rates = {static_cast<unsigned>(*now.util_pct), static_cast<unsigned>(*now.mem_time_pct)};
  return kSuccess;
}
int nvmlDeviceGetTemperature(void* device, unsigned, unsigned* degrees) {
  const int result = check_optional(device);
  return result != kSuccess ? result : number(reading(device).temperature_c, 1, degrees);
}
int nvmlDeviceGetClockInfo(void* device, unsigned type, unsigned* mhz) {
  const int result = check_optional(device);
  if (result != kSuccess) return result;
  const Reading now = reading(device);
  return number(type == 2 ? now.memory_clock_mhz : now.sm_clock_mhz, 1, mhz);
}
int nvmlDeviceGetPowerUsage(void* device, unsigned* milliwatts) {
  const int result = check_optional(device);
  return result != kSuccess ? result : number(reading(device).power_w, 1000, milliwatts);
}
int nvmlDeviceGetEnforcedPowerLimit(void* device, unsigned* milliwatts) {
  const int result = check_optional(device);
  return result != kSuccess ? result : number(reading(device).power_limit_w, 1000, milliwatts);
}
int nvmlDeviceGetComputeMode(void* device, unsigned* mode) {
  if (const int result = check_optional(device); result != kSuccess) return result;
  return number(gpu_of(device).mode, 1, mode);
}
int nvmlDeviceGetMigMode(void* device, unsigned* current, unsigned* pending) {
  if (const int result = check_optional(device); result != kSuccess) return result;
  const auto mig = gpu_of(device).mig;
  *current = *pending = mig.value_or(false) ? 1 : 0;
  return mig ? kSuccess : kNotSupported;
}
#if FAKE_NVML_LISTS >= 1
int nvmlDeviceGetComputeRunningProcesses(void* device, unsigned* count, void* list) {
  return compute_list(device, count, list, 16);
}
int nvmlDeviceGetMPSComputeRunningProcesses(void* device, unsigned* count, void* list) {
  return mps_list(device, count, list, 16);
}
#endif
#if FAKE_NVML_LISTS >= 2
int nvmlDeviceGetComputeRunningProcesses_v2(void* device, unsigned* count, void* list) {
  return compute_list(device, count, list, 24);
}
int nvmlDeviceGetMPSComputeRunningProcesses_v2(void* device, unsigned* count, void* list) {
  return mps_list(device, count, list, 24);
}
#endif
#if FAKE_NVML_LISTS >= 3
int nvmlDeviceGetComputeRunningProcesses_v3(void* device, unsigned* count, void* list) {
  return compute_list(device, count, list, FAKE_NVML_ENTRY_BYTES);
}
int nvmlDeviceGetMPSComputeRunningProcesses_v3(void* device, unsigned* count, void* list) {
  return mps_list(device, count, list, FAKE_NVML_ENTRY_BYTES);
}
#endif
#endif
}
