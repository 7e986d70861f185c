#pragma once

#include <string>

/// Public specifications of a GPU type.
namespace corun::inline sim {

/// Figures that are not known are 0.
struct GpuSpec {
  std::string name;
  std::string architecture;
  int sms = 0;
  int cuda_cores = 0;
  int tensor_cores = 0;
  int threads_per_sm = 0;  ///< that can be resident at a time
  double memory_mib = 0;
  double bandwidth_gbs = 0;  ///< of the device memory [GB/s]
  double memory_clock_mhz = 0;
  double boost_mhz = 0;
  double fp32_tflops = 0;
  double l2_mib = 0;
};

}  // namespace corun::inline sim
