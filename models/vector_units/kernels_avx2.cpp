// Four doubles in a register, with fma. CMakeLists.txt has the flags.
#define CORUN_SET avx2
#include "models/vector_units/kernels.inl"
