#include "experiments/live/gpu/nvml.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <memory>
#include <span>

#include <dlfcn.h>

#include "experiments/live/gpu/nvml_recording.hpp"
#include "sim/base/text.hpp"
#include "sim/error.hpp"

namespace corun::live {

namespace {

// Names and layouts of nvml.h, so far as they are used.
using Result = int;
constexpr Result kSuccess = 0;
constexpr Result kInsufficientSize = 7;
constexpr Result kFunctionNotFound = 13;
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
/// The largest entry in a list of processes that any driver has written (process_entries()).
constexpr std::size_t kEntryMax = 32;
/// Fills what the driver is to write to.
constexpr unsigned char kUntouched = 0xA5;
constexpr unsigned kMostProcesses = 1U << 16;
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
  /// Newest first.
  using ProcessList = Result (*)(Device, unsigned*, void*);
  std::vector<ProcessList> compute_processes;
  std::vector<ProcessList> mps_processes;
  bool initialized = false;

  Api() = default;
  Api(const Api&) = delete;
  Api& operator=(const Api&) = delete;
  ~Api() {
    if (initialized) shutdown();
    if (library != nullptr) dlclose(library);
  }
  std::string why(Result result) const {
    return error_string != nullptr ? error_string(result) : "error " + std::to_string(result);
  }
  template <typename F>
  void find(F& function, const char* symbol) {
    function = reinterpret_cast<F>(dlsym(library, symbol));
  }
  void find_all(std::vector<ProcessList>& functions, const std::string& symbol) {
    for (const char* version : {"_v3", "_v2", ""}) {
      ProcessList function = nullptr;
      find(function, (symbol + version).c_str());
      if (function != nullptr) functions.push_back(function);
    }
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

/// What the driver wrote to `bytes`: `count` entries, each with pid at 0 and memory at 8. Their size is
/// measured by what is still untouched, as it does not follow from the name of the call: 16 bytes in the
/// calls without a version; 24 (GPU instance, compute instance) in _v2 and _v3; but 32 (protected memory) in
/// _v3 of drivers 535.43 to 535.86. Nothing where it is none of these.
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
    if (used != kNoValue) p.memory_mib = static_cast<double>(used) / kMib;
    found.push_back(p);
  }
  return found;
}

template <typename F>
std::optional<std::vector<GpuProcess>> process_list(const std::vector<F>& functions,
                                                    Device device) {
  unsigned room = 64;
  for (const F function : functions) {
    Result result = kInsufficientSize;
    for (int attempt = 0; attempt < 4 && result == kInsufficientSize; ++attempt) {
      std::vector<unsigned char> bytes(room * kEntryMax, kUntouched);
      unsigned count = room;
      result = function(device, &count, bytes.data());
      if (result == kSuccess && count <= room) return process_entries(bytes, count);
      room = std::min(2 * std::max(count, room), kMostProcesses);  // more came while it counted
    }
    if (result != kFunctionNotFound) return std::nullopt;  // else: a library newer than its driver
  }
  return std::nullopt;
}

}  // namespace

std::string_view name_of(GpuFacts::ComputeMode mode) {
  switch (mode) {
    case GpuFacts::ComputeMode::kDefault:
      return "default";
    case GpuFacts::ComputeMode::kExclusive:
      return "exclusive";
    case GpuFacts::ComputeMode::kProhibited:
      return "prohibited";
  }
  return "";
}

Nvml::Nvml(const std::string& library, const std::string& record) {
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
  api->find_all(api->compute_processes, "nvmlDeviceGetComputeRunningProcesses");
  api->find_all(api->mps_processes, "nvmlDeviceGetMPSComputeRunningProcesses");
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
  api->initialized = true;
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
    if (facts.uuid.empty()) {  // jobs could not be pointed at it
      throw DeviceError("GPU " + std::to_string(i) + " does not tell its UUID; update the driver");
    }
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
  if (!record.empty()) {
    recording_ = std::make_unique<NvmlRecording>(record, driver_, cuda_, gpus_);
  }
  api_ = std::move(api);
}

Nvml::~Nvml() = default;

GpuReading Nvml::read(std::size_t gpu) const {
  const Device device = handles_[gpu];
  Memory memory;
  if (const Result result = api_->memory(device, &memory); result != kSuccess) {
    if (recording_) recording_->take_failure(gpu, result, api_->why(result));
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
  if (recording_) recording_->take(gpu, reading);
  return reading;
}

std::optional<std::vector<GpuProcess>> Nvml::processes(std::size_t gpu) const {
  auto found = process_list(api_->compute_processes, handles_[gpu]);
  const auto clients = process_list(api_->mps_processes, handles_[gpu]);
  if (found && clients) {
    for (const GpuProcess& client : *clients) {
      const auto is_it = [&](const GpuProcess& p) { return p.pid == client.pid; };
      if (std::none_of(found->begin(), found->end(), is_it)) found->push_back(client);
    }
  }
  if (recording_) recording_->take(gpu, found);
  return found;
}

}  // namespace corun::live
