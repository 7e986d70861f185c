#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>

#include "models/scoring/gpu_scorer.hpp"
#include "sim/error.hpp"

/// Where numbers are crunched: `--device auto | cpu | cuda`. Results never depend on it.
namespace corun {

struct DeviceReport {
  int cuda_devices = 0;  ///< usable ones
  std::string reason;    ///< why there is none, or the first one's name
};

/// Asks the CUDA runtime, and runs a first kernel: a driver that is too old, or a GPU that this build
/// has no code for, shows there. Any error means: no usable GPU, with the runtime's own words.
DeviceReport probe_devices(const GpuScorer* gpu = cuda_scorer());

enum class DeviceWish { kAuto, kCpu, kCuda };

/// The device of a run. Shared by all that compute for it, from any thread.
class Device {
 public:
  /// `wanted`: auto, cpu or cuda. InputError for another word; DeviceError where cuda is wanted and no
  /// GPU is usable, with the reason. `gpu`: nullptr where the build has none.
  Device(std::string_view wanted, const GpuScorer* gpu);

  DeviceWish wish() const { return wish_; }
  /// nullptr: the processor it is.
  const GpuScorer* gpu() const { return lost_ ? nullptr : gpu_; }
  const std::string& gpu_name() const { return gpu_name_; }
  /// What a batch on the GPU takes however small it is: measured once, by a batch of a few jobs. The
  /// processor does smaller ones meanwhile. [s]
  double batch_overhead_s() const;
  /// A batch could not be done on the GPU. Where cuda was asked for the error is thrown again; else the
  /// processor takes over, from now on.
  void failed(const DeviceError& error);

  /// For the record: "cpu", or the GPU's name, and why.
  std::string record() const;
  /// One sentence for stderr on what was chosen; empty where nothing had to be chosen.
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

/// The device of a run on this machine.
std::shared_ptr<Device> choose_device(std::string_view wanted);

}  // namespace corun
