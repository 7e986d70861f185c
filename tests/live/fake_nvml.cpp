// libnvidia-ml.so.1 for a box without GPU: says what the processes of a fake box do (fake_box.hpp). The
// box is named by the environment variable FAKE_GPU_BOX.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <string>

#include "tests/live/fake_box.hpp"

namespace {

using corun::test::FakeGpu;
using corun::test::FakeUse;

constexpr int kSuccess = 0;
constexpr int kUninitialized = 1;
constexpr int kInvalidArgument = 2;
constexpr int kInsufficientSize = 7;
constexpr int kGpuIsLost = 15;

std::string box() {
  const char* set = std::getenv("FAKE_GPU_BOX");
  return set != nullptr ? set : "";
}

/// A device handle is the address of one of these, so that a wrong one is no small number.
int slots[64];

int gpu_of(void* device) { return static_cast<int>(static_cast<int*>(device) - slots); }

int check(void* device) {
  if (device < slots || device >= slots + corun::test::fake_gpus(box()).size())
    return kInvalidArgument;
  return std::filesystem::exists(box() + "/lost") ? kGpuIsLost : kSuccess;
}

int text(const std::string& value, char* out, unsigned length) {
  if (value.size() + 1 > length) return kInsufficientSize;
  value.copy(out, value.size());
  out[value.size()] = '\0';
  return kSuccess;
}

double sum(void* device, double FakeUse::*what) {
  double total = 0;
  for (const FakeUse& use : corun::test::fake_uses(box(), gpu_of(device))) total += use.*what;
  return total;
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
struct Process {
  unsigned pid;
  unsigned long long used;
  unsigned gpu_instance;
  unsigned compute_instance;
};
constexpr double kMib = 1024.0 * 1024.0;

}  // namespace

extern "C" {

int nvmlInit_v2() { return std::filesystem::exists(box() + "/gpus") ? kSuccess : 9; }
int nvmlShutdown() { return kSuccess; }
const char* nvmlErrorString(int result) {
  return result == 9                ? "Driver Not Loaded"
         : result == kGpuIsLost     ? "GPU is lost"
         : result == kUninitialized ? "Uninitialized"
                                    : "Invalid Argument";
}
int nvmlSystemGetDriverVersion(char* out, unsigned length) {
  return text("550.00.fake", out, length);
}
int nvmlSystemGetCudaDriverVersion_v2(int* version) {
  *version = 12040;
  return kSuccess;
}
int nvmlDeviceGetCount_v2(unsigned* count) {
  *count = static_cast<unsigned>(corun::test::fake_gpus(box()).size());
  return kSuccess;
}
int nvmlDeviceGetHandleByIndex_v2(unsigned index, void** device) {
  *device = slots + index;
  return check(*device);
}
int nvmlDeviceGetName(void* device, char* out, unsigned length) {
  return text(corun::test::fake_gpus(box())[static_cast<std::size_t>(gpu_of(device))].name, out,
              length);
}
int nvmlDeviceGetUUID(void* device, char* out, unsigned length) {
  return text("GPU-fake-" + std::to_string(gpu_of(device)), out, length);
}
int nvmlDeviceGetMemoryInfo(void* device, Memory* memory) {
  if (const int result = check(device); result != kSuccess) return result;
  const double total =
      corun::test::fake_gpus(box())[static_cast<std::size_t>(gpu_of(device))].memory_mib;
  const double used = std::min(total, sum(device, &FakeUse::memory_mib));
  *memory = {static_cast<unsigned long long>(total * kMib),
             static_cast<unsigned long long>((total - used) * kMib),
             static_cast<unsigned long long>(used * kMib)};
  return kSuccess;
}
int nvmlDeviceGetUtilizationRates(void* device, Utilization* rates) {
  if (const int result = check(device); result != kSuccess) return result;
  rates->gpu = static_cast<unsigned>(std::min(100.0, sum(device, &FakeUse::util)));
  rates->memory = static_cast<unsigned>(std::min(100.0, sum(device, &FakeUse::mem_time)));
  return kSuccess;
}
int nvmlDeviceGetTemperature(void* device, unsigned, unsigned* degrees) {
  *degrees = static_cast<unsigned>(35 + std::min(100.0, sum(device, &FakeUse::util)) * 0.4);
  return check(device);
}
int nvmlDeviceGetClockInfo(void* device, unsigned type, unsigned* mhz) {
  *mhz = type == 2 ? 877 : 1530;
  return check(device);
}
int nvmlDeviceGetPowerUsage(void* device, unsigned* milliwatts) {
  *milliwatts = static_cast<unsigned>(50e3 + std::min(100.0, sum(device, &FakeUse::util)) * 2e3);
  return check(device);
}
int nvmlDeviceGetEnforcedPowerLimit(void* device, unsigned* milliwatts) {
  *milliwatts = 250000;
  return check(device);
}
int nvmlDeviceGetComputeMode(void* device, unsigned* mode) {
  *mode = static_cast<unsigned>(
      corun::test::fake_gpus(box())[static_cast<std::size_t>(gpu_of(device))].mode);
  return check(device);
}
int nvmlDeviceGetMigMode(void* device, unsigned* current, unsigned* pending) {
  *current = *pending = static_cast<unsigned>(
      corun::test::fake_gpus(box())[static_cast<std::size_t>(gpu_of(device))].mig);
  return check(device);
}
int nvmlDeviceGetComputeRunningProcesses_v3(void* device, unsigned* count, Process* list) {
  if (const int result = check(device); result != kSuccess) return result;
  const auto uses = corun::test::fake_uses(box(), gpu_of(device));
  const unsigned room = *count;
  *count = static_cast<unsigned>(uses.size());
  if (uses.size() > room) return kInsufficientSize;
  for (std::size_t i = 0; i < uses.size(); ++i) {
    list[i] = {static_cast<unsigned>(uses[i].pid),
               static_cast<unsigned long long>(uses[i].memory_mib * kMib), ~0U, ~0U};
  }
  return kSuccess;
}
}
