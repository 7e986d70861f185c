#include "live/workloads/device.hpp"

/// Takes the place of gpu_device.cu in a build without the CUDA toolkit.
namespace corun::live {

std::unique_ptr<WorkloadDevice> open_gpu(const Recipe&, std::uint64_t, Gemm) {
  throw DeviceError(
      "corun live workload: no usable GPU (built without the CUDA toolkit); install it and build "
      "again, or give live mode commands of your own");
}

}  // namespace corun::live
