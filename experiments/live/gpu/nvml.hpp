#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <sys/types.h>

/// What NVIDIA's management library says of the GPUs of this machine. The library is loaded when an Nvml is
/// made, so that the program builds and starts where there is none; the prototypes are ours, of entry points
/// that exist from CUDA 11 to 13. What a GPU or a driver does not tell is empty.
namespace corun::live {

class NvmlRecording;
struct NvmlLibrary;

struct GpuProcess {
  pid_t pid = 0;
  std::optional<double> memory_mib;  ///< of this GPU
};

/// What does not change while the driver runs.
struct GpuFacts {
  int index = 0;          ///< as NVML counts, which is by PCI bus
  std::string name;       ///< "Tesla V100-SXM2-16GB"
  std::string uuid;       ///< what CUDA_VISIBLE_DEVICES is set to
  double memory_mib = 0;  ///< of the device
  std::optional<bool> mig;
  enum class ComputeMode : std::uint8_t { kDefault, kExclusive, kProhibited };
  std::optional<ComputeMode> mode;
};
/// "default", "exclusive", "prohibited".
std::string_view name_of(GpuFacts::ComputeMode mode);

/// What a GPU shows now. Percentages are over the driver's last sampling period (1/6 s to 1 s).
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

  /// DeviceError, one line, where the library, the driver or a GPU is missing. What it says from now on is
  /// recorded in `record`, if that is not empty (nvml_recording.hpp; InputError where it cannot be written).
  explicit Nvml(const std::string& library = kLibrary, const std::string& record = "");
  ~Nvml();
  Nvml(const Nvml&) = delete;
  Nvml& operator=(const Nvml&) = delete;

  const std::string& driver_version() const { return driver_; }
  /// "12.4", the newest CUDA that the driver takes; empty where it does not say.
  const std::string& cuda_version() const { return cuda_; }
  const std::vector<GpuFacts>& gpus() const { return gpus_; }

  /// DeviceError where the GPU does not answer any more. `gpu` is a position in gpus().
  GpuReading read(std::size_t gpu) const;
  /// Processes with a compute context on it, clients of MPS among them; as the driver numbers them, which
  /// inside a container may be other numbers than one's own. Nothing where it does not tell.
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
