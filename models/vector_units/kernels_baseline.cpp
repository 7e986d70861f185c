// Whatever the compiler takes for this processor's family: two doubles at once on x86-64.
#define CORUN_SET baseline
#include "models/vector_units/kernels.inl"
