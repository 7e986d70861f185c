// Included by one translation unit for each instruction set, which names the table to fill:
// CORUN_KERNELS, CORUN_KERNELS_NAME. Nothing here has a name that other units see, and no function of
// the standard library is called: a copy made for a wide unit must never stand in for another.

#include <cstddef>
#include <cstdint>

#if defined(__AVX2__)
#include <immintrin.h>
#endif

#include "models/vector_units/cpu_kernels.hpp"

#define CORUN_INLINE inline __attribute__((always_inline))

#include "models/vector_units/cpu_gp_kernels.inl"
#include "models/vector_units/cpu_trees_kernels.inl"

namespace corun {

extern const CpuKernels CORUN_KERNELS;
const CpuKernels CORUN_KERNELS{CORUN_KERNELS_NAME, Pack::kSize, gp_describe, gp_prepare,
                               gp_slowness,        gp_speeds,   trees_sums};

}  // namespace corun
