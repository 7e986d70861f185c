#define CORUN_KERNELS kAvx512Kernels
#define CORUN_KERNELS_NAME "avx512"
#include "models/scoring/cpu_kernels.inl"
