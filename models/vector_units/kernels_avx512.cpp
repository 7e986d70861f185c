// Eight doubles at once. Compiled with -mavx512f -mavx512bw -mavx512dq -mavx512vl -mprefer-vector-width=512.
#define CORUN_SET avx512
#include "models/vector_units/kernels.inl"
