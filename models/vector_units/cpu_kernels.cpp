#include "models/vector_units/cpu_kernels.hpp"

#include <vector>

namespace corun {

#if defined(__x86_64__)
extern const CpuKernels kAvx512Kernels;
extern const CpuKernels kAvx2Kernels;
extern const CpuKernels kFmaKernels;
#endif
extern const CpuKernels kPlainKernels;

std::span<const CpuKernels> cpu_kernels() {
  static const std::vector<CpuKernels> usable = [] {
    std::vector<CpuKernels> out;
#if defined(__x86_64__)
    const bool fma = __builtin_cpu_supports("fma");
    const bool avx2 = fma && __builtin_cpu_supports("avx2");
    if (avx2 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
        __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl")) {
      out.push_back(kAvx512Kernels);
    }
    if (avx2) out.push_back(kAvx2Kernels);
    if (fma) out.push_back(kFmaKernels);
#endif
    out.push_back(kPlainKernels);
    return out;
  }();
  return usable;
}

}  // namespace corun
