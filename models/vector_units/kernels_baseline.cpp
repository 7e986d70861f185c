// The compiler's default for the processor family: two doubles in a register on x86-64.
#define CORUN_SET baseline
#include "models/vector_units/kernels.inl"
