#define CORUN_KERNELS kAvx2Kernels
#define CORUN_KERNELS_NAME "avx2"
#include "models/scoring/cpu_kernels.inl"
