#include "experiments/live/nvml.hpp"

#include <algorithm>
#include <array>
#include <memory>

#include <dlfcn.h>

#include "sim/error.hpp"
#include "sim/text.hpp"

namespace corun::live {

namespace {

// Names and layouts of nvml.h, so far as they are used.
using Result = int;
constexpr Result kSuccess = 0;
constexpr Result kInsufficientSize = 7;
using Device = void*;

struct Utilization {
  unsigned gpu = 0;
  unsigned memory = 0;
};
struct Memory {
  unsigned long long total = 0;
  unsigned long long free = 0;
  unsigned long long used = 0;
};
/// Of nvmlDeviceGetComputeRunningProcesses_v2 and _v3.
struct ProcessInfo {
  unsigned pid = 0;
  unsigned long long used = 0;
  unsigned gpu_instance = 0;
  unsigned compute_instance = 0;
};
/// Of the function without a version, in drivers before 450.
struct ProcessInfoV1 {
  unsigned pid = 0;
  unsigned long long used = 0;
};
constexpr unsigned long long kNoValue = ~0ULL;

constexpr unsigned kTemperatureGpu = 0;
constexpr unsigned kClockSm = 1;
constexpr unsigned kClockMemory = 2;

constexpr double kMib = 1024.0 * 1024.0;

}  // namespace

struct Nvml::Api {
  void* library = nullptr;
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
  Result (*processes)(Device, unsigned*, ProcessInfo*) = nullptr;
  Result (*processes_v1)(Device, unsigned*, ProcessInfoV1*) = nullptr;

