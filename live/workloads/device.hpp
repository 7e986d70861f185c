#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "live/workloads/recipe.hpp"
#include "sim/error.hpp"

/// The device that runs a workload. Free of CUDA, so that tests of all but the kernels do without it.
namespace corun::live {

/// The GPU had no memory left. The text begins with "CUDA error: out of memory", by which live mode
/// recognises such an end.
class DeviceOutOfMemory : public DeviceError {
 public:
  using DeviceError::DeviceError;
};

/// Implementation of matrix products. cuBLAS is faster; corun's kernel (kOwn) runs on every GPU. kAuto:
/// cuBLAS if it can be loaded.
enum class Gemm : std::uint8_t { kAuto, kCublas, kOwn };

class WorkloadDevice {
 public:
  virtual ~WorkloadDevice() = default;
  WorkloadDevice() = default;
  WorkloadDevice(const WorkloadDevice&) = delete;
  WorkloadDevice& operator=(const WorkloadDevice&) = delete;

  virtual std::string name() const = 0;  ///< "Tesla V100-SXM2-16GB"
  virtual std::string gemm() const = 0;  ///< "cublas", "own"; "none": no products
  /// The part of one step that needs the GPU, with the host work between small kernels; returns when the GPU
  /// is done. Throws DeviceError if it fails.
  virtual void step() = 0;
  /// A sum over some of the results, which depends only on recipe, seed, steps and gemm(). If it is not
  /// finite, the GPU's results are wrong.
  virtual double checksum() = 0;
};

/// The first visible GPU (CUDA_VISIBLE_DEVICES), with the recipe's memory allocated and filled. Throws
/// DeviceOutOfMemory; DeviceError if there is no GPU, no CUDA in this build, or no cuBLAS for kCublas.
std::unique_ptr<WorkloadDevice> open_gpu(const Recipe& recipe, std::uint64_t seed, Gemm gemm);

}  // namespace corun::live
