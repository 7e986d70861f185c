#include "models/vector_units/kernels.hpp"

#include <vector>

namespace corun::inline models {

namespace baseline {
extern const Kernels kernels;
}
#if defined(CORUN_HAVE_X86_KERNELS)
namespace avx2 {
extern const Kernels kernels;
}
namespace avx512 {
extern const Kernels kernels;
}
#endif

std::span<const Kernels* const> usable_kernels() {
  static const std::vector<const Kernels*> usable = [] {
    std::vector<const Kernels*> out{&baseline::kernels};
#if defined(CORUN_HAVE_X86_KERNELS)
    const bool has_avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
    if (has_avx2) out.push_back(&avx2::kernels);
    if (has_avx2 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
        __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl")) {
      out.push_back(&avx512::kernels);
    }
#endif
    return out;
  }();
  return usable;
}

const Kernels& best_kernels() { return *usable_kernels().back(); }

}  // namespace corun::inline models
