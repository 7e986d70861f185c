#define CORUN_KERNELS kPlainKernels
#define CORUN_KERNELS_NAME "plain"
#include "models/vector_units/cpu_kernels.inl"
