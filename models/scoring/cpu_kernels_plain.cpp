#define CORUN_KERNELS kPlainKernels
#define CORUN_KERNELS_NAME "plain"
#include "models/scoring/cpu_kernels.inl"
