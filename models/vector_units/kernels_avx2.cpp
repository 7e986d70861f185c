// Four doubles at once, with fma. Compiled with -mavx2 -mfma.
#define CORUN_SET avx2
#include "models/vector_units/kernels.inl"
