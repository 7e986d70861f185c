#define CORUN_KERNELS kAvx2Kernels
#define CORUN_KERNELS_NAME "avx2"
#include "models/vector_units/cpu_kernels.inl"
