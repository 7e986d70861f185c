#define CORUN_ONE_AT_A_TIME
#define CORUN_KERNELS kFmaKernels
#define CORUN_KERNELS_NAME "fma"
#include "models/vector_units/cpu_kernels.inl"
