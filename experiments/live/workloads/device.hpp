#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "experiments/live/workloads/recipe.hpp"
#include "sim/error.hpp"

/// Where a workload runs. Free of CUDA, so that everything around the kernels is tested without it.
namespace corun::live {

/// The GPU had no memory left. The text begins with "CUDA error: out of memory", by which the live mode
/// (and people) know such an end.
class DeviceOutOfMemory : public DeviceError {
 public:
  using DeviceError::DeviceError;
};

/// Who multiplies matrices. NVIDIA's library is quicker; our kernel is there on every box.
enum class Gemm : std::uint8_t { kAuto, kCublas, kOwn };

class WorkloadDevice {
 public:
  virtual ~WorkloadDevice() = default;
  WorkloadDevice() = default;
  WorkloadDevice(const WorkloadDevice&) = delete;
  WorkloadDevice& operator=(const WorkloadDevice&) = delete;

  virtual std::string name() const = 0;  ///< "Tesla V100-SXM2-16GB"
  virtual std::string gemm() const = 0;  ///< "cublas", "own", or "none" where there is no product
  /// The part of one step that needs the GPU, small kernels with their host work included; comes back
  /// when the GPU has done it. DeviceError when it failed.
  virtual void step() = 0;
  /// A sum over some of the results, which depends on recipe, seed, steps and gemm() alone. Not finite:
  /// the GPU computes nonsense.
  virtual double checksum() = 0;
};

/// The first GPU that this process may see (CUDA_VISIBLE_DEVICES), with the memory of the recipe taken
/// and filled. DeviceOutOfMemory, or DeviceError where there is no GPU, no CUDA in this build, or no
/// cuBLAS although asked for.
std::unique_ptr<WorkloadDevice> open_gpu(const Recipe& recipe, std::uint64_t seed, Gemm gemm);

}  // namespace corun::live
