// What the vector units are compared with: the same source, one number at a time, the compiler told not to vectorise.
// With the instruction for fma: without it each is a call of the library, and comparisons would be of that.
#define CORUN_SET scalar
#define CORUN_ONE_AT_A_TIME
#include "models/vector_units/kernels.inl"
