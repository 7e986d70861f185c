#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <sys/types.h>

/// The GPUs of this machine as NVIDIA's management library (NVML) reports them. The library is loaded when
/// an Nvml is constructed, so that the program builds and starts without it. Its entry points exist from
/// CUDA 11 to 13; corun declares them itself. A value that a GPU or driver does not report is empty.
namespace corun::live {

class NvmlRecording;
struct NvmlLibrary;

struct GpuProcess {
  pid_t pid = 0;
  std::optional<double> memory_mib;  ///< on this GPU
};

/// Properties that do not change while the driver runs.
struct GpuFacts {
  int index = 0;          ///< NVML's number, in order of PCI bus
  std::string name;       ///< "Tesla V100-SXM2-16GB"
  std::string uuid;       ///< value for CUDA_VISIBLE_DEVICES
  double memory_mib = 0;  ///< of the device
  std::optional<bool> mig;
  enum class ComputeMode : std::uint8_t { kDefault, kExclusive, kProhibited };
  std::optional<ComputeMode> mode;
};
/// "default", "exclusive", "prohibited".
std::string_view name_of(GpuFacts::ComputeMode mode);

/// The present state of a GPU. Percentages are over the driver's last sampling period (1/6 s to 1 s).
struct GpuReading {
  double memory_used_mib = 0;
  std::optional<double> util_pct;      ///< share of time in which a kernel ran
  std::optional<double> mem_time_pct;  ///< share of time in which device memory was read or written
  std::optional<double> temperature_c;
  std::optional<double> power_w;
  std::optional<double> power_limit_w;
  std::optional<double> sm_clock_mhz;
  std::optional<double> memory_clock_mhz;
};

class Nvml {
 public:
  static constexpr const char* kLibrary = "libnvidia-ml.so.1";

  /// Throws DeviceError if the library, the driver or a GPU is missing. All later answers are recorded in
  /// the file `record` (nvml_recording.hpp) unless it is empty; InputError if it cannot be written.
  explicit Nvml(const std::string& library = kLibrary, const std::string& record = "");
  ~Nvml();
  Nvml(const Nvml&) = delete;
  Nvml& operator=(const Nvml&) = delete;

  const std::string& driver_version() const { return driver_; }
  /// "12.4", the newest CUDA that the driver supports; empty: not reported.
  const std::string& cuda_version() const { return cuda_; }
  const std::vector<GpuFacts>& gpus() const { return gpus_; }

  /// `gpu` is a position in gpus(). Throws DeviceError if the GPU does not answer.
  GpuReading read(std::size_t gpu) const;
  /// Processes with a compute context on the GPU, including clients of MPS. Process numbers are the driver's,
  /// which may differ from those inside a container. nullopt: not reported.
  std::optional<std::vector<GpuProcess>> processes(std::size_t gpu) const;

 private:
  std::unique_ptr<NvmlLibrary> library_;
  std::unique_ptr<NvmlRecording> recording_;
  std::vector<void*> handles_;
  std::string driver_;
  std::string cuda_;
  std::vector<GpuFacts> gpus_;
};

}  // namespace corun::live
