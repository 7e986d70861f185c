// Eight doubles in a register, with fma. CMakeLists.txt has the flags.
#define CORUN_SET avx512
#include "models/vector_units/kernels.inl"