  ~Api() {
    if (library != nullptr) dlclose(library);
  }
  std::string why(Result result) const {
    return error_string != nullptr ? error_string(result) : "error " + std::to_string(result);
  }
  template <typename F>
  void find(F& function, const char* symbol) {
    function = reinterpret_cast<F>(dlsym(library, symbol));
  }
};

namespace {

/// The number that a call gives; nothing where there is no such call or it fails.
template <typename F, typename... A>
std::optional<double> number(F* function, A... arguments) {
  unsigned value = 0;
  if (function == nullptr || function(arguments..., &value) != kSuccess) return std::nullopt;
  return static_cast<double>(value);
}

std::optional<double> milliwatts(const std::optional<double>& value) {
  return value ? std::optional(*value / 1000) : std::nullopt;
}

}  // namespace

Nvml::Nvml(const std::string& library) {
  auto api = std::make_unique<Api>();
  api->library = dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (api->library == nullptr) {
    throw DeviceError("no NVIDIA driver here: " + printable(library) +
                      " cannot be loaded; live mode needs a GPU, the simulator does not");
  }
  api->find(api->init, "nvmlInit_v2");
  api->find(api->shutdown, "nvmlShutdown");
  api->find(api->error_string, "nvmlErrorString");
  api->find(api->driver_version, "nvmlSystemGetDriverVersion");
  api->find(api->cuda_version, "nvmlSystemGetCudaDriverVersion_v2");
  api->find(api->count, "nvmlDeviceGetCount_v2");
  api->find(api->handle, "nvmlDeviceGetHandleByIndex_v2");
  api->find(api->name, "nvmlDeviceGetName");
  api->find(api->uuid, "nvmlDeviceGetUUID");
  api->find(api->memory, "nvmlDeviceGetMemoryInfo");
  api->find(api->utilization, "nvmlDeviceGetUtilizationRates");
  api->find(api->temperature, "nvmlDeviceGetTemperature");
  api->find(api->clock, "nvmlDeviceGetClockInfo");
  api->find(api->power, "nvmlDeviceGetPowerUsage");
  api->find(api->power_limit, "nvmlDeviceGetEnforcedPowerLimit");
  api->find(api->compute_mode, "nvmlDeviceGetComputeMode");
  api->find(api->mig_mode, "nvmlDeviceGetMigMode");
  for (const char* symbol :
       {"nvmlDeviceGetComputeRunningProcesses_v3", "nvmlDeviceGetComputeRunningProcesses_v2"}) {
    if (api->processes == nullptr) api->find(api->processes, symbol);
  }
  api->find(api->processes_v1, "nvmlDeviceGetComputeRunningProcesses");
  if (api->init == nullptr || api->shutdown == nullptr || api->count == nullptr ||
      api->handle == nullptr || api->name == nullptr || api->uuid == nullptr ||
      api->memory == nullptr) {
    throw DeviceError(printable(library) +
                      " lacks what every NVML has; is it the driver's own? Update the driver");
  }
  if (const Result result = api->init(); result != kSuccess) {
    throw DeviceError("the NVIDIA driver does not answer: " + api->why(result) +
                      "; check nvidia-smi");
  }
  try {
    std::array<char, 128> text{};
    const auto ask = [&](auto function, Device device) -> std::string {
      return function(device, text.data(), static_cast<unsigned>(text.size())) == kSuccess
                 ? text.data()
                 : "";
    };
    if (api->driver_version != nullptr &&
        api->driver_version(text.data(), static_cast<unsigned>(text.size())) == kSuccess) {
      driver_ = text.data();
    }
    int cuda = 0;
    if (api->cuda_version != nullptr && api->cuda_version(&cuda) == kSuccess) {
      cuda_ = std::to_string(cuda / 1000) + "." + std::to_string(cuda % 1000 / 10);
    }
    unsigned count = 0;
    if (const Result result = api->count(&count); result != kSuccess) {
      throw DeviceError("the GPUs cannot be counted: " + api->why(result));
    }
    if (count == 0) throw DeviceError("there is an NVIDIA driver here, but no GPU");
    for (unsigned i = 0; i < count; ++i) {
      Device device = nullptr;
      if (const Result result = api->handle(i, &device); result != kSuccess) {
        throw DeviceError("GPU " + std::to_string(i) + " cannot be opened: " + api->why(result));
      }
      GpuFacts facts;
      facts.index = static_cast<int>(i);
      facts.name = ask(api->name, device);
      facts.uuid = ask(api->uuid, device);
      Memory memory;
      if (const Result result = api->memory(device, &memory); result != kSuccess) {
        throw DeviceError("GPU " + std::to_string(i) +
                          " does not tell its memory: " + api->why(result));
      }
      facts.memory_mib = static_cast<double>(memory.total) / kMib;
      unsigned mig = 0;
      unsigned pending = 0;
      if (api->mig_mode != nullptr && api->mig_mode(device, &mig, &pending) == kSuccess) {
        facts.mig = mig != 0;
      }
      if (const auto mode = number(api->compute_mode, device)) {
        facts.mode = *mode == 0   ? GpuFacts::ComputeMode::kDefault
                     : *mode == 2 ? GpuFacts::ComputeMode::kProhibited
                                  : GpuFacts::ComputeMode::kExclusive;
      }
      handles_.push_back(device);
      gpus_.push_back(std::move(facts));
    }
  } catch (...) {
    api->shutdown();
    throw;
  }
  api_ = api.release();
}

Nvml::~Nvml() {
  api_->shutdown();
  delete api_;
}

GpuReading Nvml::read(std::size_t gpu) const {
  const Device device = handles_[gpu];
  Memory memory;
  if (const Result result = api_->memory(device, &memory); result != kSuccess) {
    throw DeviceError("GPU " + std::to_string(gpu) + " (" + gpus_[gpu].name +
                      ") does not answer any more: " + api_->why(result));
  }
  GpuReading reading;
  reading.memory_used_mib = static_cast<double>(memory.used) / kMib;
  Utilization used;
  if (api_->utilization != nullptr && api_->utilization(device, &used) == kSuccess) {
    reading.util_pct = used.gpu;
    reading.mem_time_pct = used.memory;
  }
  reading.temperature_c = number(api_->temperature, device, kTemperatureGpu);
  reading.power_w = milliwatts(number(api_->power, device));
  reading.power_limit_w = milliwatts(number(api_->power_limit, device));
  reading.sm_clock_mhz = number(api_->clock, device, kClockSm);
  reading.memory_clock_mhz = number(api_->clock, device, kClockMemory);
  return reading;
}

std::vector<GpuProcess> Nvml::processes(std::size_t gpu) const {
  const auto ask = [&](auto function, auto info) {
    std::vector<GpuProcess> found;
    std::vector<decltype(info)> list(64);
    for (int attempt = 0; attempt < 4; ++attempt) {
      auto count = static_cast<unsigned>(list.size());
      const Result result = function(handles_[gpu], &count, list.data());
      if (result == kInsufficientSize) {  // more came while it counted
        list.resize(std::size_t{2} * std::max<std::size_t>(count, list.size()));
        continue;
      }
      if (result != kSuccess) break;
      for (unsigned i = 0; i < count; ++i) {
        GpuProcess p;
        p.pid = static_cast<pid_t>(list[i].pid);
        if (list[i].used != kNoValue) p.memory_mib = static_cast<double>(list[i].used) / kMib;
        found.push_back(p);
      }
      break;
    }
    return found;
  };
  if (api_->processes != nullptr) return ask(api_->processes, ProcessInfo{});
  if (api_->processes_v1 != nullptr) return ask(api_->processes_v1, ProcessInfoV1{});
  return {};
}

}  // namespace corun::live
