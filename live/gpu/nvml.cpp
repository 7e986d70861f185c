#include "live/gpu/nvml.hpp"

#include <algorithm>
#include <array>
#include <memory>

#include "live/gpu/nvml_library.hpp"
#include "live/gpu/nvml_recording.hpp"
#include "sim/error.hpp"

namespace corun::live {

namespace {

using Result = NvmlLibrary::Result;
constexpr Result kSuccess = NvmlLibrary::kSuccess;

/// The number that a call returns; nullopt if the library lacks the call or the call fails.
template <typename F, typename... A>
std::optional<double> number(F* function, A... arguments) {
  unsigned value = 0;
  if (function == nullptr || function(arguments..., &value) != NvmlLibrary::kSuccess)
    return std::nullopt;
  return static_cast<double>(value);
}

std::optional<double> milliwatts(const std::optional<double>& value) {
  return value ? std::optional(*value / 1000) : std::nullopt;
}

/// The text that a call returns; empty if the library lacks the call or the call fails.
template <typename F, typename... A>
std::string text_of(F* function, A... arguments) {
  std::array<char, 128> text{};
  const bool told = function != nullptr && function(arguments..., text.data(),
                                                    static_cast<unsigned>(text.size())) == kSuccess;
  return told ? text.data() : "";
}

/// "12.4"; empty: not reported.
std::string cuda_version_of(const NvmlLibrary& library) {
  int cuda = 0;
  if (library.cuda_version == nullptr || library.cuda_version(&cuda) != kSuccess) return "";
  return std::to_string(cuda / 1000) + "." + std::to_string(cuda % 1000 / 10);
}

unsigned count_gpus(const NvmlLibrary& library) {
  unsigned count = 0;
  if (const Result result = library.count(&count); result != kSuccess) {
    throw DeviceError("the GPUs cannot be counted: " + library.why(result));
  }
  if (count == 0) throw DeviceError("there is an NVIDIA driver here, but no GPU");
  return count;
}

NvmlLibrary::Device open_gpu(const NvmlLibrary& library, unsigned index) {
  NvmlLibrary::Device device = nullptr;
  if (const Result result = library.handle(index, &device); result != kSuccess) {
    throw DeviceError("GPU " + std::to_string(index) + " cannot be opened: " + library.why(result));
  }
  return device;
}

GpuFacts facts_of(const NvmlLibrary& library, unsigned index, NvmlLibrary::Device device) {
  GpuFacts facts;
  facts.index = static_cast<int>(index);
  facts.name = text_of(library.name, device);
  facts.uuid = text_of(library.uuid, device);
  if (facts.uuid.empty()) {  // CUDA_VISIBLE_DEVICES needs it
    throw DeviceError("GPU " + std::to_string(index) +
                      " does not report its UUID; update the driver");
  }
  NvmlLibrary::Memory memory;
  if (const Result result = library.memory(device, &memory); result != kSuccess) {
    throw DeviceError("GPU " + std::to_string(index) +
                      " does not report its memory: " + library.why(result));
  }
  facts.memory_mib = static_cast<double>(memory.total) / kBytesPerMib;
  unsigned mig = 0;
  unsigned pending = 0;
  if (library.mig_mode != nullptr && library.mig_mode(device, &mig, &pending) == kSuccess) {
    facts.mig = mig != 0;
  }
  if (const auto mode = number(library.compute_mode, device)) {
    facts.mode = *mode == 0   ? GpuFacts::ComputeMode::kDefault
                 : *mode == 2 ? GpuFacts::ComputeMode::kProhibited
                              : GpuFacts::ComputeMode::kExclusive;
  }
  return facts;
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

Nvml::Nvml(const std::string& library, const std::string& record)
    : library_(std::make_unique<NvmlLibrary>(library)),
      driver_(text_of(library_->driver_version)),
      cuda_(cuda_version_of(*library_)) {
  const unsigned count = count_gpus(*library_);
  for (unsigned i = 0; i < count; ++i) {
    handles_.push_back(open_gpu(*library_, i));
    gpus_.push_back(facts_of(*library_, i, handles_.back()));
  }
  if (!record.empty()) {
    recording_ = std::make_unique<NvmlRecording>(record, driver_, cuda_, gpus_);
  }
}

Nvml::~Nvml() = default;

GpuReading Nvml::read(std::size_t gpu) const {
  const NvmlLibrary::Device device = handles_[gpu];
  NvmlLibrary::Memory memory;
  if (const Result result = library_->memory(device, &memory); result != kSuccess) {
    if (recording_) recording_->take_failure(gpu, result, library_->why(result));
    throw DeviceError("GPU " + std::to_string(gpu) + " (" + gpus_[gpu].name +
                      ") does not answer any more: " + library_->why(result));
  }
  GpuReading reading;
  reading.memory_used_mib = static_cast<double>(memory.used) / kBytesPerMib;
  NvmlLibrary::Utilization used;
  if (library_->utilization != nullptr && library_->utilization(device, &used) == kSuccess) {
    reading.util_pct = used.gpu;
    reading.mem_time_pct = used.memory;
  }
  reading.temperature_c = number(library_->temperature, device, NvmlLibrary::kTemperatureGpu);
  reading.power_w = milliwatts(number(library_->power, device));
  reading.power_limit_w = milliwatts(number(library_->power_limit, device));
  reading.sm_clock_mhz = number(library_->clock, device, NvmlLibrary::kClockSm);
  reading.memory_clock_mhz = number(library_->clock, device, NvmlLibrary::kClockMemory);
  if (recording_) recording_->take(gpu, reading);
  return reading;
}

std::optional<std::vector<GpuProcess>> Nvml::processes(std::size_t gpu) const {
  auto found = list_processes(library_->compute_processes, handles_[gpu]);
  const auto clients = list_processes(library_->mps_processes, handles_[gpu]);
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
