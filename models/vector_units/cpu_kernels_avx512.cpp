#define CORUN_KERNELS kAvx512Kernels
#define CORUN_KERNELS_NAME "avx512"
#include "models/vector_units/cpu_kernels.inl"
