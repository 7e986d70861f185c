#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>

#include "models/scoring/gpu_scorer.hpp"
#include "sim/error.hpp"

/// The device that scores pairs: `--device auto | cpu | cuda`. Results do not depend on it.
namespace corun::inline models {

struct DeviceReport {
  int cuda_devices = 0;  ///< 1 if a GPU is usable, else 0
  std::string reason;    ///< the name of the GPU, or why none is usable
};

/// Asks the CUDA runtime and runs a kernel, which fails if the driver is too old or this build has no code
/// for the GPU. Any error means that no GPU is usable; `reason` is then the runtime's message. `gpu`: nullptr
/// if the build has no GPU code.
DeviceReport probe_devices(const GpuScorer* gpu = cuda_scorer());

enum class DeviceWish { kAuto, kCpu, kCuda };

/// The device of a run. Any thread may use it.
class Device {
 public:
  /// `wanted`: auto, cpu or cuda; InputError for another word. DeviceError with the reason if cuda is wanted
  /// and no GPU is usable. `gpu`: nullptr if the build has no GPU code.
  Device(std::string_view wanted, const GpuScorer* gpu);

  DeviceWish wish() const { return wish_; }
  /// nullptr: use the processor.
  const GpuScorer* gpu() const { return lost_ ? nullptr : gpu_; }
  const std::string& gpu_name() const { return gpu_name_; }
  /// Time [s] that even a small batch takes on the GPU, measured once with a few jobs. A batch that takes the
  /// processor less time is left to the processor. Call it only if there is a GPU.
  double batch_overhead_s() const;
  /// Reports that the GPU failed in a batch. Throws DeviceError if cuda was wanted; else gpu() is nullptr
  /// from now on, and the processor takes over.
  void failed(const DeviceError& error);

  /// The device for the records of a run: "cpu", or the GPU's name, with the reason of a change.
  std::string record() const;
  /// One sentence for stderr about the choice; empty if there was none.
  std::string note() const;

 private:
  DeviceWish wish_;
  const GpuScorer* gpu_ = nullptr;
  std::string gpu_name_;
  std::string reason_;  ///< why there is no GPU
  std::atomic<bool> lost_{false};
  mutable std::once_flag measured_;
  mutable double overhead_s_ = 0;
  mutable std::mutex guard_;
  std::string lost_why_;
};

/// The device of a run on this machine; throws as Device().
std::shared_ptr<Device> choose_device(std::string_view wanted);

}  // namespace corun::inline models
