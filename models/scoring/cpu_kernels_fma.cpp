#define CORUN_KERNELS kFmaKernels
#define CORUN_KERNELS_NAME "fma"
#include "models/scoring/cpu_kernels.inl"
