#include "models/device.hpp"

#include "sim/error.hpp"

#ifdef CORUN_HAVE_CUDA
#include <cuda_runtime_api.h>
#endif

namespace corun {

DeviceReport probe_devices() {
  DeviceReport report;
#ifdef CORUN_HAVE_CUDA
  int count = 0;
  const cudaError_t status = cudaGetDeviceCount(&count);
  if (status != cudaSuccess) {
    report.reason = cudaGetErrorString(status);
    return report;
  }
  report.cuda_devices = count;
  cudaDeviceProp properties{};
  if (count > 0 && cudaGetDeviceProperties(&properties, 0) == cudaSuccess) {
    report.reason = properties.name;
  }
#else
  report.reason = "built without the CUDA toolkit";
#endif
  return report;
}

std::string choose_device(std::string_view wanted) {
  if (wanted == "auto" || wanted == "cpu") return "cpu";
  if (wanted != "cuda") {
    throw InputError("--device", "found '" + std::string(wanted) + "', expected auto, cpu or cuda");
  }
  const DeviceReport report = probe_devices();
  if (report.cuda_devices == 0) {
    throw DeviceError("--device cuda: no usable GPU (" + report.reason +
                      "); use --device cpu or auto");
  }
  throw DeviceError("--device cuda: " + report.reason +
                    " is here, but no model of this version runs on a GPU; use --device cpu");
}

}  // namespace corun
